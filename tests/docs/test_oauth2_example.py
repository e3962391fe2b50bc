"""How the users of a library test an application that is built with it."""
# PyJWT's annotations name types of cryptography, which HS256 does without.
# pyright: reportUnknownMemberType=false

from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from uuid import UUID

import attrs
import jwt
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.testclient import WebSocketDenialResponse
from typing_extensions import override

from docs.examples.oauth2.app import (
    SECRET,
    Caller,
    Chat,
    create_app,
    current_user,
    drafts,
    make_token,
    register_chats,
    users,
)
from scoped_registration import ScopeContext
from scoped_registration.integrations.fastapi import leased

GUEST = Caller(UUID(int=9), "guest", "reader")


@pytest.fixture
def app() -> FastAPI:
    return create_app()


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as client:
        yield client


def sign_in(client: TestClient, name: str, password: str) -> dict[str, str]:
    answer = client.post("/token", data={"username": name, "password": password})
    assert answer.status_code == HTTPStatus.OK, answer.text
    return {"authorization": f"Bearer {answer.json()['access_token']}"}


def token_of(name: str, *, role: str = "editor", id: UUID | None = None) -> dict[str, str]:
    user = attrs.evolve(users[name], role=role, id=id or users[name].id)
    return {"authorization": f"Bearer {make_token(user)}"}


def say(client: TestClient, text: str, headers: dict[str, str] | None = None) -> list[str]:
    answer = client.post("/chat/t1", params={"text": text}, headers=headers)
    assert answer.status_code == HTTPStatus.OK, answer.text
    lines: list[str] = answer.json()["lines"]
    return lines


def test_two_users_on_one_thread_id_have_conversations_of_their_own(client: TestClient) -> None:
    alice = sign_in(client, "alice", "wonderland")
    bob = sign_in(client, "bob", "builder")
    say(client, "my secret", alice)
    assert say(client, "hello", bob) == ["hello"]
    assert say(client, "again", alice) == ["my secret", "again"]


def test_a_wrong_password_gets_no_token(client: TestClient) -> None:
    answer = client.post("/token", data={"username": "alice", "password": "guess"})
    assert answer.status_code == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer nonsense"},
        {"authorization": f"Bearer {make_token(users['alice'], timedelta(seconds=-1))}"},
        {"authorization": f"Bearer {jwt.encode({'sub': 'alice'}, SECRET)}"},
    ],
    ids=["no token", "nonsense", "expired", "no expiry"],
)
def test_who_is_not_signed_in_is_401_and_nothing_is_built(headers: dict[str, str]) -> None:
    chats = register_chats()
    with TestClient(create_app(chats)) as client:
        answer = client.post("/chat/t1?text=hello", headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (
            HTTPStatus.UNAUTHORIZED,
            "Bearer",
        )
    assert not any(attrs.astuple(chats.statistics()))


def test_a_rotated_token_keeps_the_conversation_and_a_changed_role_is_seen(
    client: TestClient,
) -> None:
    say(client, "one", token_of("alice"))
    assert say(client, "two", token_of("alice", role="reader")) == ["one", "two"]
    refused = client.post("/chat/t1?text=/clear", headers=token_of("alice", role="reader"))
    assert refused.status_code == HTTPStatus.FORBIDDEN
    assert say(client, "/clear", token_of("alice", role="editor")) == ["/clear"]


def test_logout_ends_the_conversations_of_the_user_and_of_no_other(client: TestClient) -> None:
    alice, bob = token_of("alice"), token_of("bob")
    say(client, "one", alice)
    say(client, "one", bob)
    client.post("/draft?text=note", headers=alice)
    assert client.post("/logout", headers=alice).json() == {"ended": 2}
    assert say(client, "afresh", alice) == ["afresh"]
    assert say(client, "two", bob) == ["one", "two"]


def test_a_stream_and_a_background_task_use_the_instance_to_their_end(client: TestClient) -> None:
    alice = token_of("alice")
    answer = client.post("/chat/t1/stream?text=hello", headers=alice)
    assert answer.text == "alice, you have said 1 things "
    client.post("/chat/t1/summary", headers=alice)
    assert client.get("/chat/t1", headers=alice).json() == [
        "hello",
        "(streamed)",
        "(summary of 2 lines)",
    ]


def test_a_socket_and_a_route_share_the_conversation_of_their_user(client: TestClient) -> None:
    alice = token_of("alice")
    say(client, "one", alice)
    with client.websocket_connect("/chat/t1/live", headers=alice) as talk:
        talk.send_text("two")
        assert talk.receive_text() == "alice, you have said 2 things"
    assert client.get("/chat/t1", headers=alice).json() == ["one", "two"]


def test_a_socket_without_a_token_is_denied(client: TestClient) -> None:
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect("/chat/t1/live"),
    ):
        pass
    assert denied.value.status_code == HTTPStatus.UNAUTHORIZED


def test_each_application_has_its_own_conversations() -> None:
    with TestClient(create_app()) as first, TestClient(create_app()) as second:
        say(first, "in the first", token_of("alice"))
        assert say(second, "in the second", token_of("alice")) == ["in the second"]


def test_a_registration_of_the_module_is_one_in_all_applications() -> None:
    alice = token_of("alice", id=UUID(int=77))
    with TestClient(create_app()) as first:
        with TestClient(create_app()) as second:
            first.post("/draft?text=one", headers=alice)
            assert second.post("/draft?text=two", headers=alice).json() == "onetwo"
        assert first.post("/draft?text=three", headers=alice).json() == "onetwothree"
    assert drafts.statistics().live == 0


def test_without_the_lifespan_requests_are_served_too() -> None:
    client = TestClient(create_app())
    say(client, "one", token_of("alice"))
    assert say(client, "two", token_of("alice")) == ["one", "two"]


def test_an_override_of_the_user_needs_no_token(app: FastAPI) -> None:
    app.dependency_overrides[current_user] = lambda: GUEST
    client = TestClient(app)
    assert say(client, "one") == ["one"]
    assert client.post("/chat/t1?text=two").json()["reply"] == "guest, you have said 2 things"


def test_an_override_of_the_lease_replaces_the_target() -> None:
    class Fake(Chat):
        @override
        def reply(self, text: str) -> str:
            return "faked"

    chats = register_chats()
    app = create_app(chats)
    context = ScopeContext("chat", GUEST, "t1", "")
    app.dependency_overrides[leased(chats)] = lambda: Fake(context)
    assert TestClient(app).post("/chat/t1?text=hello").json() == {"reply": "faked", "lines": []}
    assert chats.statistics().built == 0


def test_the_document_shows_scheme_thread_and_mode(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    operation = schema["paths"]["/chat/{thread_id}"]["post"]
    assert operation["security"] == [{"Bearer": []}]
    assert {p["name"] for p in operation["parameters"]} == {"thread_id", "text"}
    assert operation["x-scoped-registration"][0]["mode"] == "ScopedFactory"
    assert "x-scoped-registration" not in schema["paths"]["/token"]["post"]
