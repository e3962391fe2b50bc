"""The framework's endpoint stays the endpoint; our pool alone keeps instances."""

from __future__ import annotations

import copy
import gc
import inspect
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest
from ag_ui.core import BaseEvent
from agent_framework import InMemoryCheckpointStorage, Workflow, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI
from fastapi.routing import APIRoute
from typing_extensions import override

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, upstream
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    factory_of,
    make_agent,
    make_workflow,
)

THREADS = 50


def cached_by_the_framework() -> int:
    """Count what the framework's runners keep by thread, in all of this process."""
    gc.collect()
    # By their classes alone: other tests leave objects whose `__class__` raises.
    runners = [
        cast(AgentFrameworkWorkflow, found)
        for found in gc.get_objects()
        if issubclass(type(found), AgentFrameworkWorkflow)
    ]
    return sum(len(vars(runner)["_workflow_by_thread"]) for runner in runners)


async def talk_in_many_threads(app: FastAPI) -> None:
    async with client_of(app) as client:
        for number in range(THREADS):
            answer = await client.say("alice", f"thread-{number}", "hello")
            assert answer.types[-1] == "RUN_FINISHED", answer.body


async def test_the_frameworks_cache_stays_empty(model: RecordingModel) -> None:
    before = cached_by_the_framework()
    app = FastAPI()
    registration = (
        AGUIEndpointBuilder("support")
        .isolation(ScopedFactory(factory_of(model), scope=current_user))
        .pool(max_instances=10)
        .mount(app)
    )
    async with client_of(app) as client:
        for number in range(THREADS):
            await client.say("alice", f"thread-{number}", "hello")
        assert cached_by_the_framework() == before
        statistics = registration.statistics()
        assert (statistics.live, statistics.built, statistics.evicted) == (10, THREADS, 40)


async def test_a_runners_workflow_factory_is_served_from_the_pool(model: RecordingModel) -> None:
    built: list[str] = []

    def per_thread(thread_id: str) -> Workflow:
        built.append(thread_id)
        return make_workflow(model)

    runner = AgentFrameworkWorkflow(workflow_factory=per_thread)
    app = FastAPI()
    registration = AGUIEndpointBuilder("support").isolation(SingleUser(runner)).mount(app)
    await talk_in_many_threads(app)
    assert built == [f"thread-{number}" for number in range(THREADS)]
    assert vars(runner)["_workflow_by_thread"] == {}
    assert registration.statistics().built == THREADS
    assert "per_thread" in registration.describe().target, "the manifest names the user's factory"


async def test_control_the_raw_endpoint_keeps_one_for_each_thread(model: RecordingModel) -> None:
    runner = AgentFrameworkWorkflow(workflow_factory=lambda thread_id: make_workflow(model))
    app = FastAPI()
    add_agent_framework_fastapi_endpoint(app, runner, "/", single_user=True)
    await talk_in_many_threads(app)
    assert len(vars(runner)["_workflow_by_thread"]) == THREADS


async def test_the_stores_of_a_runner_with_a_factory_are_used(model: RecordingModel) -> None:
    snapshots, checkpoints = InMemoryAGUIThreadSnapshotStore(), InMemoryCheckpointStorage()
    runner = AgentFrameworkWorkflow(
        workflow_factory=lambda thread_id: WorkflowBuilder(
            name="desk", start_executor=make_agent(model)
        ).build(),
        snapshot_store=snapshots,
        checkpoint_storage=checkpoints,
    )
    app = FastAPI()
    AGUIEndpointBuilder("support").isolation(SingleUser(runner)).mount(app)
    async with client_of(app) as client:
        await client.say("alice", "A", "kept")
        assert "kept" in (await client.send("alice", {"thread_id": "A", "messages": []})).body
    assert await checkpoints.list_checkpoint_ids(workflow_name="desk")


class Emptyish(InMemoryAGUIThreadSnapshotStore):
    """A store that is falsy while it is empty, as a container is."""

    def __len__(self) -> int:
        return len(self._snapshots)


@pytest.mark.parametrize("shared", [False, True])
async def test_the_callers_runner_is_never_changed(shared: bool, model: RecordingModel) -> None:
    workflow_runner = AgentFrameworkWorkflow(workflow=make_workflow(model))
    agent_runner = AgentFrameworkAgent(make_workflow(model).as_agent())
    before = [copy.copy(vars(workflow_runner)), copy.copy(vars(agent_runner))]
    config = copy.copy(vars(agent_runner.config))
    snapshots = Emptyish()
    app = FastAPI()
    for path, runner in (("/workflow", workflow_runner), ("/agent", agent_runner)):
        mode: Any = (
            PersistentShared(runner, acknowledgement=acknowledge())
            if shared
            else SingleUser(runner)
        )
        stage = declare(mode, path[1:], path).snapshots(snapshots)
        if path == "/workflow":
            stage = stage.checkpoints(InMemoryCheckpointStorage())
        stage.mount(app)
    async with client_of(app) as client:
        for path in ("/workflow", "/agent"):
            assert (await client.say("alice", path, "hello", path)).types[-1] == "RUN_FINISHED"
    assert [vars(workflow_runner), vars(agent_runner)] == before
    assert vars(agent_runner.config) == config
    assert len(snapshots) == 2, "control: the store was used"


async def test_a_store_that_is_falsy_while_empty_is_a_store(model: RecordingModel) -> None:
    store = Emptyish()
    app = FastAPI()
    runner = AgentFrameworkWorkflow(workflow=make_workflow(model))
    AGUIEndpointBuilder("desk").isolation(SingleUser(runner)).snapshots(store).mount(app)
    async with client_of(app) as client:
        await client.say("alice", "A", "hello")
    assert len(store) == 1


class Wrapping(AgentFrameworkWorkflow):
    """A runner whose `run` adds to the framework's own."""

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        async for event in super().run(input_data):
            yield event


async def test_a_runner_that_wraps_run_is_used_as_it_is(model: RecordingModel) -> None:
    app = FastAPI()
    runner = Wrapping(workflow=make_workflow(model))
    AGUIEndpointBuilder("desk").isolation(SingleUser(runner)).mount(app)
    async with client_of(app) as client:
        assert (await client.say("alice", "A", "hello")).text == "reply 1"


def test_the_private_names_of_the_framework_exist(model: RecordingModel) -> None:
    def factory(thread_id: str) -> Workflow:
        return make_workflow(model)

    assert upstream.workflow_factory_of(AgentFrameworkWorkflow(workflow_factory=factory)) is factory
    assert upstream.workflow_factory_of(AgentFrameworkWorkflow()) is None
    storage = InMemoryCheckpointStorage()
    agent = make_agent(model)
    keeping = WorkflowBuilder(start_executor=agent, checkpoint_storage=storage).build()
    assert upstream.built_in_checkpoints_of(keeping) is storage
    assert upstream.built_in_checkpoints_of(make_workflow(model)) is None
    assert "_workflow_by_thread" in vars(AgentFrameworkWorkflow())


def test_the_body_of_the_endpoint_has_the_name_we_use(model: RecordingModel) -> None:
    app = FastAPI()
    add_agent_framework_fastapi_endpoint(app, make_agent(model), "/", single_user=True)
    route = next(route for route in app.routes if getattr(route, "path", None) == "/")
    assert isinstance(route, APIRoute)
    body = inspect.signature(route.endpoint, eval_str=True).parameters[upstream.BODY_PARAMETER]
    assert body.annotation is upstream.AGUIRequest
