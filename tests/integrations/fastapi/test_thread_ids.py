"""Which thread ids are served, from wherever they come; the others are 422 (P7)."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import pytest
from fastapi import Header, HTTPException

from scoped_registration import ReasonCode, RegistrationBuilder, RegistrationError, SingleUser
from scoped_registration.integrations.fastapi import leased
from tests.integrations.fastapi.support import (
    ALICE,
    BOB,
    CANARY,
    CANARY_THREAD,
    Chat,
    Unseen,
    as_user,
    chat_app,
    client_of,
    scoped,
    shared,
    untouched,
)

BAD = {
    "missing": "",
    "empty": "?thread_id=",
    "blank": "?thread_id=%20%20",
    "a zero-width space": "?thread_id=%E2%80%8B",
    "10 kB": f"?thread_id={CANARY_THREAD * 600}",
    "513 characters": f"?thread_id={'x' * 513}",
}


@pytest.mark.parametrize("query", BAD.values(), ids=BAD)
def test_p7_a_bad_thread_id_is_422_and_touches_nothing(
    query: str, caplog: pytest.LogCaptureFixture
) -> None:
    registration = scoped()
    client = client_of(chat_app(registration, path="/chat"))
    answer = client.get(f"/chat{query}", headers=as_user(CANARY))
    assert answer.status_code == 422
    assert untouched(registration)
    assert not any(canary in answer.text + caplog.text for canary in (CANARY, CANARY_THREAD))


def test_a_blank_thread_id_in_the_path_is_422() -> None:
    registration = scoped()
    answer = client_of(chat_app(registration)).get("/chat/%20", headers=ALICE)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["type"] == "thread_id_invalid"
    assert problem["loc"] == ["thread_id"]
    assert untouched(registration)


def test_p7_512_characters_are_served() -> None:
    client = client_of(chat_app(scoped(), path="/chat"))
    assert client.get(f"/chat?thread_id={'x' * 512}", headers=ALICE).status_code == 200


@pytest.mark.parametrize("value", [None, 7, True, b"t", ["t"], "", " ", "x" * 513], ids=repr)
def test_a_thread_dependency_that_returns_no_thread_id_is_422(value: object) -> None:
    def thread() -> Unseen:
        return value

    registration = scoped()
    client = client_of(chat_app(registration, thread=thread, path="/chat"))
    answer = client.get("/chat", headers=ALICE)
    assert answer.status_code == 422
    assert untouched(registration)


def test_whoever_is_nobody_learns_nothing_of_threads() -> None:
    registration = scoped()
    answer = client_of(chat_app(registration)).get("/chat/%20", headers=as_user(" "))
    assert answer.status_code == 401
    assert untouched(registration)


def header_thread(x_thread: Annotated[str, Header()]) -> str:
    return f"header-{x_thread}"


async def async_thread(x_thread: Annotated[str, Header()]) -> str:
    return x_thread


def awaitable_thread(x_thread: Annotated[str, Header()]) -> Awaitable[str]:
    return async_thread(x_thread)


@pytest.mark.parametrize("thread", [header_thread, async_thread, awaitable_thread])
def test_a_thread_dependency_of_each_kind(thread: Callable[..., str | Awaitable[str]]) -> None:
    registration = scoped()
    client = client_of(chat_app(registration, thread=thread, path="/chat"))
    for name in ("one", "two", "one"):
        answer = client.get(f"/chat?text={name}", headers=ALICE | {"x-thread": name})
        assert set(answer.json()["lines"]) == {name}
    assert registration.statistics().built == 2
    assert client.get("/chat", headers=ALICE).status_code == 422


def test_a_thread_dependency_may_refuse_by_its_own_status() -> None:
    def thread() -> str:
        raise HTTPException(404, "no such thread")

    registration = scoped()
    answer = client_of(chat_app(registration, thread=thread, path="/chat")).get(
        "/chat", headers=ALICE
    )
    assert (answer.status_code, answer.json()) == (404, {"detail": "no such thread"})
    assert untouched(registration)


def test_a_constant_is_one_instance_for_each_principal() -> None:
    registration = scoped()
    client = client_of(chat_app(registration, thread="profile", path="/chat"))
    for user in (ALICE, BOB, ALICE):
        client.get("/chat", headers=user)
    assert client.get("/chat", headers=ALICE).json() == {"lines": ["hello"] * 3}
    assert client.get("/chat", headers=BOB).json() == {"lines": ["hello"] * 2}
    assert registration.statistics().built == 2


@pytest.mark.parametrize("constant", ["", "  ", "x" * 513])
def test_a_constant_that_is_no_thread_id_is_refused_when_declared(constant: str) -> None:
    with pytest.raises(RegistrationError) as refused:
        leased(scoped(), constant)
    assert refused.value.code is ReasonCode.THREAD_ID_INVALID


def test_a_thread_where_one_instance_serves_all_is_refused_when_declared() -> None:
    single = RegistrationBuilder("mine").isolation(SingleUser(Chat())).build()
    for registration in (single, shared()):
        unseen: Any = registration
        with pytest.raises(RegistrationError) as refused:
            leased(unseen, "t1")
        assert refused.value.code is ReasonCode.OPTION_UNAVAILABLE
        assert str(refused.value.declared_at).startswith(__file__)


@pytest.mark.parametrize(
    "thread_id", ["a/b", "..", "a b", "ünïcode", "🙂", "'; drop table", "a%2Fb"]
)
def test_any_other_text_is_a_thread_id(thread_id: str) -> None:
    client = client_of(chat_app(scoped(), path="/chat"))
    for lines in (["hello"], ["hello", "hello"]):
        answer = client.get("/chat", params={"thread_id": thread_id}, headers=ALICE)
        assert answer.json() == {"lines": lines}
