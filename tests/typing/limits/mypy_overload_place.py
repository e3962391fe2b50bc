"""A call that no overload fits is reported as a whole, on its first line.

pyright also reports the argument.
"""

from typing import overload


class Builder:
    @overload
    def isolation(self, mode: list[int]) -> int: ...
    @overload
    def isolation(self, mode: set[int]) -> str: ...
    def isolation(self, mode: object) -> object:
        return mode


Builder().isolation(  # red: mypy, pyright, ty, pyrefly, zuban
    1  # red: pyright
)
