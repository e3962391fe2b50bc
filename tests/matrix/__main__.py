"""Run the matrix: the framework's own helper beside this library, registration by registration.

``python -m tests.matrix`` tries every registration on both sides and prints both tables and
the figures; it exits with 1 if one is answered otherwise than it is known or promised to be.
``--short`` tries those that the tests try. ``--write`` also writes
``docs/_generated/matrix_table.md``; ``--expected`` writes it without a run, with the figures that
a run is held to.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from tests.matrix import ours, upstream
from tests.matrix.choice import ours_in_short, upstream_in_short
from tests.matrix.promises import check
from tests.matrix.tables import (
    expected,
    figures,
    figures_table,
    ours_table,
    upstream_table,
)

FILE = Path(__file__).parents[2] / "docs" / "_generated" / "matrix_table.md"

CellT = TypeVar("CellT")
OutcomeT = TypeVar("OutcomeT")


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 1 if something is otherwise than it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix")
    # One of them: the figures of the short form are not those of the matrix.
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--short", action="store_true", help="those that the tests try")
    one_of.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    one_of.add_argument("--expected", action="store_true", help="write it without a run")
    chosen = parser.parse_args(arguments)
    if chosen.expected:
        _write(figures_table(*expected()))
        return 0
    # Refusals are logged as well, and some targets are experimental: that is no news here.
    logging.getLogger().addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")
    return asyncio.run(_main(short=chosen.short, write=chosen.write))


async def _main(*, short: bool, write: bool) -> int:
    wrong: list[str] = []
    cells = upstream_in_short() if short else upstream.CELLS
    theirs = await _tried(cells, upstream.check, wrong)
    print("The framework's own helper. XP: another principal's text, XT: another thread's.\n")
    print(*upstream_table(theirs), sep="\n", flush=True)
    own = await _tried(ours_in_short() if short else ours.CELLS, check, wrong)
    print("\nThis library.\n")
    print(*ours_table(own), sep="\n")
    found = figures(theirs), figures(own)
    table = list(figures_table(*found))
    print("", *table, sep="\n")
    if not short and found != expected():
        wrong.append(f"the figures: {expected()} was expected")
    for line in wrong:
        print(f"*** {line}", file=sys.stderr)
    if write and not wrong:
        _write(table)
    return 1 if wrong else 0


def _write(lines: Iterable[str]) -> None:
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


async def _tried(
    cells: Iterable[CellT],
    check: Callable[[CellT], Awaitable[tuple[OutcomeT, list[str]]]],
    wrong: list[str],
) -> dict[CellT, OutcomeT]:
    outcomes: dict[CellT, OutcomeT] = {}
    for cell in cells:
        outcomes[cell], problems = await check(cell)
        wrong += [f"{cell}: {problem}" for problem in problems]
    return outcomes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
