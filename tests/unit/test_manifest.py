"""A registration as data, promise P10: what is shared is spoken of as shared."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date

import pytest

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    RegistrationBuilder,
    Risk,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.manifest import MANIFEST_VERSION, Description, Json, manifest
from tests.unit.helpers import Chat, user

_BEFORE, _AFTER = date(2030, 1, 31), date(2030, 2, 1)


def _acknowledgement(review_by: date | None = date(2030, 1, 31)) -> Acknowledgement:
    return Acknowledgement(
        reason="one shared incident room",
        owner="team-sre",
        risks={Risk.OBJECT_STATE, Risk.CONVERSATION_HISTORY},
        review_by=review_by,
    )


def _shared(
    review_by: date | None = date(2030, 1, 31), access: Callable[[], str] | None = None
) -> Description:
    mode = PersistentShared(Chat(), acknowledgement=_acknowledgement(review_by), access=access)
    return RegistrationBuilder("room").isolation(mode).build().describe()


def _scoped() -> Description:
    mode = ScopedFactory(Chat, scope=user, shares=(Chat("canary"), Chat))
    return RegistrationBuilder("chat").isolation(mode).build().describe()


def test_p10_the_sentence_of_a_shared_registration_names_everything() -> None:
    sentence = _shared().sentence(_BEFORE)
    assert "registration 'room': PersistentShared: ONE INSTANCE IS SHARED" in sentence
    assert "reason: one shared incident room" in sentence
    assert "owner: team-sre" in sentence
    assert "risks: conversation_history, object_state" in sentence
    assert sentence.endswith("review by 2030-01-31")


def test_p10_a_past_review_is_said() -> None:
    assert _shared().sentence(_AFTER).endswith("review by 2030-01-31 (OVERDUE)")
    assert "review" not in _shared(None).sentence(_AFTER)


def test_p10_the_manifest_and_the_operation_of_a_shared_registration() -> None:
    acknowledged = {
        "reason": "one shared incident room",
        "owner": "team-sre",
        "risks": ["conversation_history", "object_state"],
        "review_by": "2030-01-31",
    }
    assert _shared().as_dict()["acknowledgement"] == acknowledged
    assert _shared().operation()["acknowledgement"] == acknowledged
    without = _shared(None).as_dict()["acknowledgement"]
    assert isinstance(without, dict)
    assert "review_by" not in without


def test_p10_access_is_never_called_isolation() -> None:
    data = _shared(access=user).as_dict()
    assert str(data["scope"]).startswith("access only: tests.unit.helpers.user")
    assert "not isolation" in str(data["meaning"])
    assert "scope" not in _shared().as_dict()


@pytest.mark.parametrize("per_thread", [False, True])
def test_p10_single_user_says_that_every_caller_is_one_principal(per_thread: bool) -> None:
    builder = RegistrationBuilder("desk")
    described = (
        builder.isolation(SingleUser.per_thread(Chat)).build().describe()
        if per_thread
        else builder.isolation(SingleUser(Chat())).build().describe()
    )
    for text in (described.sentence(_BEFORE), str(described.operation()["meaning"])):
        assert "every caller is one and the same principal" in text


def test_the_manifest_of_a_scoped_registration() -> None:
    data = _scoped().as_dict()
    assert list(data) == [
        "name", "mode", "meaning", "target", "scope", "options", "shares", "declared_at",
    ]  # fmt: skip
    assert data["target"] == "tests.unit.helpers.Chat"
    assert str(data["scope"]).startswith("tests.unit.helpers.user (helpers.py:")
    assert data["shares"] == ["tests.unit.helpers.Chat", "Chat"]
    assert str(data["declared_at"]).startswith("test_manifest.py:")


def test_the_manifest_counts_sample_scopes_and_names_none() -> None:
    stage = RegistrationBuilder("chat").isolation(ScopedFactory(Chat, scope=user))
    described = stage.verify_at_startup(sample_scopes=["canary-1", "canary-2"]).build().describe()
    assert described.options["sample_scopes"] == 2
    assert "canary" not in json.dumps(described.as_dict())
    assert "sample_scopes" not in _scoped().options


def test_the_operation_names_no_source_and_no_option() -> None:
    assert set(_scoped().operation()) == {"name", "mode", "meaning"}


@pytest.mark.parametrize("describe", [_scoped, _shared], ids=["scoped", "shared"])
def test_the_manifest_is_json_and_a_copy(describe: Callable[[], Description]) -> None:
    description = describe()
    data = description.as_dict()
    assert json.loads(json.dumps(data)) == data
    assert "canary" not in json.dumps(data)
    options = data["options"]
    assert isinstance(options, dict)
    options["added"] = True
    assert "added" not in description.options


def test_a_manifest_is_versioned_and_sorted_by_name() -> None:
    names = ["room", "Chat", "chat-2", "chat"]
    entries: list[dict[str, Json]] = [{"name": name} for name in names]
    assert manifest(entries) == {
        "version": MANIFEST_VERSION,
        "registrations": [{"name": name} for name in sorted(names)],
    }
    assert manifest(entries) == manifest(reversed(entries))
    assert manifest([]) == {"version": 1, "registrations": []}
