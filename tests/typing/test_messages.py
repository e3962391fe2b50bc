"""What mypy and pyright say about R2 to R9: at the argument at fault, and naming it.

The mistakes stand in ``messages/``, written over several lines. ``# at NAME`` marks the place
for both checkers, ``# at NAME (mypy)`` for one. Where the two differ, or the place is a whole
call though an argument is at fault, the reason stands in `tests.typing.limits.MESSAGES`; R6
alone has two arguments that are wrong together, and each checker names one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.typing.checkers import CHECKERS, HERE, Diagnostic
from tests.typing.corpus import FOLDER, copy

_AT = re.compile(r"  # at (?P<name>[\w-]+)(?: \((?P<checker>\w+)\))?$")
_COLUMN = re.compile(r"\s*(?:\w+=)?")


@attrs.frozen
class Said:
    """A code, and a part of the text."""

    code: str
    text: str


def arg(text: str) -> Said:
    return Said("arg-type", text)


def parameter(name: str) -> Said:
    return Said("reportArgumentType", f'cannot be assigned to parameter "{name}"')


_FACTORY = arg('Argument 1 to "ScopedFactory" has incompatible type')
_SCOPE = arg('Argument "scope" to "ScopedFactory" has incompatible type "Callable[[], str | None]"')
_BOUND = Said("type-var", 'Value of type variable "S" of "ScopedFactory" cannot be "str | None"')
_NO_SCOPE = Said("call-arg", 'Missing named argument "scope" for "ScopedFactory"')
_UNKNOWN = Said("call-arg", 'Unexpected keyword argument "scope" for "SingleUser"')
_TRUE = arg('Argument "acknowledgement" to "PersistentShared" has incompatible type "bool"')
_UNKNOWN_PYRIGHT = Said("reportCallIssue", 'No parameter named "scope"')

# name: what mypy says, what pyright says
EXPECTED = {
    "R2": (arg('Argument 1 to "isolation" of "RegistrationBuilder"'), parameter("mode")),
    "R2-class": (arg('has incompatible type "type[Chat]"'), parameter("mode")),
    "R2-factory": (arg('expected "IsolationMode['), parameter("mode")),
    "R3": (_FACTORY, parameter("factory")),
    "R3-per-thread": (arg('Argument 1 to "per_thread" of "SingleUser"'), parameter("factory")),
    "R4-missing": (
        _NO_SCOPE,
        Said("reportCallIssue", 'Argument missing for parameter "scope"'),
    ),
    "R4-none": (arg('Argument "scope" to "ScopedFactory"'), parameter("scope")),
    "R5": (_SCOPE, parameter("scope")),
    "R5-async-factory": (_SCOPE, parameter("scope")),
    "R5-lambda": (_SCOPE, parameter("scope")),
    "R5-list": (arg('has incompatible type "Callable[[], list[str]]"'), parameter("scope")),
    "R5-async": (_BOUND, parameter("scope")),
    "R5-async-lambda": (_BOUND, parameter("scope")),
    "R5-owner": (arg('Argument "owner" to "SingleUser"'), parameter("owner")),
    "R5-access": (arg('Argument "access" to "PersistentShared"'), parameter("access")),
    "R6": (arg('expected "Callable[[ScopeContext[str]], Chat]"'), parameter("scope")),
    "R7-arity": (_FACTORY, parameter("factory")),
    "R7-type": (arg('has incompatible type "Callable[[str], Chat]"'), parameter("factory")),
    "R7-lambda": (_FACTORY, parameter("factory")),
    "R8": (_UNKNOWN, _UNKNOWN_PYRIGHT),
    "R9-missing": (
        Said("call-arg", 'Missing named argument "acknowledgement" for "PersistentShared"'),
        Said("reportCallIssue", 'Argument missing for parameter "acknowledgement"'),
    ),
    "R9-true": (_TRUE, parameter("acknowledgement")),
    "R9-incomplete": (
        Said("call-arg", 'Missing named argument "risks" for "Acknowledgement"'),
        Said("reportCallIssue", 'Argument missing for parameter "risks"'),
    ),
    "agui-R2": (
        Said("call-overload", 'No overload variant of "isolation" of "AGUIEndpointBuilder"'),
        Said("reportCallIssue", 'No overloads for "isolation"'),
    ),
    "agui-R3": (_FACTORY, parameter("factory")),
    "agui-R4": (_NO_SCOPE, Said("reportCallIssue", 'Argument missing for parameter "scope"')),
    "agui-R5": (_SCOPE, parameter("scope")),
    "agui-R5-lambda": (_SCOPE, parameter("scope")),
    "agui-R6": (arg('expected "Callable[[ScopeContext[int]]'), parameter("scope")),
    "agui-R7": (_FACTORY, parameter("factory")),
    "agui-R8": (_UNKNOWN, _UNKNOWN_PYRIGHT),
    "agui-R9": (_TRUE, parameter("acknowledgement")),
    "agui-R12": (arg('Argument 1 to "per_run"'), parameter("agent")),
    "agui-R12-scope": (arg('Argument "scope" to "per_run"'), parameter("scope")),
}

# On the call as well, for these: see tests.typing.limits.MESSAGES.
_ON_THE_CALL = {
    "mypy": {"R5-async", "R5-async-lambda", "R8", "agui-R2", "agui-R8"},
    "pyright": {"agui-R2"},
}


def places(checker: str) -> Iterator[tuple[str, tuple[str, int, int]]]:
    """Yield each marked place: its name, path, line and column."""
    for path in sorted((HERE / "messages").glob("*.py")):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            marked = _AT.search(text)
            if marked and marked["checker"] in (None, checker):
                column = _COLUMN.match(text)
                assert column is not None
                start = column.end() + 1
                if text.strip().startswith("scope=") and "R8" in marked["name"]:
                    start = text.index("scope") + 1  # the keyword itself is unknown
                yield marked["name"], (f"{FOLDER}/messages/{path.name}", number, start)


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_each_message_is_where_the_mistake_is(checker: str, tmp_path: Path) -> None:
    program = next(each for each in CHECKERS if each.column == checker)
    found = program.run(copy(tmp_path, "messages"))

    marked = dict(places(checker))
    assert set(marked) == set(EXPECTED)
    wrong: list[str] = []
    for name, place in marked.items():
        said = EXPECTED[name][0 if checker == "mypy" else 1]
        here = [each for each in found if (each.path, each.line, each.column) == place]
        if not any(each.code == said.code and said.text in each.text for each in here):
            wrong.append(f"{name} at {place} wants {said}, got {here}")
    assert wrong == []
    assert unexpected(checker, found) == set()


def unexpected(checker: str, found: list[Diagnostic]) -> set[tuple[str, int]]:
    """Return the lines that a checker reports and no mark names."""
    lines = {(path, line) for _, (path, line, _) in places(checker)}
    # mypy says of a bad scope what it means for the factory, too; a bad mode fits no target.
    follows = {(each.path, each.line) for each in found if each.code in ("type-var", "arg-type")}
    if checker == "pyright":
        # Its second message about a call that no overload fits is on the argument.
        follows = {
            (path, line + 1) for name, (path, line, _) in places(checker) if name == "agui-R2"
        }
    return {(each.path, each.line) for each in found} - lines - follows


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_only_listed_messages_sit_on_the_call(checker: str) -> None:
    text = {
        f"{FOLDER}/messages/{path.name}": path.read_text().splitlines()
        for path in (HERE / "messages").glob("*.py")
    }
    calls = {
        name
        for name, (path, line, _) in places(checker)
        if text[path][line - 1].split("  # at")[0].endswith("(")
        and not EXPECTED[name][0].text.startswith("Missing named argument")
    }
    assert calls == _ON_THE_CALL[checker]
