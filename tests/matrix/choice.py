"""The short form: each target in each mode once, or twice where options decide."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from tests.matrix import ours, upstream
from tests.matrix.promises import promise

__all__ = ["ours_in_short", "upstream_in_short"]

CellT = TypeVar("CellT")


def ours_in_short() -> list[ours.Cell]:
    """Return of each (subject, mode) one registration that is served, and one that is not."""
    return list(_in_turn(ours.CELLS, lambda cell: (cell.subject, cell.mode, promise(cell).served)))


def upstream_in_short() -> list[upstream.Cell]:
    """Return of each (shape, scopes) one registration that is accepted, and one that is not."""
    return list(_in_turn(upstream.CELLS, lambda cell: (cell.shape, cell.scopes, cell.accepted)))


def _in_turn(cells: Iterable[CellT], group: Callable[[CellT], Hashable]) -> Iterator[CellT]:
    """Yield one cell of each group, a later one each time, so that the options take turns."""
    groups: defaultdict[Hashable, list[CellT]] = defaultdict(list)
    for cell in cells:
        groups[group(cell)].append(cell)
    for number, members in zip(itertools.count(), groups.values(), strict=False):
        yield members[number % len(members)]
