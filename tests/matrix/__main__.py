"""Run the matrix: the framework's own helper beside this library, registration by registration.

``python -m tests.matrix`` tries every registration on both sides and prints both tables and
the figures; it exits with 1 if one is answered otherwise than it is known or promised to be.
``--short`` tries those that the tests try. ``--write`` also writes
``docs/_generated/matrix_table.md``.
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
from tests.matrix.tables import figures, figures_table, ours_table, upstream_table

FILE = Path(__file__).parents[2] / "docs" / "_generated" / "matrix_table.md"

CellT = TypeVar("CellT")
OutcomeT = TypeVar("OutcomeT")


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 1 if something is otherwise than it should be."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix")
    parser.add_argument("--short", action="store_true", help="those that the tests try")
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    chosen = parser.parse_args(arguments)
    if chosen.short and chosen.write:
        parser.error("the figures of the short form are not those of the matrix")
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
    table = list(figures_table(figures(theirs), figures(own)))
    print("", *table, sep="\n")
    for line in wrong:
        print(f"*** {line}", file=sys.stderr)
    if write and not wrong:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text("\n".join(table) + "\n", encoding="utf-8")
    return 1 if wrong else 0


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
