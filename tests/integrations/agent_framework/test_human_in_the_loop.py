"""A pending question belongs to (registration, scope, thread), and to nobody else (P2, P4)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AGUIThreadSnapshot,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import PersistentShared
from tests.integrations.agent_framework.asking import (
    AGENTS,
    UNKNOWN,
    WAYS,
    WORKFLOWS,
    Way,
    Wipe,
    approve,
    cancel,
    others,
    question_in,
    resume,
    said,
)
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    make_agent,
    served,
    until,
)
from tests.integrations.agent_framework.samples import asking_workflow
from tests.integrations.agent_framework.streams import problems_of


def ways(mode: str) -> list[Any]:
    return [pytest.param(mode, way, id=f"{mode}-{way.__name__}") for way in WAYS]


def of_all(modes: Any) -> list[Any]:
    return [each for mode in modes for each in ways(mode)]


@pytest.mark.parametrize(("mode", "way"), of_all(WORKFLOWS))
async def test_p2_anothers_question_is_answered_for_as_an_unknown_one(mode: str, way: Way) -> None:
    app = FastAPI()
    declare(WORKFLOWS[mode]()).mount(app)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        for user, thread in others(mode):
            # Whoever asks for the unknown one is in the same position, and as new there.
            nobody = ("carol", thread) if user == "bob" else (user, "C")
            tried = await way(client, user, thread, question)
            none = await way(client, *nobody, UNKNOWN)
            assert said(tried, question).replace('"B"', '"C"') == said(none).replace('"B"', '"C"')
            assert "delete" not in tried.body
            assert problems_of(tried) == []
        mine = await client.resume("alice", "A", question, "yes")
        assert mine.text == "delete: yes", "control: the owner's question was still open"
        assert problems_of(mine) == []


@pytest.mark.parametrize(("mode", "way"), of_all(AGENTS))
async def test_p2_anothers_approval_is_answered_for_as_an_unknown_one(
    mode: str, way: Way, model: RecordingModel
) -> None:
    app, wipe = FastAPI(), Wipe()
    declare(AGENTS[mode](model, wipe)).mount(app)
    async with client_of(app) as client:
        asked = await client.say("alice", "A", "call:wipe")
        call = next(event["toolCallId"] for event in asked.events if "toolCallId" in event)
        for named in (asked.interrupt, call):
            for user, thread in others(mode):
                nobody = ("carol", thread) if user == "bob" else (user, "C")
                tried = await way(client, user, thread, named)
                none = await way(client, *nobody, UNKNOWN)
                assert said(tried, named).replace('"B"', '"C"') == said(none).replace('"B"', '"C"')
                assert wipe.times == 0
                assert problems_of(tried, answers=[named]) == []
        mine = await approve(client, "alice", "A", asked.interrupt)
        assert mine.types[-1] == "RUN_FINISHED", mine.body
        assert wipe.times == 1, "control: the owner's approval was still pending"
        assert problems_of(mine, answers=[call]) == []


@pytest.mark.parametrize("mode", WORKFLOWS)
async def test_an_answer_counts_once(mode: str) -> None:
    app = FastAPI()
    registration = declare(WORKFLOWS[mode]()).mount(app)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        assert (await resume(client, "alice", "A", question)).text == "delete: yes"
        again = await resume(client, "alice", "A", question)
        unknown = await resume(client, "alice", "A", UNKNOWN)
        assert said(again, question) == said(unknown)
        assert again.types == ["RUN_STARTED", "RUN_ERROR"]
        assert registration.statistics().pinned == 0


@pytest.mark.parametrize("mode", AGENTS)
async def test_an_approval_counts_once(mode: str, model: RecordingModel) -> None:
    app, wipe = FastAPI(), Wipe()
    registration = declare(AGENTS[mode](model, wipe)).mount(app)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "call:wipe")).interrupt
        for _ in range(3):
            await approve(client, "alice", "A", question)
        assert (wipe.times, registration.statistics().pinned) == (1, 0)


@pytest.mark.parametrize("mode", [*WORKFLOWS, *AGENTS])
async def test_the_owner_may_take_it_back(mode: str, model: RecordingModel) -> None:
    app, wipe = FastAPI(), Wipe()
    made = WORKFLOWS[mode]() if mode in WORKFLOWS else AGENTS[mode](model, wipe)
    registration = declare(made).mount(app)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "call:wipe")).interrupt
        assert registration.statistics().pinned == 1
        cancelled = await cancel(client, "alice", "A", question)
        assert problems_of(cancelled) == []
        assert registration.statistics().pinned == 0, "what nobody is asked keeps nothing"
        late = await approve(client, "alice", "A", question)
        assert (late.types[-1], wipe.times) == ("RUN_ERROR", 0)
        assert (await client.say("alice", "A", "and now")).types[-1] == "RUN_FINISHED"


@pytest.mark.parametrize("mode", [*WORKFLOWS, *AGENTS])
async def test_new_input_does_not_pass_an_open_question(mode: str, model: RecordingModel) -> None:
    app, wipe = FastAPI(), Wipe()
    made = WORKFLOWS[mode]() if mode in WORKFLOWS else AGENTS[mode](model, wipe)
    registration = declare(made).mount(app)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "call:wipe")).interrupt
        passed = await client.say("alice", "A", "something else")
        assert passed.last["code"] in {"WORKFLOW_RESUME_REQUIRED", "APPROVAL_RESUME_REQUIRED"}
        assert problems_of(passed) == []
        assert registration.statistics().pinned == 1
        reply = approve if mode in AGENTS else resume
        assert (await reply(client, "alice", "A", question)).types[-1] == "RUN_FINISHED"


@pytest.mark.parametrize("mode", WORKFLOWS)
async def test_a_disconnect_leaves_it_with_its_owner(mode: str) -> None:
    app = FastAPI()
    registration = declare(WORKFLOWS[mode]()).mount(app)
    async with served(app) as server:

        async def asked(received: bytes) -> bool:
            return question_in(received) != ""

        received = await server.hang_up("alice", "A", "delete", after=asked)
        await until(lambda: registration.statistics().leased == 0)
        question = question_in(received)
        for user, thread in others(mode):
            tried = await resume(server.client, user, thread, question)
            assert tried.types == ["RUN_STARTED", "RUN_ERROR"]
        assert (await resume(server.client, "alice", "A", question)).text == "delete: yes"


async def test_control_without_access_who_knows_the_thread_may_answer() -> None:
    app = FastAPI()
    declare(PersistentShared(asking_workflow(), acknowledgement=acknowledge())).mount(app)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        assert (await resume(client, "bob", "A", question)).text == "delete: yes"


# How long it is kept
KEPT = [mode for mode in (*WORKFLOWS, *AGENTS) if mode != "shared"]


@pytest.mark.parametrize("mode", KEPT)
async def test_p4_an_open_question_outlives_idle_time(mode: str, model: RecordingModel) -> None:
    app, wipe = FastAPI(), Wipe()
    made = WORKFLOWS[mode]() if mode in WORKFLOWS else AGENTS[mode](model, wipe)
    registration = declare(made).pool(idle_ttl=0.05).mount(app)
    reply = approve if mode in AGENTS else resume
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "call:wipe")).interrupt
        other = (await client.say("alice", "B", "call:wipe")).interrupt
        await reply(client, "alice", "B", other)
        await until(lambda: registration.statistics().live == 1)  # control: the other is gone
        answer = await reply(client, "alice", "A", question)
        assert answer.types[-1] == "RUN_FINISHED", answer.body
        assert wipe.times == (2 if mode in AGENTS else 0)
        await until(lambda: registration.statistics().live == 0)  # answered: it may go


@pytest.mark.parametrize("mode", KEPT)
async def test_p4_an_open_question_is_not_evicted_for_another(
    mode: str, model: RecordingModel
) -> None:
    app, wipe = FastAPI(), Wipe()
    made = WORKFLOWS[mode]() if mode in WORKFLOWS else AGENTS[mode](model, wipe)
    stage = declare(made).pool(max_instances=1).concurrency("queue", wait_timeout=0.05)
    registration = stage.mount(app)
    reply = approve if mode in AGENTS else resume
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "call:wipe")).interrupt
        assert (await client.say("alice", "B", "hello")).status == 503
        assert (await reply(client, "alice", "A", question)).types[-1] == "RUN_FINISHED"
        assert (await client.say("alice", "B", "hello")).status == 200, "control: it may go now"
        assert registration.statistics().evicted == 1


@pytest.mark.parametrize("mode", KEPT)
async def test_p7_a_question_that_was_kept_too_long_is_unknown(
    mode: str, model: RecordingModel
) -> None:
    app, wipe = FastAPI(), Wipe()
    made = WORKFLOWS[mode]() if mode in WORKFLOWS else AGENTS[mode](model, wipe)
    registration = declare(made).pool(idle_ttl=0.05, pin_ttl=0.1).mount(app)
    reply = approve if mode in AGENTS else resume
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "call:wipe")).interrupt
        await until(lambda: registration.statistics().live == 0)
        late = await reply(client, "alice", "A", question)
        unknown = await reply(client, "alice", "A", UNKNOWN)
        assert said(late, question) == said(unknown)
        assert (late.types[-1], wipe.times) == ("RUN_ERROR", 0)
        assert registration.statistics().pinned == 0


class Slow(InMemoryAGUIThreadSnapshotStore):
    """A store that does not come to saving when it is told to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.may_save = asyncio.Event()
        self.may_save.set()

    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        await self.may_save.wait()
        await super().save(scope=scope, thread_id=thread_id, snapshot=snapshot)


async def test_p4_a_transcript_that_does_not_know_of_it_lets_it_not_go() -> None:
    """A client that was cut off asks for its transcript, which is older than the question."""
    app, store = FastAPI(), Slow()
    stage = declare(WORKFLOWS["scoped"]()).pool(idle_ttl=0.05)
    registration = stage.snapshots(store).mount(app)
    async with served(app) as server:
        client = server.client
        first = (await client.say("alice", "A", "first")).interrupt
        await resume(client, "alice", "A", first)
        store.may_save.clear()

        async def asked(received: bytes) -> bool:
            return question_in(received) != ""

        received = await server.hang_up("alice", "A", "second", after=asked)
        await until(lambda: registration.statistics().leased == 0)
        store.may_save.set()
        hydrated = await client.send("alice", {"thread_id": "A", "messages": []})
        assert "outcome" not in hydrated.last, "control: the transcript does not know"
        assert registration.statistics().pinned == 1
        question = question_in(received)
        assert (await resume(client, "alice", "A", question)).text == "second: yes"


async def test_p7_a_transcript_alone_keeps_no_instance() -> None:
    app = FastAPI()
    stage = declare(WORKFLOWS["scoped"]()).pool(idle_ttl=0.05)
    registration = stage.snapshots(InMemoryAGUIThreadSnapshotStore()).mount(app)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        registration.invalidate(scope="alice")
        hydrated = await client.send("alice", {"thread_id": "A", "messages": []})
        assert hydrated.interrupt == question, "control: the transcript tells of a question"
        assert registration.statistics().pinned == 0, "nobody waits for its answer any more"
        await until(lambda: registration.statistics().live == 0)


async def test_control_one_runner_for_all_asks_alike_on_the_raw_helper(
    model: RecordingModel,
) -> None:
    """What `per_run` gives each key, the framework keys by scope and thread in one runner."""
    app, wipe = FastAPI(), Wipe()
    runner = AgentFrameworkAgent(make_agent(model, tools=[wipe.tool]))
    add_agent_framework_fastapi_endpoint(
        app, runner, "/", authorization_scope_resolver=current_user
    )
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "call:wipe")).interrupt
        tried = await approve(client, "bob", "A", question)
        assert (tried.last["code"], wipe.times) == ("APPROVAL_RESUME_NOT_FOUND", 0)
        await approve(client, "alice", "A", question)
        assert wipe.times == 1
