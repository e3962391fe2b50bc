"""What the matrix came to: two tables, and the figures side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from tests.matrix import ours, upstream
from tests.matrix.promises import promise

__all__ = ["Figures", "expected", "figures", "figures_table", "ours_table", "upstream_table"]

Upstream: TypeAlias = Mapping[upstream.Cell, upstream.Outcome]
Ours: TypeAlias = Mapping[ours.Cell, ours.Outcome]

_WAYS = [scopes for scopes in upstream.SCOPES if len(scopes) == 1]


@attrs.frozen(kw_only=True)
class Figures:
    """The figures of one side.

    Attributes:
        tried: Registrations that were tried.
        accepted: Those that were accepted, and whose requests were served.
        per_principal: Those of them that say that callers differ, and are kept apart.
        leaking: Those of them where a principal's text reached another's model call.
        hidden: Others that are per principal, and share what `Subject.hidden` says.
        hidden_leaking: Those of them that leak.
    """

    tried: int
    accepted: int
    per_principal: int
    leaking: int
    hidden: int = 0
    hidden_leaking: int = 0


def figures(outcomes: Upstream | Ours) -> Figures:
    """Count."""
    accepted = per_principal = leaking = hidden = hidden_leaking = 0
    for cell, outcome in outcomes.items():
        if isinstance(cell, upstream.Cell):
            served, apart, excepted = outcome.played is not None, cell.per_principal, False
        else:
            assert isinstance(outcome, ours.Outcome)
            served, apart, excepted = outcome.served, cell.mode.per_principal, cell.hidden
        accepted += served
        hidden += served and excepted
        hidden_leaking += served and excepted and outcome.leaks
        per_principal += served and apart and not excepted
        # What was refused to one principal may have leaked to another all the same.
        leaking += apart and not excepted and outcome.leaks
    return Figures(
        tried=len(outcomes),
        accepted=accepted,
        per_principal=per_principal,
        leaking=leaking,
        hidden=hidden,
        hidden_leaking=hidden_leaking,
    )


def expected() -> tuple[Figures, Figures]:
    """Return the figures to which what is known and what is promised comes, without a run."""
    theirs = upstream.CELLS
    served = [cell for cell in ours.CELLS if promise(cell).served]
    apart = [cell for cell in served if cell.mode.per_principal]
    hidden = sum(cell.hidden for cell in apart)
    return Figures(
        tried=len(theirs),
        accepted=sum(cell.accepted for cell in theirs),
        per_principal=sum(cell.per_principal for cell in theirs),
        leaking=sum(cell.leaks for cell in theirs),
    ), Figures(
        tried=len(ours.CELLS),
        accepted=len(served),
        per_principal=len(apart) - hidden,
        leaking=0,
        hidden=hidden,
        hidden_leaking=hidden,
    )


def figures_table(theirs: Figures, own: Figures) -> Iterator[str]:
    """Yield the lines of the small table, as Markdown."""
    yield "| registrations | the framework's own helper | `AGUIEndpointBuilder` |"
    yield "|---|---:|---:|"
    yield f"| tried | {theirs.tried} | {own.tried} |"
    yield f"| accepted and served | {theirs.accepted} | {own.accepted} |"
    yield f"| of these, per principal | {theirs.per_principal} | {own.per_principal} |"
    yield (
        "| of these, one principal's text reached another's model call "
        f"| **{theirs.leaking}** | **{own.leaking}** |"
    )
    yield (
        "| besides, per principal around a provider that remembers or one id for all: leaking "
        f"| not tried | {own.hidden_leaking} of {own.hidden} |"
    )


def upstream_table(outcomes: Upstream) -> Iterator[str]:
    """Yield a line for each shape: what its registrations came to, for each kind of scope."""
    rows: list[Sequence[str]] = [("target", *(scopes[0] for scopes in _WAYS), "other scopes")]
    for shape in upstream.SHAPES:
        told: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for cell, outcome in outcomes.items():
            if cell.shape == shape:
                way = cell.scopes if cell.scopes in _WAYS else ()
                told[way].append(_told_of_theirs(cell, outcome))
        rows.append((shape, *(_counted(told[way]) for way in [*_WAYS, ()])))
    yield from _aligned(rows)


def ours_table(outcomes: Ours) -> Iterator[str]:
    """Yield a line for each subject and mode: how many were served, and the refusals' codes."""
    told: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cell, outcome in outcomes.items():
        told[cell.subject, cell.mode.value].append(_told_of_ours(cell, outcome))
    rows: list[Sequence[str]] = [("target", "mode", "registrations")]
    rows += [(subject, mode, _counted(words)) for (subject, mode), words in told.items()]
    yield from _aligned(rows)


def _told_of_theirs(cell: upstream.Cell, outcome: upstream.Outcome) -> str:
    played = outcome.played
    if played is None:
        return "refused"
    crossing = ["XP"] if cell.per_principal and outcome.leaks else []
    crossing += ["XT"] if played.between_threads else []
    return "+".join(crossing) or "ok"


def _told_of_ours(cell: ours.Cell, outcome: ours.Outcome) -> str:
    if outcome.refused is not None:
        return outcome.refused
    leaking = cell.mode.per_principal and outcome.leaks
    if not outcome.served:
        return ", ".join(sorted(outcome.codes)) + (" LEAK" if leaking else " when built")
    if leaking:
        return "excepted" if cell.hidden else "LEAK"
    if cell.mode.per_principal:
        return "isolated"
    return "shared" if cell.mode.shared else "one principal"


def _counted(words: Iterable[str]) -> str:
    return ", ".join(f"{times} {word}" for word, times in Counter(words).most_common())


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
