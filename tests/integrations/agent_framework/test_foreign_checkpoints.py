"""Somebody else's checkpoint is answered for as one that does not exist (P2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from ag_ui.core import BaseEvent
from agent_framework import (
    CheckpointStorage,
    InMemoryCheckpointStorage,
    Workflow,
    WorkflowBuilder,
    WorkflowCheckpoint,
)
from agent_framework_ag_ui import AgentFrameworkWorkflow, add_agent_framework_fastapi_endpoint
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from tests.integrations.agent_framework.asking import UNKNOWN, others, said
from tests.integrations.agent_framework.kit import (
    Answer,
    Client,
    acknowledge,
    client_of,
    current_user,
    declare,
)
from tests.integrations.agent_framework.samples import Ask, asking_workflow
from tests.integrations.agent_framework.streams import problems_of


def built_with(storage: CheckpointStorage) -> Workflow:
    return WorkflowBuilder(name="asking", start_executor=Ask(), checkpoint_storage=storage).build()


class Passing(AgentFrameworkWorkflow):
    """A runner with a run of its own, whatever it does there."""

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        async for event in super().run(input_data):
            yield event


def scoped(build: Callable[[], Any], storage: CheckpointStorage) -> Any:
    return declare(ScopedFactory(lambda context: build(), scope=current_user, shares=[storage]))


# Where the storage comes from.
KINDS: dict[str, Callable[[CheckpointStorage], Any]] = {
    "declared": lambda storage: scoped(asking_workflow, storage).checkpoints(storage),
    "of a runner": lambda storage: scoped(
        lambda: AgentFrameworkWorkflow(workflow=asking_workflow(), checkpoint_storage=storage),
        storage,
    ),
    "built in": lambda storage: scoped(lambda: built_with(storage), storage),
    "built in by a runner's factory": lambda storage: scoped(
        lambda: AgentFrameworkWorkflow(workflow_factory=lambda thread_id: built_with(storage)),
        storage,
    ),
    "of a runner with its own run": lambda storage: scoped(
        lambda: Passing(workflow=asking_workflow(), checkpoint_storage=storage), storage
    ),
    "built in, with its own run": lambda storage: scoped(
        lambda: Passing(workflow=built_with(storage)), storage
    ),
    "per thread": lambda storage: declare(
        SingleUser.per_thread(lambda context: asking_workflow())
    ).checkpoints(storage),
    "single user": lambda storage: declare(SingleUser(asking_workflow())).checkpoints(storage),
    "shared": lambda storage: declare(
        PersistentShared(built_with(storage), acknowledgement=acknowledge(), access=current_user)
    ),
}
# The runner's own code alone knows these: that it failed is seen, and not with what.
OUT_OF_SIGHT = {
    "built in by a runner's factory",
    "of a runner with its own run",
    "built in, with its own run",
}


def who(kind: str) -> list[tuple[str, str]]:
    return others("per thread" if kind == "single user" else kind)


async def restore(
    client: Client, user: str, thread: str, checkpoint: str, **more: object
) -> Answer:
    return await client.send(
        user,
        {
            "thread_id": thread,
            "run_id": "the-run",
            "messages": [],
            "forwarded_props": {"checkpoint_id": checkpoint},
            **more,
        },
    )


async def asked(client: Client, storage: CheckpointStorage) -> tuple[str, str]:
    """Let alice be asked in thread A; return the checkpoint and the question."""
    question = (await client.say("alice", "A", "SECRET-alice")).interrupt
    latest = await storage.get_latest(workflow_name="asking")
    assert latest is not None
    return latest.checkpoint_id, question


@pytest.mark.parametrize("answering", [False, True], ids=["restored", "answered"])
@pytest.mark.parametrize("kind", KINDS)
async def test_p2_a_foreign_checkpoint_is_as_good_as_an_unknown_one(
    kind: str, answering: bool
) -> None:
    storage, app = InMemoryCheckpointStorage(), FastAPI()
    KINDS[kind](storage).mount(app)
    async with client_of(app) as client:
        checkpoint, question = await asked(client, storage)
        entry = {"interruptId": question, "status": "resolved", "payload": "yes"}
        more: dict[str, object] = {"resume": [entry]} if answering else {}
        for user, thread in who(kind):
            tried = await restore(client, user, thread, checkpoint, **more)
            unknown = await restore(client, user, thread, UNKNOWN, **more)
            assert said(tried, checkpoint) == said(unknown)
            assert tried.types == ["RUN_STARTED", "RUN_ERROR"]
            assert "SECRET" not in tried.body
            assert problems_of(tried) == []
        done = await client.resume("alice", "A", question, "yes")
        assert done.text == "SECRET-alice: yes", "control: it is hers"


@pytest.mark.parametrize("kind", ["declared", "built in", "built in, with its own run"])
async def test_control_the_owner_comes_back_to_a_checkpoint(kind: str) -> None:
    storage, app = InMemoryCheckpointStorage(), FastAPI()
    registration = KINDS[kind](storage).mount(app)
    async with client_of(app) as client:
        checkpoint, question = await asked(client, storage)
        registration.invalidate(scope="alice")
        restored = await restore(client, "alice", "A", checkpoint)
        assert restored.interrupt == question
        assert (await client.resume("alice", "A", question, "yes")).text == "SECRET-alice: yes"


async def test_control_the_raw_helper_tells_them_apart() -> None:
    storage, app = InMemoryCheckpointStorage(), FastAPI()
    runner = AgentFrameworkWorkflow(workflow_factory=lambda thread_id: asking_workflow())
    add_agent_framework_fastapi_endpoint(
        app,
        runner,
        "/",
        checkpoint_storage=storage,
        authorization_scope_resolver=current_user,
    )
    async with client_of(app) as client:
        checkpoint, _ = await asked(client, storage)
        tried = await restore(client, "bob", "A", checkpoint)
        unknown = await restore(client, "bob", "A", UNKNOWN)
    assert said(tried, checkpoint) != said(unknown)


class Failing(InMemoryCheckpointStorage):
    """Cannot be read."""

    @override
    async def load(self, checkpoint_id: str) -> WorkflowCheckpoint:
        raise OSError("disk of alice, at /srv/checkpoints")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_storage_that_fails_is_logged_and_answered_for_alike(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    failing, app = Failing(), FastAPI()
    KINDS[kind](failing).mount(app)
    async with client_of(app) as client:
        checkpoint, _ = await asked(client, failing)
        answers = [
            said(await restore(client, "alice", "B", each), each) for each in (checkpoint, UNKNOWN)
        ]
    assert answers[0] == answers[1]
    assert "WORKFLOW_RESUME_NOT_FOUND" in answers[0]
    assert "disk" not in answers[0]
    ours = [one for one in caplog.records if one.name.startswith("scoped_registration")]
    told = [one.getMessage() for one in ours if "checkpoint" in one.getMessage()]
    assert any("support" in each for each in told), caplog.text
    if kind not in OUT_OF_SIGHT:
        assert any("OSError" in each for each in told)
    assert not any("alice" in each for each in told)
