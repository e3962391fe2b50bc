"""What a comparison says: the topmost objects alone, no principal, and no more than can be read."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Iterator

import pytest

from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import MOST, compare, survey
from tests.unit.verification.support import Box, found, paths


class Session:
    def __init__(self) -> None:
        self.turns: list[str] = ["a"]


class Executor:
    def __init__(self, session: Session) -> None:
        self.session = session


def test_what_is_below_a_shared_object_is_not_named_again() -> None:
    executor = Executor(Session())
    assert paths(lambda: Box(executor=executor)) == ["box.executor"]


def test_what_is_below_a_shared_object_is_not_named_for_its_own_way_either() -> None:
    executor = Executor(Session())
    assert paths(lambda: Box(turns=executor.session.turns, executor=executor)) == ["box.executor"]
    assert paths(lambda: Box(executor=executor, turns=executor.session.turns)) == ["box.executor"]
    assert paths(lambda: Box(deep=[[executor]], session=executor.session)) == ["box.deep[0][0]"]


def test_of_objects_that_hold_each_other_one_is_named() -> None:
    one, other = Box(), Box()
    one.__dict__["other"], other.__dict__["one"] = other, one
    assert paths(lambda: Box(one=one, two=other)) == ["box.one"]


def test_each_of_several_topmost_objects_is_named_the_nearest_first() -> None:
    first, second, third = Session(), Session(), Session()
    assert paths(lambda: Box(a=[[first]], b=[second], c=third)) == [
        "box.c",
        "box.b[0]",
        "box.a[0][0]",
    ]


def test_the_number_of_findings_is_bounded() -> None:
    many = [Session() for _ in range(5 * MOST)]
    assert len(paths(lambda: Box(all=list(many)))) == MOST


class Keyed:
    """Names each of its parts in its own code."""

    def __init__(self, part: object) -> None:
        self.parts = {"support": {4200: {"first": part, "alice": [part]}}}


def test_a_key_that_the_code_of_its_class_names_is_shown() -> None:
    session = Session()
    (shared,) = found(lambda: Keyed(session))
    assert shared.path_first == shared.path_second == 'keyed.parts["support"][4200]["first"]'
    assert paths(lambda: Box(keyed=Keyed(session))) == ['box.keyed.parts["support"][4200]["first"]']


@pytest.mark.parametrize("hidden", [["First"], ["4200", "first"], ["user:FIRST"]])
def test_such_a_key_is_not_shown_where_it_holds_a_principal_or_a_thread(
    hidden: list[str],
) -> None:
    session = Session()
    (shared,) = found(lambda: Keyed(session), hidden=hidden)
    holds_it = "user:FIRST" not in hidden
    assert ('["first"]' in shared.path_second) is not holds_it
    assert ("[4200]" in shared.path_second) is ("4200" not in hidden)


@pytest.mark.parametrize(
    "key",
    ["carol", "support", 7, b"carol", ("carol",), "a" * 81, 'a"b', "a\nb", 1 << 65, 1.5, None],
)
def test_a_key_that_may_be_data_is_not_shown_whoever_it_names(key: object) -> None:
    """Neither product is carol's: a third principal's name is hidden too."""
    session = Session()
    peers = {key: session}
    assert paths(lambda: dict(peers)) == ["dict[...]"]
    assert paths(lambda: Box(peers=dict(peers))) == ["box.peers[...]"]
    attributes = {f"{key}": session}
    (path,) = paths(lambda: types.SimpleNamespace(**attributes))
    assert path == "simple_namespace.__dict__[...]"


def test_a_key_of_a_librarys_object_is_shown_where_it_is_a_name_in_source_code(
    library: types.ModuleType,
) -> None:
    session = Session()
    data = "".join(["ca", "rol"])  # as it arrives with a request

    def make(key: str) -> object:
        return library.Graph({key: session})

    assert paths(lambda: make("support")) == ['graph.nodes["support"]']
    assert paths(lambda: make(data)) == ["graph.nodes[...]"]
    (shared,) = found(lambda: make("support"), hidden=["support"])
    assert shared.path_second == "graph.nodes[...]"


def test_the_name_of_a_class_that_holds_a_principal_is_not_shown() -> None:
    made = type("ChatOfAlice", (Session,), {})()
    (shared,) = found(lambda: Box(chat=made), hidden=["alice"])
    assert shared.type_name == "?"
    (root,) = found(lambda: made, hidden=["alice"])
    assert root.path_second == "product"


def test_an_attribute_that_holds_a_principal_is_not_shown() -> None:
    session = Session()
    (shared,) = found(lambda: Box(chat_of_alice=session), hidden=["alice"])
    assert shared.path_second == "box.<...>"


def test_products_can_be_named() -> None:
    session = Session()
    permitted = Permitted()
    first, second = (survey(Box(a=session), permitted) for _ in range(2))
    (shared,) = compare(first, second, hidden=(), name="workflow")
    assert shared.path_second == "workflow.a"


def test_a_survey_keeps_its_objects_alive_and_nothing_once_it_is_gone() -> None:
    permitted = Permitted()
    session = Session()
    gone = weakref.ref(session)
    surveys = [survey(Box(a=session), permitted)]
    surveys[0].root.__dict__.clear()
    del session
    gc.collect()
    assert gone() is not None
    surveys.clear()
    gc.collect()
    assert gone() is None


def test_a_class_made_for_one_product_is_forgotten_with_it() -> None:
    permitted = Permitted()
    known = permitted.kinds.known

    def once() -> None:
        local: type = type("Local", (), {})
        assert survey(Box(a=local()), permitted).complete
        assert id(local) in known

    survey(Box(a=1), permitted)
    before = dict(known)
    once()
    gc.collect()
    assert known == before


def test_a_survey_ends_at_its_limit_and_says_so() -> None:
    permitted = Permitted()
    shared: list[object] = []
    many: list[object] = [[]] * 1000
    whole = [survey([*many, shared], permitted, limit=2000) for _ in range(2)]
    assert whole[0].complete
    assert compare(*whole, hidden=())
    cut = [survey([*many, shared], permitted, limit=1000) for _ in range(2)]
    assert not cut[0].complete
    assert not compare(*cut, hidden=())


def test_what_comes_after_a_refused_object_is_not_looked_at() -> None:
    many: list[object] = [Session() for _ in range(5_000)]
    permitted = Permitted()
    graph = survey(many, permitted).graph
    looked_at: list[object] = []

    def common() -> Iterator[object]:
        for session in many:
            looked_at.append(session)
            yield session

    refused = permitted.refused(common(), graph)
    assert refused == looked_at
    assert len(refused) < 500


def test_a_global_of_the_users_own_module_counts_though_it_is_called_like_a_library() -> None:
    settings: dict[str, object] = {}
    module = types.ModuleType("this")
    module.__dict__.update(settings=settings, __file__="/srv/app/this.py")
    kept = sys.modules.get("this")
    sys.modules["this"] = module
    try:
        assert paths(lambda: Box(settings=settings)) == ["box.settings"]
        module.__dict__["__file__"] = None  # as one that is compiled into the interpreter
        assert not paths(lambda: Box(settings=settings))
    finally:
        if kept is None:
            del sys.modules["this"]
        else:
            sys.modules["this"] = kept
