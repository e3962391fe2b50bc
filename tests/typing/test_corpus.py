"""The corpora themselves: large enough, and each mistake beside its accept twin."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tests.typing.checkers import CHECKERS, HERE
from tests.typing.corpus import COLUMNS, RULES, Line, read
from tests.typing.limits import LIMITS, MESSAGES

ACCEPT = {line.id: line for line in read("accept")}
REJECT = read("reject")
LONGEST_DIFFERENCE = 12  # tokens
# A name that does not exist is red too, and says nothing about the library.
WRONG_REASONS = frozenset(
    {"name-defined", "reportUndefinedVariable", "unresolved-reference", "unknown-name", "syntax"}
)


def _balanced(tokens: list[str]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if depth < 0:
            return False
    return depth == 0


def difference(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """Return the one contiguous part in which two lines differ, brackets closed."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    shortest = min(len(left), len(right)) - start
    while end < shortest and left[-1 - end] == right[-1 - end]:
        end += 1
    while end and not (
        _balanced(left[start : len(left) - end]) and _balanced(right[start : len(right) - end])
    ):
        end -= 1
    return left[start : len(left) - end], right[start : len(right) - end]


def test_the_corpora_are_large_enough() -> None:
    text = "".join(path.read_text() for path in (HERE / "accept").glob("*.py"))
    assert text.count("assert_type(") >= 60
    assert len(REJECT) >= 80


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_has_its_mistakes(rule: str) -> None:
    assert sum(line.rule == rule for line in REJECT) >= 5


def test_ids_are_unique() -> None:
    counted = Counter(line.id for line in read("accept"))
    assert {name for name, count in counted.items() if count > 1} == set()


def test_no_mistake_stands_twice() -> None:
    counted = Counter((line.path, line.code.strip()) for line in REJECT)
    assert {name for name, count in counted.items() if count > 1} == set()


@pytest.mark.parametrize("line", REJECT, ids=lambda line: f"{line.path}:{line.number}")
def test_a_mistake_differs_from_its_twin_only_in_the_forbidden_part(line: Line) -> None:
    mistake, twin = difference(line.subject(), ACCEPT[line.id].subject())

    assert mistake or twin, "the lines are the same"
    assert _balanced(mistake), mistake
    assert _balanced(twin), twin
    assert max(len(mistake), len(twin)) <= LONGEST_DIFFERENCE, (mistake, twin)


@pytest.mark.parametrize("line", REJECT, ids=lambda line: f"{line.path}:{line.number}")
def test_a_mistake_is_one_statement_with_a_code_for_each_checker(line: Line) -> None:
    assert len(ast.parse(line.code.strip()).body) == 1
    assert line.rule in RULES
    assert tuple(line.expected) == COLUMNS
    assert not WRONG_REASONS & set(line.expected.values())


def test_a_line_without_a_mark_is_no_mistake() -> None:
    marked = {line.place for line in REJECT}
    for path in (HERE / "reject").glob("*.py"):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if "# R" in text:
                assert (f"tests/typing/reject/{path.name}", number) in marked, text


def test_impossible_cells_are_listed_and_few() -> None:
    lines = [*ACCEPT.values(), *REJECT]
    cells = [
        (line, checker, limit)
        for line in lines
        for checker in CHECKERS
        if (limit := line.limit(checker)) is not None
    ]
    assert {limit for _, _, limit in cells} == set(LIMITS)
    assert {path.stem for path in (HERE / "limits").glob("*.py")} == set(LIMITS) | set(MESSAGES)
    for line, checker, limit in cells:
        assert checker.column in LIMITS[limit].columns
        if checker.column in ("mypy", "pyright"):
            assert line.rule in (None, "R5", "R6", "R7"), line
    assert len(cells) <= 0.02 * len(REJECT) * len(CHECKERS)


def test_every_kind_of_factory_and_resolver_is_accepted() -> None:
    kinds = [
        "function",
        "async-function",
        "asynccontextmanager",
        "contextmanager",
        "class",
        "classmethod",
        "staticmethod",
        "bound-method",
        "async-bound-method",
        "partial",
        "async-partial",
        "lambda",
        "callable-object",
        "async-callable-object",
        "cached",
    ]
    assert {f"factory-{kind}" for kind in kinds} <= set(ACCEPT)
    assert {f"per-thread-{kind}" for kind in kinds} <= set(ACCEPT)
    resolvers = [
        "resolver-function",
        "resolver-async",
        "resolver-nested",
        "resolver-object",
        "resolver-async-object",
        "resolver-partial",
        "resolver-method",
        "resolver-lambda",
        "resolver-newtype",
        "value-class-dataclass",
        "value-dataclass",
        "value-attrs-frozen",
        "value-pydantic",
        "value-pair",
        "value-union",
    ]
    assert set(resolvers) <= set(ACCEPT)
