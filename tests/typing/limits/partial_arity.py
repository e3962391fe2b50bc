"""A `functools.partial` of a function that takes nothing fits any callable.

typeshed gives `partial.__call__` the parameters ``*args: Any``; pyright and ty look at the
function inside.
"""

from collections.abc import Callable
from functools import partial


def without_parameters() -> int:
    return 0


def wants_one(function: Callable[[str], int]) -> None: ...


wants_one(partial(without_parameters))  # red: pyright, ty
