"""What a comparison says: the topmost objects alone, no principal, and no more than can be read."""

from __future__ import annotations

import gc
import sys
import types
import weakref

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


@pytest.mark.parametrize("key", ["alice", "user:ALICE/1", "t-7", 42, 1427])
def test_a_key_that_holds_a_principal_or_a_thread_is_not_shown(key: object) -> None:
    session = Session()
    (shared,) = found(lambda: {key: {"support": session}}, hidden=["Alice", "t-7", "42", ""])
    assert shared.path_first == shared.path_second == 'dict[...]["support"]'
    (shown,) = found(lambda: {key: {"support": session}}, hidden=["bob"])
    assert str(key) in shown.path_second


def test_an_attribute_that_holds_a_principal_is_not_shown() -> None:
    session = Session()
    (shared,) = found(lambda: Box(chat_of_alice=session), hidden=["alice"])
    assert shared.path_second == "box.<...>"


@pytest.mark.parametrize("key", [b"alice", ("alice",), "a" * 81, 'a"b', "a\nb", 1 << 65, 1.5, None])
def test_a_key_that_is_no_short_text_is_not_shown(key: object) -> None:
    session = Session()
    assert paths(lambda: {key: session}) == ["dict[...]"]


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
