"""What a store of threads refuses, keeps and cannot do."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from agent_framework import InMemoryCheckpointStorage, WorkflowAgent, tool
from agent_framework_ag_ui import AgentFrameworkWorkflow, InMemoryAGUIThreadSnapshotStore
from fastapi import FastAPI

from scoped_registration import ReasonCode, RegistrationError, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore, lease_lost
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    client_of,
    current_user,
    declare,
    make_agent,
    make_workflow,
)
from tests.integrations.agent_framework.samples import OwnRun, asking_workflow, functional_agent

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


@tool(approval_mode="always_require")
def lookup() -> str:
    """Look something up."""
    return "42"


def scoped(make: Any) -> ScopedFactory[Any, str]:
    return ScopedFactory(lambda context: make(), scope=current_user)


def worker(mode: Any, store: ThreadStore) -> FastAPI:
    app = FastAPI()
    declare(mode).persisted(store).mount(app)
    return app


async def test_an_approval_in_a_workflow_is_given_in_another_worker(model: RecordingModel) -> None:
    store = MemoryStore()
    mode = scoped(lambda: make_workflow(model, tools=[lookup]))
    async with client_of(worker(mode, store)) as first, client_of(worker(mode, store)) as second:
        asked = await first.say("alice", "A", "call:lookup")
        answer = await second.resume("alice", "A", asked.interrupt, {"approved": True})
        assert answer.last["type"] == "RUN_FINISHED", answer.body
        assert "42" in answer.body


async def test_an_approval_of_a_plain_agent_is_given_in_its_own_worker(
    model: RecordingModel,
) -> None:
    store = MemoryStore()
    mode = per_run(make_agent(model, tools=[lookup]), scope=current_user)
    async with client_of(worker(mode, store)) as first, client_of(worker(mode, store)) as second:
        asked = await first.say("alice", "A", "call:lookup")
        foreign = await second.resume("alice", "A", asked.interrupt, {"approved": True})
        assert foreign.last["type"] == "RUN_ERROR", "the framework keeps approvals in one process"
        answer = await first.resume("alice", "A", asked.interrupt, {"approved": True})
        assert answer.last["type"] == "RUN_FINISHED", answer.body


class Refusing(MemoryStore):
    """Loses every lease at the moment of the commit."""

    async def commit(self, lease: Any, document: bytes, *, release: bool) -> int:
        raise lease_lost()


async def test_a_run_that_is_not_committed_does_not_say_that_it_has_finished(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(worker(scoped(lambda: make_workflow(model)), Refusing())) as client:
        answer = await client.say("alice", "A", "hello")
    assert answer.status == 200
    assert [one for one in answer.types if one in {"RUN_FINISHED", "RUN_ERROR"}] == ["RUN_ERROR"]
    assert answer.last["code"] == "lease_lost"


async def test_a_run_that_fails_is_as_if_it_had_not_been(model: RecordingModel) -> None:
    store = MemoryStore()
    async with client_of(worker(scoped(lambda: make_workflow(model)), store)) as client:
        await client.say("alice", "A", "first")
        failed = await client.say("alice", "A", "explode")
        assert "RUN_ERROR" in failed.types
        assert "RUN_FINISHED" not in failed.types
        await client.say("alice", "A", "second")
    assert model.calls[-1].texts == ("user: first", "assistant: reply 1", "user: second")


async def test_a_message_that_was_committed_is_not_run_again(model: RecordingModel) -> None:
    store = MemoryStore()
    message = {"id": "m1", "role": "user", "content": "once"}
    body = {"thread_id": "A", "messages": [message]}
    async with client_of(worker(scoped(lambda: make_workflow(model)), store)) as client:
        first = await client.send("alice", body)
        again = await client.send("alice", body)
    assert first.last["type"] == again.last["type"] == "RUN_FINISHED"
    assert len(model.calls) == 1
    assert "reply 1" in again.body, "the stored transcript is the answer"


async def test_the_transcript_is_shown_in_another_worker(model: RecordingModel) -> None:
    store = MemoryStore()
    mode = scoped(lambda: make_workflow(model))
    async with client_of(worker(mode, store)) as first, client_of(worker(mode, store)) as second:
        for text in ("one", "two"):
            await first.say("alice", "A", text)
        shown = await second.send("alice", {"thread_id": "A", "messages": []})
        foreign = await second.send("bob", {"thread_id": "A", "messages": []})
    (snapshot,) = [event for event in shown.events if event["type"] == "MESSAGES_SNAPSHOT"]
    contents = [message["content"] for message in snapshot["messages"]]
    assert contents == ["one", "reply 1", "two", "reply 2"]
    assert "MESSAGES_SNAPSHOT" not in foreign.types
    assert len(model.calls) == 2


async def test_a_document_of_another_graph_is_refused_and_kept(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryStore()
    async with client_of(worker(scoped(lambda: make_workflow(model)), store)) as client:
        await client.say("alice", "A", "first")
    async with client_of(worker(scoped(asking_workflow), store)) as client:
        with caplog.at_level(logging.ERROR, "scoped_registration"):
            assert (await client.say("alice", "A", "second")).status == 500
        assert "[document_unreadable]" in caplog.text
    async with client_of(worker(scoped(lambda: make_workflow(model)), store)) as client:
        await client.say("alice", "A", "third")
    assert model.calls[-1].texts == ("user: first", "assistant: reply 1", "user: third")


def workflow_agent(model: RecordingModel) -> WorkflowAgent:
    return make_workflow(model).as_agent()


@pytest.mark.parametrize("make", [OwnRun, functional_agent, workflow_agent])
async def test_a_target_whose_state_no_document_holds_is_refused(
    make: Any, model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(worker(scoped(lambda: make(model)), MemoryStore())) as client:
        assert (await client.say("alice", "A", "hello")).status == 500
    assert "[option_unavailable]" in caplog.text


async def test_a_product_with_a_store_of_its_own_is_refused(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    def build() -> AgentFrameworkWorkflow:
        storage = InMemoryCheckpointStorage()
        return AgentFrameworkWorkflow(workflow=make_workflow(model), checkpoint_storage=storage)

    async with client_of(worker(scoped(build), MemoryStore())) as client:
        assert (await client.say("alice", "A", "hello")).status == 500
    assert "[store_already_configured]" in caplog.text


@pytest.mark.parametrize("option", ["snapshots", "checkpoints"])
def test_one_place_for_a_threads_state(option: str, model: RecordingModel) -> None:
    stores = {
        "snapshots": InMemoryAGUIThreadSnapshotStore(),
        "checkpoints": InMemoryCheckpointStorage(),
    }
    stage = declare(scoped(lambda: make_workflow(model))).persisted(MemoryStore())
    with pytest.raises(RegistrationError) as refused:
        getattr(stage, option)(stores[option]).mount(FastAPI())
    assert refused.value.code is ReasonCode.STORE_ALREADY_CONFIGURED


def test_an_instance_on_an_endpoint_is_not_persisted(model: RecordingModel) -> None:
    stage: Any = AGUIEndpointBuilder("home").isolation(SingleUser(make_workflow(model)))
    with pytest.raises(RegistrationError) as refused:
        stage.persisted(MemoryStore())
    assert refused.value.code is ReasonCode.OPTION_UNAVAILABLE


@pytest.mark.parametrize("wrong", [["a.b"], [1]])
def test_checkpoint_types_are_classes(wrong: Any, model: RecordingModel) -> None:
    stage = declare(scoped(lambda: make_workflow(model)))
    with pytest.raises(RegistrationError) as refused:
        stage.persisted(MemoryStore(), checkpoint_types=wrong)
    assert refused.value.code is ReasonCode.OPTION_INVALID


class Falsy(InMemoryAGUIThreadSnapshotStore):
    def __len__(self) -> int:
        return 0


def test_a_store_that_is_falsy_while_empty_is_a_second_one_too(model: RecordingModel) -> None:
    stage = declare(scoped(lambda: make_workflow(model))).persisted(MemoryStore())
    with pytest.raises(RegistrationError) as refused:
        stage.snapshots(Falsy()).mount(FastAPI())
    assert refused.value.code is ReasonCode.STORE_ALREADY_CONFIGURED


class Watched(MemoryStore):
    """Keeps the documents that are committed."""

    def __init__(self) -> None:
        super().__init__()
        self.documents: list[dict[str, Any]] = []

    async def commit(self, lease: Any, document: bytes, *, release: bool) -> int:
        self.documents.append(json.loads(document.partition(b"\n")[2]))
        return await super().commit(lease, document, release=release)


@pytest.mark.parametrize("kind", ["workflow", "agent"])
async def test_what_was_told_is_noted_once_and_of_workflows_alone(
    kind: str, model: RecordingModel
) -> None:
    store = Watched()
    make = make_workflow if kind == "workflow" else make_agent
    messages: list[dict[str, object]] = []
    async with client_of(worker(scoped(lambda: make(model)), store)) as client:
        for number in range(4):
            text = f"turn {number}"
            messages.append({"id": f"m{number}", "role": "user", "content": text})
            answer = await client.send("alice", {"thread_id": "A", "messages": messages})
            assert answer.last["type"] == "RUN_FINISHED", answer.body
    heard = [f"m{number}" for number in range(4)] if kind == "workflow" else []
    assert store.documents[-1]["heard"] == heard


@pytest.mark.parametrize("strange", [7, None])
async def test_an_id_that_is_no_text_is_none(strange: object, model: RecordingModel) -> None:
    message: dict[str, object] = {"id": strange, "role": "user", "content": "hello"}
    async with client_of(worker(scoped(lambda: make_workflow(model)), Watched())) as client:
        answer = await client.send("alice", {"thread_id": "A", "messages": [message]})
    assert answer.last["type"] == "RUN_FINISHED", answer.body
    assert model.calls[0].holds("hello")
