"""Snapshots and checkpoints belong to (registration, principal, thread)."""

from __future__ import annotations

from typing import Any

import pytest
from agent_framework import InMemoryCheckpointStorage
from agent_framework_ag_ui import AGUIThreadSnapshot, InMemoryAGUIThreadSnapshotStore
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.scope import scope_digest, scope_text
from tests.integrations.agent_framework.kit import (
    Answer,
    Client,
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    factory_of,
    make_agent,
    make_workflow,
)
from tests.integrations.agent_framework.samples import asking_workflow


class Store(InMemoryAGUIThreadSnapshotStore):
    """Remembers under which keys it was used."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: set[tuple[str, str]] = set()
        self.asked: set[tuple[str, str]] = set()

    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        self.rows.add((scope, thread_id))
        await super().save(scope=scope, thread_id=thread_id, snapshot=snapshot)

    @override
    async def get(self, *, scope: str, thread_id: str) -> AGUIThreadSnapshot | None:
        self.asked.add((scope, thread_id))
        return await super().get(scope=scope, thread_id=thread_id)


def digest(registration: str, principal: str) -> str:
    return scope_digest(registration, scope_text(principal))


async def hydrate(client: Client, user: str, thread: str, path: str = "/") -> Answer:
    answer = await client.send(user, {"thread_id": thread, "messages": []}, path)
    assert answer.status == 200
    return answer


def modes(model: RecordingModel) -> dict[str, Any]:
    return {
        "workflow": ScopedFactory(factory_of(model), scope=current_user),
        "agent": ScopedFactory(lambda context: make_agent(model), scope=current_user),
        "workflow agent": ScopedFactory(
            lambda context: make_workflow(model).as_agent(), scope=current_user
        ),
        "per_run": per_run(make_agent(model), scope=current_user),
        "shared": PersistentShared(
            make_workflow(model), acknowledgement=acknowledge(), access=current_user
        ),
    }


@pytest.mark.parametrize("kind", ["workflow", "agent", "workflow agent", "per_run", "shared"])
async def test_transcripts_are_keyed_by_principal_and_thread(
    kind: str, model: RecordingModel
) -> None:
    store = Store()
    app = FastAPI()
    stage = declare(modes(model)[kind])
    stage.snapshots(store).mount(app)
    async with client_of(app) as client:
        await client.say("alice", "A", "SECRET-alice")
        await client.say("bob", "A", "SECRET-bob")
        assert store.rows == {(digest("support", user), "A") for user in ("alice", "bob")}
        assert not any("alice" in part or "bob" in part for row in store.asked for part in row)
        hers, his = await hydrate(client, "alice", "A"), await hydrate(client, "bob", "A")
        assert "SECRET-alice" in hers.body
        assert "SECRET-bob" not in hers.body
        assert "SECRET-bob" in his.body
        assert "SECRET-alice" not in his.body
        calls = len(model.calls)
        stranger = await hydrate(client, "carol", "A")
        unknown = await hydrate(client, "carol", "no such thread")
        assert stranger.outcome() == unknown.outcome(), "her thread id is as good as an unknown one"
        assert len(model.calls) == calls, "hydrating runs no model"


async def test_an_agents_history_comes_from_its_own_transcript(model: RecordingModel) -> None:
    app = FastAPI()
    mode = per_run(make_agent(model), scope=current_user)
    AGUIEndpointBuilder("support").isolation(mode).snapshots(Store()).mount(app)
    async with client_of(app) as client:
        await client.say("alice", "A", "SECRET-alice")
        await client.say("bob", "A", "SECRET-bob")
        await client.say("alice", "A", "and then")
    assert [call.holds("SECRET-alice") for call in model.calls] == [True, False, True]
    assert [call.holds("SECRET-bob") for call in model.calls] == [False, True, False]


async def test_two_registrations_over_one_store_do_not_see_each_other(
    model: RecordingModel,
) -> None:
    store = Store()
    app = FastAPI()
    for name in ("one", "two"):
        mode = ScopedFactory(factory_of(model), scope=current_user)
        AGUIEndpointBuilder(name, f"/{name}").isolation(mode).snapshots(store).mount(app)
    async with client_of(app) as client:
        await client.say("alice", "A", "SECRET-alice", "/one")
        assert "SECRET-alice" in (await hydrate(client, "alice", "A", "/one")).body
        assert "SECRET-alice" not in (await hydrate(client, "alice", "A", "/two")).body
    assert digest("one", "alice") != digest("two", "alice")


async def test_a_single_users_transcript_survives_a_restart(model: RecordingModel) -> None:
    store = Store()
    for start in ("first", "second"):
        app = FastAPI()
        mode = SingleUser(make_workflow(model))
        AGUIEndpointBuilder("home").isolation(mode).snapshots(store).mount(app)
        async with client_of(app) as client:
            if start == "first":
                await client.say("me", "A", "SECRET")
            assert "SECRET" in (await hydrate(client, "me", "A")).body
    assert len(store.rows) == 1


async def test_checkpoints_of_one_are_of_no_use_to_another() -> None:
    storage = InMemoryCheckpointStorage()
    app = FastAPI()
    mode = ScopedFactory(lambda context: asking_workflow(), scope=current_user)
    stage = AGUIEndpointBuilder("support").isolation(mode).checkpoints(storage)
    registration = stage.mount(app)
    async with client_of(app) as client:
        asked = await client.say("alice", "A", "SECRET-alice")
        interrupt = asked.interrupt
        saved = await storage.list_checkpoint_ids(workflow_name="asking")
        assert saved, "control: there are checkpoints"
        props = {"checkpoint_id": saved[-1]}
        for thread in ("A", "B"):
            tried = await client.send(
                "bob", {"thread_id": thread, "messages": [], "forwarded_props": props}
            )
            assert tried.types == ["RUN_STARTED", "RUN_ERROR"]
            assert "SECRET" not in tried.body
            entry = {"interruptId": interrupt, "status": "resolved", "payload": "bob was here"}
            body: dict[str, object] = {
                "thread_id": thread,
                "messages": [],
                "forwarded_props": props,
            }
            answered = await client.send("bob", {**body, "resume": [entry]})
            assert answered.types == ["RUN_STARTED", "RUN_ERROR"]
        assert registration.invalidate(scope="alice") == 1
        hers = await client.send(
            "alice", {"thread_id": "A", "messages": [], "forwarded_props": props}
        )
        assert hers.interrupt == interrupt, "control: she comes back to her question"
        done = await client.resume("alice", "A", interrupt, "yes")
        assert done.text == "SECRET-alice: yes"
    owners = {
        str(checkpoint.metadata)
        for checkpoint in await storage.list_checkpoints(workflow_name="asking")
    }
    assert all(digest("support", "alice") in owner for owner in owners)
    assert not any("'alice'" in owner for owner in owners)
