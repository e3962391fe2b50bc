"""A detached run goes on when its client has left, within its bounds (P4, P7, P8)."""

from __future__ import annotations

import asyncio

import pytest
from agent_framework import (
    InMemoryCheckpointStorage,
    Workflow,
)
from agent_framework_ag_ui import InMemoryAGUIThreadSnapshotStore
from fastapi import FastAPI

from scoped_registration import (
    ScopeContext,
    ScopedFactory,
)
from scoped_registration.integrations.agent_framework.detached import DetachedRuns
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    current_user,
    declare,
    served,
    until,
)
from tests.integrations.agent_framework.samples import asking_workflow
from tests.integrations.agent_framework.working import (
    MODES,
    Work,
    is_free,
    leave_at_work,
)

# What goes on


@pytest.mark.parametrize("mode", MODES)
async def test_p4_the_run_goes_on_and_the_next_one_waits(
    mode: str, model: RecordingModel, work: Work, made: list[DetachedRuns]
) -> None:
    app, store = FastAPI(), InMemoryAGUIThreadSnapshotStore()
    stage = declare(MODES[mode](model, work)).snapshots(store)
    storage = InMemoryCheckpointStorage()
    if mode not in ("agent", "per_run"):
        stage = stage.checkpoints(storage)
    registration = stage.detached().mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
        await until(lambda: len(made[0].alone) == 1)
        next_one = asyncio.create_task(server.client.say("alice", "A", "and now"))
        await until(lambda: registration.statistics().waiting == 1)
        assert (registration.statistics().leased, work.log) == (1, ["begun"])
        work.may_end.set()
        answer = await next_one
        assert answer.types[-1] == "RUN_FINISHED", answer.body
        assert work.log == ["begun", "done"]
        *_, after_the_tool, next_call = model.calls
        assert "tool" in after_the_tool.texts[-1]
        assert next_call.holds("call:work"), "the thread knows of the run that nobody read"
        assert next_call.holds("reply 2")
        await until(is_free(registration))
        hydrated = await server.client.send("alice", {"thread_id": "A", "messages": []})
        assert "reply 2" in hydrated.body, "the transcript of the run that nobody read was kept"
        assert hydrated.body.index("reply 2") < hydrated.body.index("reply 3")
        if mode not in ("agent", "per_run"):
            assert await storage.list_checkpoint_ids(workflow_name="working")
        assert registration.statistics().built <= 1
    assert not made[0].running
    assert not made[0].alone


@pytest.mark.parametrize("mode", MODES)
async def test_control_without_it_the_run_ends_with_its_client(
    mode: str, model: RecordingModel, work: Work
) -> None:
    app, store = FastAPI(), InMemoryAGUIThreadSnapshotStore()
    registration = declare(MODES[mode](model, work)).snapshots(store).mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
        await until(is_free(registration))
        assert work.log == ["begun", "cancelled"]
        assert len(model.calls) == 1
        hydrated = await server.client.send("alice", {"thread_id": "A", "messages": []})
        assert "reply" not in hydrated.body


async def test_p6_a_thread_whose_run_goes_on_is_busy(model: RecordingModel, work: Work) -> None:
    app = FastAPI()
    stage = declare(MODES["workflow"](model, work)).concurrency("reject").detached()
    registration = stage.mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
        busy = await server.client.say("alice", "A", "and now")
        assert (busy.status, "thread_busy" in busy.body) == (409, True)
        for user, thread in (("alice", "B"), ("bob", "A")):
            assert (await server.client.say(user, thread, "hello")).status == 200
        work.may_end.set()
        await until(is_free(registration))
        assert (await server.client.say("alice", "A", "and now")).types[-1] == "RUN_FINISHED"


async def test_p4_a_question_asked_when_nobody_read_is_kept_for_its_owner(
    model: RecordingModel,
) -> None:
    may_build = asyncio.Event()

    async def build(context: ScopeContext[str]) -> Workflow:
        await may_build.wait()
        return asking_workflow()

    app = FastAPI()
    stage = declare(ScopedFactory(build, scope=current_user)).pool(idle_ttl=0.05)
    stage = stage.snapshots(InMemoryAGUIThreadSnapshotStore())
    registration = stage.detached().mount(app)
    may_build.set()
    async with served(app) as server:

        async def started(received: bytes) -> bool:
            return b"RUN_STARTED" in received

        await server.hang_up("alice", "A", "delete", after=started)
        await until(is_free(registration))
        assert registration.statistics().pinned == 1
        hydrated = await server.client.send("alice", {"thread_id": "A", "messages": []})
        his = await server.client.send("bob", {"thread_id": "A", "messages": []})
        assert "outcome" not in his.last
        assert (await server.client.resume("alice", "A", hydrated.interrupt, "yes")).text == (
            "delete: yes"
        )


# Its bounds


@pytest.mark.parametrize("mode", ["workflow", "per_run"])
async def test_p7_one_principal_has_its_share_and_another_is_served(
    mode: str, model: RecordingModel, work: Work, made: list[DetachedRuns]
) -> None:
    app = FastAPI()
    stage = declare(MODES[mode](model, work)).detached(max_runs=4, max_runs_per_scope=2)
    registration = stage.mount(app)
    async with served(app) as server:
        for thread in ("A", "B"):
            await leave_at_work(server, work, thread)
        response = await server.client.http.post(
            "/", headers={"x-user": "alice"}, json={"thread_id": "C", "messages": []}
        )
        assert response.status_code == 503
        assert response.json()["detail"]["code"] == "detached_runs_full"
        assert response.headers["retry-after"]
        assert registration.statistics().leased == 2
        assert (await server.client.say("bob", "A", "hello")).types[-1] == "RUN_FINISHED"
        work.may_end.set()
        await until(is_free(registration))
        assert (await server.client.say("alice", "C", "hello")).types[-1] == "RUN_FINISHED"
    assert not made[0].running


@pytest.mark.parametrize("mode", MODES)
async def test_p7_an_endpoint_has_its_bound(mode: str, model: RecordingModel, work: Work) -> None:
    app = FastAPI()
    registration = declare(MODES[mode](model, work)).detached(max_runs=1).mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
        for user, thread in (("bob", "B"), ("alice", "A")):
            refused = await server.client.say(user, thread, "hello")
            assert (refused.status, "detached_runs_full" in refused.body) == (503, True)
        assert len(model.calls) == 1
        work.may_end.set()
        await until(is_free(registration))
        assert (await server.client.say("bob", "B", "hello")).types[-1] == "RUN_FINISHED"


@pytest.mark.parametrize("mode", ["workflow", "per_run"])
async def test_a_request_for_the_transcript_is_not_counted(
    mode: str, model: RecordingModel, work: Work
) -> None:
    app = FastAPI()
    stage = declare(MODES[mode](model, work)).detached(max_runs=1)
    registration = stage.snapshots(InMemoryAGUIThreadSnapshotStore()).mount(app)
    async with served(app) as server:
        await server.client.say("bob", "B", "SECRET-bob")
        await leave_at_work(server, work)
        hydrated = await server.client.send("bob", {"thread_id": "B", "messages": []})
        assert hydrated.types[-1] == "RUN_FINISHED"
        assert "SECRET-bob" in hydrated.body
        assert (await server.client.say("bob", "B", "hello")).status == 503, "control"
        work.may_end.set()
        await until(is_free(registration))


async def test_who_is_refused_is_not_counted(
    model: RecordingModel, work: Work, made: list[DetachedRuns]
) -> None:
    app = FastAPI()
    stage = declare(MODES["workflow"](model, work)).concurrency("reject")
    stage.detached(max_runs=2, max_runs_per_scope=None).mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
        for _ in range(3):
            assert (await server.client.say("alice", "A", "and now")).status == 409
        assert made[0].running.total() == 1
        assert (await server.client.say("bob", "B", "hello")).status == 200
        work.may_end.set()


async def test_p7_its_time_is_bounded(
    model: RecordingModel, work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    registration = declare(MODES["workflow"](model, work)).detached(timeout=0.05).mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
        await until(is_free(registration))
        assert work.log == ["begun", "cancelled"]
        assert "a detached run took too long" in caplog.text
        assert (await server.client.say("alice", "A", "and now")).types[-1] == "RUN_FINISHED"


async def test_the_time_begins_when_the_client_has_left(model: RecordingModel, work: Work) -> None:
    """A run with a reader outlasts it: as many keepalives come as the time holds, and more."""
    app = FastAPI()
    stage = declare(MODES["workflow"](model, work)).options(keepalive=0.01)
    registration = stage.detached(timeout=0.02).mount(app)
    async with served(app) as server:

        async def kept(received: bytes) -> bool:
            return received.count(b": keepalive") >= 5

        await server.hang_up("alice", "A", "call:work", after=kept)
        assert work.log == ["begun"]
        await until(is_free(registration))
        assert work.log == ["begun", "cancelled"], "control"
