"""No scope, no service: what a resolver may return, and what happens to the rest (P2)."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import attrs
import pytest
from fastapi import Header, HTTPException
from pydantic import BaseModel, ConfigDict

from scoped_registration.registration import ScopedRegistration
from tests.integrations.fastapi.support import (
    ALICE,
    CANARY,
    CANARY_THREAD,
    Chat,
    Unseen,
    chat_app,
    client_of,
    scoped,
    untouched,
)


@dataclass(frozen=True)
class Tenant:
    tenant: str
    user: str | None


@attrs.frozen
class Member:
    tenant: str
    user: str | None


class Person(BaseModel):
    model_config = ConfigDict(frozen=True)

    tenant: str
    user: str | None


@dataclass
class Mutable:
    user: str


class Identity:
    """Hashed by identity: two requests of one person never meet."""

    user = CANARY


class Key:
    def __init__(self, key: str) -> None:
        self._key = key

    def scope_key(self) -> str:
        return self._key


def registration_of(value: Unseen) -> ScopedRegistration[Chat, Any]:
    """Return a registration whose resolver returns a value that no checker looked at."""

    def resolver() -> Unseen:
        return value

    return scoped(scope=resolver)


MISSING = {
    "None": None,
    "empty": "",
    "blank": "  ",
    "a zero-width space": "\u200b",
    "a tuple with an empty part": (CANARY, ""),
    "a tuple with None": (CANARY, None),
    "an empty tuple": (),
    "a dataclass with a blank field": Tenant(CANARY, " "),
    "a dataclass with None": Tenant(CANARY, None),
    "an attrs class with a blank field": Member(CANARY, ""),
    "an attrs class with None": Member(CANARY, None),
    "a model with a blank field": Person(tenant=CANARY, user=""),
    "a model with None": Person(tenant=CANARY, user=None),
    "an empty scope_key()": Key(""),
}
UNSUPPORTED = {
    "True": True,
    "7.0": 7.0,
    "bytes": CANARY.encode(),
    "a dict": {"user": CANARY},
    "a list": [CANARY],
    "a set": {CANARY},
    "a mutable dataclass": Mutable(CANARY),
    "hashed by identity": Identity(),
    "True in a tuple": (CANARY, True),
    "a list in a tuple": (CANARY, [CANARY]),
}
SUPPORTED = {
    "a str": "alice",
    "zero": 0,
    "a UUID": UUID(int=1),
    "a tuple": ("acme", "alice"),
    "a dataclass": Tenant("acme", "alice"),
    "an attrs class": Member("acme", "alice"),
    "a model": Person(tenant="acme", user="alice"),
    "a scope_key()": Key("acme/alice"),
}


@pytest.mark.parametrize("value", MISSING.values(), ids=MISSING)
def test_p2_a_missing_scope_is_401_and_touches_nothing(
    value: object, caplog: pytest.LogCaptureFixture
) -> None:
    registration = registration_of(value)
    answer = client_of(chat_app(registration)).get(f"/chat/{CANARY_THREAD}")
    assert answer.status_code == 401
    assert answer.json()["detail"]["code"] == "scope_missing"
    assert untouched(registration)
    assert not any(canary in answer.text + caplog.text for canary in (CANARY, CANARY_THREAD))


@pytest.mark.parametrize("value", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_p2_a_scope_of_the_wrong_type_is_a_generic_500_and_logged_without_its_value(
    value: object, caplog: pytest.LogCaptureFixture
) -> None:
    registration = registration_of(value)
    answer = client_of(chat_app(registration)).get(f"/chat/{CANARY_THREAD}")
    assert answer.status_code == 500
    assert answer.json() == {"detail": "Internal Server Error"}
    assert "scope_type_unsupported" in caplog.text
    assert untouched(registration)
    assert not any(canary in answer.text + caplog.text for canary in (CANARY, CANARY_THREAD))


@pytest.mark.parametrize("value", SUPPORTED.values(), ids=SUPPORTED)
def test_p2_a_scope_of_each_shape_is_served_and_keeps_its_state(value: object) -> None:
    client = client_of(chat_app(registration_of(value)))
    client.get("/chat/t1?text=one")
    assert client.get("/chat/t1?text=two").json() == {"lines": ["one", "two"]}


def test_p2_one_and_the_text_of_one_never_meet() -> None:
    def resolver(kind: Annotated[str, Header()]) -> Unseen:
        return 1 if kind == "int" else "1"

    client = client_of(chat_app(scoped(scope=resolver)))
    client.get("/chat/t1", headers={"kind": "int"})
    answer = client.get("/chat/t1", headers={"kind": "str"})
    assert answer.json() == {"lines": ["hello"]}


def test_p2_two_principals_on_one_thread_id_never_share_an_instance() -> None:
    client = client_of(chat_app(scoped()))
    client.get("/chat/t1?text=secret", headers=ALICE)
    assert client.get("/chat/t1", headers={"x-user": "bob"}).json() == {"lines": ["hello"]}
    assert client.get("/chat/t1", headers=ALICE).json() == {"lines": ["secret", "hello"]}


def test_p2_a_scope_cannot_be_named_by_the_request() -> None:
    client = client_of(chat_app(scoped()))
    client.get("/chat/t1?text=secret", headers=ALICE)
    for name in ("principal", "scope", "x_user", "__ag_ui_snapshot_scope"):
        answer = client.request(
            "GET", f"/chat/t1?{name}=alice", headers={"x-user": "bob"}, json={name: "alice"}
        )
        assert "secret" not in answer.text


def test_a_resolvers_own_http_exception_passes_through_unchanged() -> None:
    registration = scoped()
    answer = client_of(chat_app(registration)).get("/chat/t1")
    assert answer.status_code == 401
    assert answer.json() == {"detail": "who are you?"}
    assert answer.headers["www-authenticate"] == "Bearer"
    assert untouched(registration)


@pytest.mark.parametrize("status", [400, 403, 429, 503])
def test_a_resolver_decides_its_own_status(status: int) -> None:
    def resolver() -> str:
        raise HTTPException(status, detail={"own": True}, headers={"x-own": "yes"})

    registration = scoped(scope=resolver)
    answer = client_of(chat_app(registration)).get("/chat/t1")
    assert (answer.status_code, answer.json()) == (status, {"detail": {"own": True}})
    assert answer.headers["x-own"] == "yes"
    assert untouched(registration)


def test_a_resolver_that_raises_anything_else_is_500_and_touches_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def resolver() -> str:
        raise LookupError(CANARY)

    registration = scoped(scope=resolver)
    answer = client_of(chat_app(registration)).get("/chat/t1")
    assert answer.status_code == 500
    assert untouched(registration)
    assert CANARY not in answer.text + caplog.text
