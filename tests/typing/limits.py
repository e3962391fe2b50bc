"""What a checker cannot do, each with the smallest program that shows it.

The programs are in ``limits/``. A comment ``# red: mypy, ty`` names the checkers that report
an error on that line, and no others do; the test fails when that changes, and then the limit
and the corpus lines that cite it go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from tests.typing.checkers import HERE, Checker, Diagnostic

_RED = re.compile(r"# red: ([a-z, ]+)$")


@attrs.frozen
class Limit:
    """One entry of the list."""

    # Whose limit it is: names of columns.
    columns: frozenset[str]
    what: str


LIMITS = {
    "partial_arity": Limit(
        frozenset({"mypy", "pyrefly", "zuban"}),
        "`functools.partial` of a function without parameters fits any factory",
    ),
    "mypy_dataclass_hash": Limit(
        frozenset({"mypy"}), "a dataclass that is not frozen passes as a scope"
    ),
    "mypy_union_join": Limit(
        frozenset({"mypy"}),
        "a resolver that returns a union is refused: `ScopedFactory[Chat, str | UUID](...)` passes",
    ),
    "pyrefly_pydantic_class": Limit(
        frozenset({"pyrefly"}),
        "a pydantic model class as the dependency itself gives the scope the type `Any`",
    ),
}
"""Cells of the table that are impossible."""

MESSAGES = {
    "mypy_async_bound": Limit(
        frozenset({"mypy"}),
        "R5 with an async resolver is reported on the call and not on the argument",
    ),
    "mypy_unknown_keyword": Limit(
        frozenset({"mypy"}), "R8 is reported on the call; the message names the argument"
    ),
    "mypy_overload_place": Limit(
        frozenset({"mypy"}),
        "R2 on the AG-UI builder is reported on the call and not on the argument",
    ),
}
"""Places of messages that are not the argument at fault."""


def differences(checker: Checker, found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield where a checker says something else about a reproduction than is written there."""
    red = {(each.path, each.line) for each in found if each.level == "error"}
    for path in sorted((HERE / "limits").glob("*.py")):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            marked = _RED.search(text)
            expected = marked is not None and checker.column in marked[1].split(", ")
            place = f"tests/typing/limits/{path.name}"
            if expected != ((place, number) in red):
                said = "is silent" if expected else "reports an error"
                yield f"{place}:{number}: {checker.name} {said}: {text.strip()}"
