"""The corpora: what a line says about itself, and what the checkers are expected to say.

A line of ``accept/`` may carry an id; no checker reports anything on it::

    SingleUser(chat)  # @single-user

A line of ``reject/`` is one mistake. It names the rule it breaks, its accept twin, which
differs only in the forbidden part, and the code that each checker reports::

    SingleUser(chat, scope=user)  # R8 @single-user | mypy: call-arg | pyright: ... | ty: ...

Rules are R1 to R12 of DESIGN, section 2; R0 is an argument of a wrong type where none of
them is broken. Where a checker cannot do its part, the line says ``limit(name)`` in place of
the code (or, in ``accept/``, after the id), and `tests.typing.limits` says why.

``python -m tests.typing.corpus`` fills in the codes of lines that have none.
"""

from __future__ import annotations

import io
import re
import shutil
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from tests.typing.checkers import CHECKERS, HERE, Checker, Diagnostic, Project

COLUMNS = tuple(dict.fromkeys(checker.column for checker in CHECKERS))
RULES = ("R0", *(f"R{number}" for number in range(1, 13)))
FOLDER = "tests/typing"
_MARK = re.compile(
    r"  # (?:(?P<rule>R\d+) )?@(?P<id>[A-Za-z0-9-]+)(?P<codes>(?: \| [a-z]+: [\w()-]+)*)$"
)
_LIMIT = re.compile(r"limit\((\w+)\)")


@attrs.frozen
class Line:
    """One marked line of a corpus."""

    path: str
    number: int
    code: str
    rule: str | None
    id: str
    # What stands behind each column's name: a code, or limit(name).
    expected: Mapping[str, str]

    @property
    def place(self) -> tuple[str, int]:
        return self.path, self.number

    def limit(self, checker: Checker) -> str | None:
        """Return the name of the limit that keeps a checker from doing its part."""
        found = _LIMIT.fullmatch(self.expected.get(checker.column, ""))
        return found and found[1]

    def subject(self) -> list[str]:
        """Return the tokens of the code, without an assert_type around it."""
        tokens = [
            token.string
            for token in tokenize.generate_tokens(io.StringIO(self.code.strip()).readline)
            if token.string.strip()
        ]
        if tokens[:2] == ["assert_type", "("]:
            depth = 0
            for index, token in enumerate(tokens):
                depth += (token in _OPEN) - (token in _CLOSE)
                if depth == 1 and token == ",":
                    return tokens[2:index]
        return tokens


_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def read(kind: str) -> list[Line]:
    """Return the marked lines of ``accept`` or ``reject``."""
    return list(_read(kind))


def _read(kind: str) -> Iterator[Line]:
    for path in sorted((HERE / kind).glob("*.py")):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if found := _MARK.search(text):
                pairs = (part.split(": ") for part in found["codes"].split(" | ")[1:])
                yield Line(
                    path=f"{FOLDER}/{kind}/{path.name}",
                    number=number,
                    code=text[: found.start()],
                    rule=found["rule"],
                    id=found["id"],
                    expected={part[0]: part[1] for part in pairs},
                )


def copy(root: Path, *kinds: str, version: str = "3.11") -> Project:
    """Put the corpora where no checkout is near, so that the installed package is checked."""
    for kind in (*kinds, "given"):
        shutil.copytree(
            HERE / kind, root / FOLDER / kind, ignore=shutil.ignore_patterns("__pycache__")
        )
    folders = tuple(f"{FOLDER}/{kind}" for kind in (*kinds, "given"))
    return Project(root, folders, version=version)


@attrs.frozen
class Outcome:
    """What one checker said, beside what it should have said."""

    # A reject line and the diagnostics that stand on it.
    reported: Mapping[tuple[str, int], Sequence[Diagnostic]]
    problems: Sequence[str]


def judge(checker: Checker, found: Sequence[Diagnostic]) -> Outcome:
    """Compare a run over both corpora with what the lines say.

    A reject line needs an error of its code; a line that is no reject line needs silence,
    and so do warnings. A limit needs the opposite: it is to be removed when it is gone.
    """
    reported: dict[tuple[str, int], list[Diagnostic]] = defaultdict(list)
    for diagnostic in found:
        if diagnostic.code not in _NOT_ABOUT_THE_LIBRARY:
            reported[diagnostic.path, diagnostic.line].append(diagnostic)
    problems: list[str] = []
    rejected = {line.place: line for line in read("reject")}
    limited = {line.place: line for line in read("accept") if line.limit(checker)}
    for place, line in rejected.items():
        codes = {each.code for each in reported[place] if each.level == "error"}
        if line.limit(checker):
            if codes:
                problems.append(f"{place[0]}:{place[1]}: caught, the limit is gone: {line.code}")
        elif line.expected.get(checker.column) not in codes:
            said = ", ".join(sorted(codes)) or "nothing"
            problems.append(
                f"{place[0]}:{place[1]}: {line.rule} wants {line.expected.get(checker.column)}, "
                f"got {said}: {line.code}"
            )
    for place, diagnostics in sorted(reported.items()):
        if place not in rejected and place not in limited:
            problems += [f"false alarm: {diagnostic}" for diagnostic in diagnostics]
    problems += [
        f"{place[0]}:{place[1]}: no false alarm any more, the limit is gone: {line.code}"
        for place, line in limited.items()
        if not reported[place]
    ]
    return Outcome(reported, problems)


# What basedpyright's preset says about the corpora as programs: calls whose result is left
# unused, factories that do not look at their context, FastAPI's Depends() as a default, and
# Any, without which agent-framework's generic agents cannot be named.
_NOT_ABOUT_THE_LIBRARY = frozenset(
    {
        "reportAny",
        "reportCallInDefaultInitializer",
        "reportExplicitAny",
        "reportUnannotatedClassAttribute",
        "reportUnusedCallResult",
        "reportUnusedParameter",
    }
)

# What follows from another error on the same line.
_CONSEQUENCES = re.compile(r"reportUnknown\w+|assert-type|misc")


def fill_in() -> None:
    """Write the codes into the reject lines that have none."""
    import tempfile

    marks: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    with tempfile.TemporaryDirectory() as root:
        project = copy(Path(root), "accept", "reject")
        for checker in CHECKERS:
            outcome = judge(checker, checker.run(project))
            for line in read("reject"):
                errors = [
                    each for each in outcome.reported.get(line.place, ()) if each.level == "error"
                ]
                codes = [each.code for each in errors if each.code]
                first = [code for code in codes if not _CONSEQUENCES.fullmatch(code)] or codes
                marks[line.place].setdefault(checker.column, first[0] if first else "MISSED")
    for path in sorted((HERE / "reject").glob("*.py")):
        lines = path.read_text().splitlines()
        for line in read("reject"):
            if line.path.endswith(f"reject/{path.name}") and not line.expected:
                for name, code in marks[line.place].items():
                    lines[line.number - 1] += f" | {name}: {code}"
        path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    fill_in()
