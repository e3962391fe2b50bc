"""`verify_at_startup`, promise P9: which sample scopes a declaration takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from scoped_registration import ReasonCode, ScopedFactory
from tests.unit.helpers import Chat, UntypedBuilder, refusal, refusal_with_remedy, user


def declared() -> Any:
    return UntypedBuilder("chat").isolation(ScopedFactory(Chat, scope=user))


@pytest.mark.parametrize(
    "samples",
    [
        ["alice"],
        ("alice", "bob"),
        [("acme", 1), ("acme", 2)],
        [UUID(int=1)],
        list("abcdefghijklmnop"),
    ],
)
def test_p9_samples_that_pass(samples: Any) -> None:
    registration = declared().verify_at_startup(sample_scopes=samples).build()
    assert registration.describe().options["sample_scopes"] == len(samples)


NO_SAMPLES: dict[str, tuple[Callable[[], object], str]] = {
    "none": (lambda: [], "was given 0"),
    "too-many": (lambda: list(range(17)), "was given 17"),
    "a-text": (lambda: "alice", "was given a str"),
    "a-set": (lambda: {"alice"}, "was given a set"),
    "an-iterator": (lambda: iter(["alice"]), "was given a list_iterator"),
    "one-scope": (lambda: 7, "was given a int"),
    "nothing": (lambda: None, "was given a NoneType"),
    "twice": (lambda: ["alice", "bob", "alice"], "was given one principal twice"),
}


@pytest.mark.parametrize("case", NO_SAMPLES)
def test_p9_samples_that_are_refused(case: str) -> None:
    make, problem = NO_SAMPLES[case]
    stage = declared()
    error = refusal_with_remedy(
        lambda: stage.verify_at_startup(sample_scopes=make()),
        ReasonCode.OPTION_INVALID,
        problem,
        ".verify_at_startup(sample_scopes=[...])",
    )
    assert error.registration == "chat"
    assert "alice" not in str(error)


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        (None, ReasonCode.SCOPE_MISSING),
        (" ", ReasonCode.SCOPE_MISSING),
        (("acme", ""), ReasonCode.SCOPE_MISSING),
        (True, ReasonCode.SCOPE_TYPE_UNSUPPORTED),
        (1.5, ReasonCode.SCOPE_TYPE_UNSUPPORTED),
        (["alice"], ReasonCode.SCOPE_TYPE_UNSUPPORTED),
    ],
)
def test_p9_each_sample_is_a_scope(sample: object, code: ReasonCode) -> None:
    stage = declared()
    error = refusal(lambda: stage.verify_at_startup(sample_scopes=["alice", sample]), code)
    assert error.registration == "chat"


def test_p9_samples_are_given_by_name() -> None:
    stage = declared()
    refusal(lambda: stage.verify_at_startup(["alice"]), ReasonCode.OPTION_INVALID)
    refusal(lambda: stage.verify_at_startup(samples=["alice"]), ReasonCode.OPTION_INVALID)
