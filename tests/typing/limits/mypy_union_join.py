"""mypy joins what a union gives to an optional awaitable, and falls back on the bound.

A resolver that returns ``str | UUID`` beside a factory of its own needs the type written
out: ``ScopedFactory[Chat, str | UUID](build, scope=resolver)``.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar, assert_type

S = TypeVar("S", bound=str | int | bytes)


def first(function: Callable[..., Awaitable[S] | S]) -> S:
    raise NotImplementedError


def union() -> str | int:
    raise NotImplementedError


assert_type(first(union), str | int)  # red: mypy
