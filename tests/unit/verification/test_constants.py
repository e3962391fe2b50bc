"""Constants that a library refers to from each of its objects are no state of a product."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from scoped_registration.runtime.comparison import Comparison
from scoped_registration.verification.constants import installed_as
from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import compare, survey
from tests.unit.verification.support import Box, found, paths

CONSTANTS = [
    "nested policies",
    "table of classes",
    "of the class",
    "object",
    "object that holds a function",
    "default",
]
STATE = [
    "empty",
    "not plain",
    "settings in small letters",
    "of the class, in small letters",
    "object that counts",
    "object that holds a list",
    "object that holds a function with a list",
    "list of objects",
    "object that a property changes",
    "default that counts",
    "default that holds a list",
    "list as default",
]


@pytest.mark.parametrize("case", CONSTANTS)
def test_a_constant_of_a_library_does_not_count_in_its_own_objects(
    library: types.ModuleType, case: str
) -> None:
    assert not found(lambda: library.held(case))
    captured: list[str] = ["a"]
    assert paths(lambda: Box(own=library.held(case), captured=captured)) == ["box.captured"]


@pytest.mark.parametrize("case", STATE)
def test_what_a_library_may_change_counts(library: types.ModuleType, case: str) -> None:
    assert paths(lambda: library.held(case)) == ["environment.by_name[0]"]


def test_a_constant_of_a_library_counts_where_the_users_object_holds_it(
    library: types.ModuleType,
) -> None:
    class Chat:
        def __init__(self) -> None:
            self.policies = library.POLICIES

    assert paths(Chat) == ["chat.policies"]


def test_an_object_that_a_user_made_of_a_librarys_class_counts(library: types.ModuleType) -> None:
    captured = library.Wait(3)  # equal to a default, and not bound by the library
    assert paths(lambda: library.Graph([captured])) == ["graph.nodes[0]"]


def test_the_applications_own_package_is_no_library_where_it_is_installed(
    library: types.ModuleType,
) -> None:
    own = Permitted(own={"sample_library"})
    first, second = (survey(library.held("object"), own) for _ in range(2))
    assert compare(first, second, hidden=())


def test_the_package_that_declares_a_registration_is_the_applications_own(
    library: types.ModuleType,
) -> None:
    """Its file lies among the installed ones, as where an application is installed itself."""
    code = compile("def declare(make):\n    return make()\n", str(library.__file__), "exec")
    namespace: dict[str, Any] = {}
    exec(code, namespace)  # noqa: S102  # a module of the library, as it might be
    declare: Callable[[Callable[[], Comparison]], Comparison] = namespace["declare"]
    comparisons = {
        "declared there": declare(functools.partial(Comparison, "chat")),
        "declared here": Comparison("chat"),
    }
    refused: list[str] = []
    for name, comparison in comparisons.items():
        comparison.check(library.held("object"), ("s5:alice", "1"), {})
        try:
            comparison.check(library.held("object"), ("s3:bob", "1"), {})
        except Exception:
            refused.append(name)
    assert refused == ["declared there"]


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("/usr/lib/python3/dist-packages/jinja2/defaults.py", "jinja2"),
        ("/srv/venv/lib/python3.11/site-packages/six.py", "six"),
        ("/srv/app/site/main.py", None),
        ("<string>", None),
    ],
)
def test_where_a_package_is_installed(path: str, package: str | None) -> None:
    assert installed_as(path) == package


def handle(_: object) -> None: ...


TABLE: dict[str, Any] = {"text": handle, "number": (int, float)}
small_table: dict[str, Any] = {"text": handle}
TEXTS: dict[str, Any] = {"greeting": "hello"}


def with_default(text: str) -> Callable[[], str]:
    """Return a function of somebody's own."""

    def own(kept: str = text) -> str:
        return kept

    return own


def around(held: object) -> Callable[[], object]:
    return lambda: held


CLOSURES: dict[str, Any] = {"text": around(["a"])}


class WithTable:
    STEPS: ClassVar[list[Callable[..., None]]] = [handle]

    def __init__(self) -> None:
        self.steps = self.STEPS


def test_a_table_of_functions_in_capitals_does_not_count() -> None:
    assert not found(lambda: Box(table=TABLE))
    assert not found(WithTable)
    captured: dict[str, Any] = {"text": handle}
    assert paths(lambda: Box(table=captured)) == ["box.table"]


@pytest.mark.parametrize("table", [small_table, TEXTS, CLOSURES], ids=["small", "text", "closure"])
def test_another_table_counts(table: object) -> None:
    assert paths(lambda: Box(table=table)) == ["box.table"]


@pytest.mark.parametrize("added", ["hers", ["hers"], with_default("hers")], ids=type)
def test_a_table_counts_as_soon_as_something_else_is_put_into_it(
    added: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    permitted = Permitted()

    def shared() -> bool:
        first, second = (survey(Box(table=TABLE), permitted) for _ in range(2))
        return bool(compare(first, second, hidden=()))

    assert not shared()
    monkeypatch.setitem(TABLE, "hers", added)
    assert shared()
    monkeypatch.delitem(TABLE, "hers")
    assert not shared()
