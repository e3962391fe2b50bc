"""The contract's table, for the documentation: the data that the checks look up.

``python -m tests.docs.contract`` writes ``docs/_generated/contract_table.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scoped_registration.errors import ReasonCode
from scoped_registration.integrations.agent_framework.contract import CONTRACT, Kind, Row

FILE = Path(__file__).parents[2] / "docs" / "_generated" / "contract_table.md"
COLUMNS = {
    "`SingleUser`": "single_user",
    "factory for `SingleUser.per_thread`": "per_thread",
    "`ScopedFactory` of the object itself": "given",
    "factory for `ScopedFactory`": "scoped",
    "`per_run`": "per_run",
    "`PersistentShared`": "shared",
}


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| target | {' | '.join(COLUMNS)} |"
    yield f"|---|{'---|' * len(COLUMNS)}"
    for kind in Kind:
        row = CONTRACT[kind]
        yield f"| {kind.value} | {' | '.join(_cell(row, name) for name in COLUMNS.values())} |"


def _cell(row: Row, column: str) -> str:
    code: ReasonCode | None = getattr(row, column)
    return "accepted" if code is None else f"[`{code}`](errors.md#{code})"


def main() -> None:
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("\n".join(table()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
