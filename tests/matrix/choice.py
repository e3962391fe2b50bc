"""The short form: each target in each mode once, or twice where options decide."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

import attrs

from tests.matrix import ours, upstream
from tests.matrix.promises import promise

__all__ = ["ours_in_short", "upstream_in_short"]

CellT = TypeVar("CellT", bound=Hashable)


def ours_in_short() -> list[ours.Cell]:
    """Return of each (subject, mode) one registration that is served, and one that is not."""

    def kind(cell: ours.Cell) -> tuple[Hashable, ...]:
        return cell.mode, promise(cell).served, cell.subject

    return list(_in_turn(ours.CELLS, kind, lambda cell: attrs.astuple(cell.options)))


def upstream_in_short() -> list[upstream.Cell]:
    """Return of each (shape, scopes) one registration that is accepted, and one that is not."""

    def kind(cell: upstream.Cell) -> tuple[Hashable, ...]:
        return cell.scopes, cell.accepted, cell.shape

    return list(
        _in_turn(upstream.CELLS, kind, lambda cell: (cell.store, cell.checkpoint, cell.detached))
    )


def _in_turn(
    cells: Iterable[CellT],
    kind: Callable[[CellT], tuple[Hashable, ...]],
    options: Callable[[CellT], tuple[bool, ...]],
) -> Iterator[CellT]:
    """Yield one cell of each kind: that whose options its like have had least until then."""
    groups: defaultdict[tuple[Hashable, ...], list[CellT]] = defaultdict(list)
    for cell in cells:
        groups[kind(cell)].append(cell)
    seen: Counter[Hashable] = Counter()
    for (*alike, _), members in groups.items():
        values = {
            cell: [(*alike, *option) for option in enumerate(options(cell))] for cell in members
        }
        times = {cell: sum(seen[value] for value in values[cell]) for cell in members}
        chosen = min(members, key=times.__getitem__)
        seen.update(values[chosen])
        yield chosen
