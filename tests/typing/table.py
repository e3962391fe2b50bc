"""The table of mistake and checker, for the documentation.

``python -m tests.typing.table`` writes ``docs/_generated/typing_table.md``. It takes the runs
that the tests have kept, and runs a checker only where a source has changed since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.typing import results
from tests.typing.checkers import CHECKERS, ROOT, Checker
from tests.typing.corpus import RULES, judge, read
from tests.typing.limits import LIMITS, MESSAGES, Limit

MISTAKES = {
    "R1": "no mode before building or mounting; a second mode",
    "R2": "a bare instance given to `isolation()`",
    "R3": "an instance where a factory is wanted",
    "R4": "`ScopedFactory` without `scope`, or with `None`",
    "R5": "a resolver that may return `None`, or returns no scope",
    "R6": "a resolver whose type is not the factory's",
    "R7": "a factory of the wrong arity or parameter type",
    "R8": "`SingleUser` with a scope",
    "R9": "`PersistentShared` without a whole acknowledgement",
    "R10": "an option that the mode does not have",
    "R11": "AG-UI: an instance or a builder in scoped mode, a target that cannot be served",
    "R12": "AG-UI: `per_run` of anything but a plain agent",
    "R0": "any other argument of a wrong type",
}
FILE = ROOT / "docs" / "_generated" / "typing_table.md"


def table() -> Iterator[str]:
    """Yield the lines of the page."""
    columns = [_column(checker) for checker in CHECKERS]
    yield f"| mistake | {' | '.join(checker.name for checker in CHECKERS)} |"
    yield f"|---|{'---|' * len(CHECKERS)}"
    for rule in (*RULES[1:], RULES[0]):
        label = f"**{rule}** {MISTAKES[rule]}" if rule != "R0" else MISTAKES[rule]
        yield f"| {label} | {' | '.join(column[rule] for column in columns)} |"
    yield ""
    yield "Cells that a checker's own limit makes impossible:"
    yield ""
    yield from _listed(LIMITS)
    yield ""
    yield "Messages that name the mistake in another place than its argument:"
    yield ""
    yield from _listed(MESSAGES)


def _column(checker: Checker) -> dict[str, str]:
    reported = judge(checker, results.of(checker)).reported
    cells: dict[str, str] = {}
    for rule in RULES:
        lines = [line for line in read("reject") if line.rule == rule]
        seen = [
            line.expected[checker.column]
            for line in lines
            if line.expected[checker.column] in {each.code for each in reported.get(line.place, ())}
        ]
        codes = ", ".join(f"`{code}`" for code, _ in Counter(seen).most_common())
        cells[rule] = f"{len(seen)} of {len(lines)}: {codes}"
    return cells


def _listed(limits: dict[str, Limit]) -> Iterator[str]:
    for name, limit in limits.items():
        yield f"* {', '.join(sorted(limit.columns))}: {limit.what} (`tests/typing/limits/{name}.py`)."


def main() -> None:
    """Write the file."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text("\n".join(table()) + "\n")
    print(f"wrote {FILE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
