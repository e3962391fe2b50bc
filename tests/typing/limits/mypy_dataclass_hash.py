"""A dataclass that is not frozen has no hash, and mypy lets it pass where one is wanted.

The same class made with attrs is refused by mypy as well.
"""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass
class Mutable:
    name: str


def key(value: Hashable) -> None: ...


key(Mutable("a"))  # red: pyright, ty, pyrefly, zuban
