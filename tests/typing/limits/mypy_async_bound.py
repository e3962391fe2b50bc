"""mypy reports a bound that an awaitable's result breaks on the call, not on the argument."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

S = TypeVar("S", bound=str | int)


def scope_of(*, resolver: Callable[..., Awaitable[S] | S]) -> S:
    raise NotImplementedError


async def maybe() -> str | None:
    raise NotImplementedError


scope_of(  # red: mypy
    resolver=maybe,  # red: pyright, ty, pyrefly, zuban
)
