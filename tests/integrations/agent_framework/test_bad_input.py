"""Bad input builds nothing, leaves nothing, moves no scope and prints no principal."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest
from agent_framework import Workflow
from agent_framework_ag_ui import (
    AGUIThreadSnapshot,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, HTTPException
from typing_extensions import override

from scoped_registration import ScopeContext, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.scope import scope_digest, scope_text
from tests.integrations.agent_framework.kit import (
    Client,
    RecordingModel,
    client_of,
    current_user,
    factory_of,
    make_workflow,
)

NOTHING = {"live": 0, "leased": 0, "built": 0, "waiting": 0, "seeking": 0, "scopes": 0}


def left_behind(registration: Any) -> dict[str, int]:
    statistics = registration.statistics()
    return {name: getattr(statistics, name) for name in NOTHING}


def scoped(model: RecordingModel, resolver: Any = current_user) -> tuple[FastAPI, Any]:
    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=resolver)
    return app, AGUIEndpointBuilder("support").isolation(mode).mount(app)


BODIES: dict[str, str] = {
    "malformed": '{"messages": [',
    "nothing": "",
    "null": "null",
    "a list": "[]",
    "a text": '"messages"',
    "no messages": "{}",
    "messages are a text": '{"messages": "hello"}',
    "a message is a text": '{"messages": ["hello"]}',
    "thread id is a number": '{"messages": [], "thread_id": 7}',
    "thread id is a list": '{"messages": [], "threadId": ["A"]}',
    "two faults": '{"thread_id": 7, "state": []}',
    "resume is a text": '{"messages": [], "resume": "yes"}',
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("media_type", ["application/json", None])
async def test_a_bad_body_is_answered_exactly_as_the_raw_endpoint_answers_it(
    name: str, media_type: str | None, model: RecordingModel
) -> None:
    ours, registration = scoped(model)
    raw = FastAPI()
    add_agent_framework_fastapi_endpoint(
        raw, make_workflow(model), "/", authorization_scope_resolver=current_user
    )
    headers = {"x-user": "alice"} | ({"content-type": media_type} if media_type else {})
    answers: list[httpx.Response] = []
    for app in (raw, ours):
        async with client_of(app) as client:
            answers.append(await client.http.post("/", headers=headers, content=BODIES[name]))
            assert left_behind(registration) == NOTHING
    assert answers[0].status_code == answers[1].status_code == 422
    assert answers[0].json() == answers[1].json()
    assert model.calls == []


@pytest.mark.parametrize("field", ["thread_id", "threadId"])
@pytest.mark.parametrize("thread", [" ", "\t\n", "\u200b", "x" * 10_000, "x" * 513])
async def test_a_thread_id_that_cannot_be_a_key_is_refused(
    thread: str, field: str, model: RecordingModel
) -> None:
    app, registration = scoped(model)
    async with client_of(app) as client:
        answer = await client.send("alice", {field: thread, "messages": []})
        assert left_behind(registration) == NOTHING
    assert answer.status == 422
    (fault,) = json.loads(answer.body)["detail"]
    assert (fault["type"], fault["loc"]) == ("thread_id_invalid", ["thread_id"])
    assert thread.strip() == "" or thread not in answer.body


@pytest.mark.parametrize("body", [{}, {"thread_id": None}, {"thread_id": ""}, {"threadId": ""}])
async def test_an_omitted_thread_id_is_generated(
    body: dict[str, object], model: RecordingModel
) -> None:
    app, registration = scoped(model)
    message = {"id": "1", "role": "user", "content": "hello"}
    async with client_of(app) as client:
        first = await client.send("alice", {**body, "messages": [message]})
        second = await client.send("alice", {**body, "messages": [message]})
        assert first.types[-1] == second.types[-1] == "RUN_FINISHED"
        thread = first.events[0]["threadId"]
        assert thread
        assert thread != second.events[0]["threadId"]
        assert registration.statistics().built == 2
        await client.say("alice", thread, "again")
    assert model.calls[-1].holds("hello"), "the generated id names the thread from then on"


async def test_of_two_spellings_of_the_thread_id_one_decides(model: RecordingModel) -> None:
    app, registration = scoped(model)
    message = {"id": "1", "role": "user", "content": "hello"}
    both = {"thread_id": "A", "threadId": "B", "messages": [message]}
    async with client_of(app) as client:
        answer = await client.send("alice", both)
        assert answer.events[0]["threadId"] == "A"
        assert registration.invalidate(scope="alice", thread_id="A") == 1


class Store(InMemoryAGUIThreadSnapshotStore):
    def __init__(self) -> None:
        super().__init__()
        self.scopes: set[str] = set()

    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        self.scopes.add(scope)
        await super().save(scope=scope, thread_id=thread_id, snapshot=snapshot)


def naming(scope: str) -> list[dict[str, Any]]:
    """Return bodies that try to be another principal."""
    names: dict[str, object] = {
        "__ag_ui_snapshot_scope": scope,
        "__ag_ui_approval_scope": scope,
        "scope": scope,
        "x_user": scope,
        "principal": scope,
    }
    deep = names
    for level in range(5):
        deeper: dict[str, object] = {f"level{level}": deep, "list": [deep]}
        deep = names | deeper
    return [
        {**names},
        {"state": names},
        {"state": deep},
        {"forwardedProps": names},
        {"forwarded_props": deep},
        {"forwarded_props": names, "state": names, **names},
        {"context": [deep]},
    ]


@pytest.mark.parametrize("attempt", range(7))
@pytest.mark.parametrize("named", ["alice", "the digest of alice"])
async def test_no_field_of_a_body_names_a_scope(
    attempt: int, named: str, model: RecordingModel
) -> None:
    digest = {user: scope_digest("support", scope_text(user)) for user in ("alice", "bob")}
    store = Store()
    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).snapshots(store).mount(app)
    body = naming("alice" if named == "alice" else digest["alice"])[attempt]
    async with client_of(app) as client:
        await client.say("alice", "A", "SECRET-alice")
        assert store.scopes == {digest["alice"]}, "control: this is her scope"
        answer = await client.say("bob", "A", "hello from bob", **body)
        assert answer.types[-1] == "RUN_FINISHED"
        assert model.calls[-1].holds("hello from bob")
        assert not model.calls[-1].holds("SECRET-alice")
        hydrated = await client.send("bob", {"thread_id": "A", "messages": [], **body})
        assert "SECRET-alice" not in hydrated.body
        assert store.scopes == set(digest.values())
        assert registration.statistics().scopes == 2


class Tenant:
    def __init__(self) -> None:
        self.name = "acme"


RESOLVED: dict[str, tuple[object, int]] = {
    "None": (None, 401),
    "empty": ("", 401),
    "blank": (" \t", 401),
    "a blank part": (("acme", ""), 401),
    "True": (True, 500),
    "a float": (7.0, 500),
    "a dict": ({"user": "alice"}, 500),
    "an object": (Tenant(), 500),
}


@pytest.mark.parametrize("name", RESOLVED)
@pytest.mark.parametrize("awaited", [False, True])
async def test_a_resolver_that_names_nobody(
    name: str, awaited: bool, model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    value, status = RESOLVED[name]

    async def later() -> Any:
        return value

    app, registration = scoped(model, later if awaited else lambda: value)
    async with client_of(app) as client:
        answer = await client.say("alice", "A", "hello")
        assert answer.status == status
        assert left_behind(registration) == NOTHING
    assert model.calls == []
    assert "alice" not in caplog.text + answer.body
    if status == 401:
        assert json.loads(answer.body)["detail"]["code"] == "scope_missing"
    else:
        assert answer.body == '{"detail":"Internal Server Error"}'
        assert "[scope_type_unsupported]" in caplog.text


async def test_a_resolvers_own_refusal_passes_through(model: RecordingModel) -> None:
    def refuse() -> str:
        raise HTTPException(401, "who are you", headers={"www-authenticate": "Bearer"})

    app, registration = scoped(model, refuse)
    async with client_of(app) as client:
        response = await client.http.post("/", json={"messages": []})
    assert (response.status_code, response.json()) == (401, {"detail": "who are you"})
    assert response.headers["www-authenticate"] == "Bearer"
    assert left_behind(registration) == NOTHING


async def test_a_resolver_that_fails_serves_nobody(model: RecordingModel) -> None:
    def fail() -> str:
        raise RuntimeError("database is down")

    app, registration = scoped(model, fail)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        answer = await http.post("/", json={"messages": []})
    assert (answer.status_code, answer.text) == (500, "Internal Server Error")
    assert left_behind(registration) == NOTHING
    assert model.calls == []


async def test_another_principal_than_the_owner_is_refused(model: RecordingModel) -> None:
    app = FastAPI()
    mode = SingleUser(make_workflow(model), owner=current_user)
    AGUIEndpointBuilder("home").isolation(mode).mount(app)
    async with client_of(app) as client:
        assert (await client.say("alice", "A", "hello")).status == 200
        refused = await client.say("bob", "A", "hello")
        assert refused.status == 403
        assert json.loads(refused.body)["detail"]["code"] == "owner_mismatch"
        assert (await client.say("alice", "A", "again")).status == 200
    assert len(model.calls) == 2


CANARY = "canary-5c41e0"


class Failing(InMemoryAGUIThreadSnapshotStore):
    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        raise OSError("the disk is full")


async def talk_and_fail(client: Client) -> None:
    await client.say(CANARY, "A", "hello")
    await client.say(CANARY, "fails", "hello")
    await client.say(CANARY, " ", "hello")
    await client.send(CANARY, {"messages": 7})
    await client.send(CANARY, {"thread_id": "A", "messages": []})


async def test_no_log_holds_a_principal(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    def build(context: ScopeContext[str]) -> Workflow:
        if context.thread_id == "fails":
            raise LookupError(f"no such user: {context.scope}")
        return make_workflow(model)

    app = FastAPI()
    mode = ScopedFactory(build, scope=current_user)
    AGUIEndpointBuilder("support").isolation(mode).snapshots(Failing()).mount(app)
    for name in ("", "agent_framework", "agent_framework_ag_ui", "scoped_registration"):
        caplog.set_level(logging.DEBUG, name or None)
    async with client_of(app) as client:
        await talk_and_fail(client)
    names = {record.name.partition(".")[0] for record in caplog.records}
    assert {"agent_framework_ag_ui", "scoped_registration"} <= names, "control: both did log"
    assert "LookupError" in caplog.text
    assert CANARY not in caplog.text
