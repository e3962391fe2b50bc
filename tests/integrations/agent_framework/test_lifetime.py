"""A lease lives as long as its response; a pending question keeps its instance."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from ag_ui.core import BaseEvent, RunStartedEvent
from agent_framework import Workflow
from agent_framework_ag_ui import AgentFrameworkWorkflow
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import ScopeContext, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.integrations.agent_framework.endpoint import Endpoint
from scoped_registration.integrations.agent_framework.runners import Fittings
from scoped_registration.registration import ScopedRegistration
from tests.integrations.agent_framework.kit import (
    HANG,
    Answer,
    Client,
    RecordingModel,
    client_of,
    current_user,
    declare,
    factory_of,
    make_agent,
    make_workflow,
    served,
    until,
)
from tests.integrations.agent_framework.samples import asking_workflow

KINDS: dict[str, Callable[[RecordingModel], Any]] = {
    "workflow": lambda model: ScopedFactory(factory_of(model), scope=current_user),
    "workflow agent": lambda model: ScopedFactory(
        lambda context: make_workflow(model).as_agent(), scope=current_user
    ),
    "agent": lambda model: ScopedFactory(lambda context: make_agent(model), scope=current_user),
    "per_run": lambda model: per_run(make_agent(model), scope=current_user),
}


def is_free(registration: Any) -> Callable[[], bool]:
    return lambda: registration.statistics().leased == 0


@pytest.mark.parametrize("kind", KINDS)
async def test_a_client_that_leaves_mid_stream(kind: str, model: RecordingModel) -> None:
    app = FastAPI()
    stage = declare(KINDS[kind](model))
    registration = stage.mount(app)
    async with served(app) as server:
        model.block(on="hold", after_speaking=True)

        async def streaming(received: bytes) -> bool:
            return b"one moment" in received

        await server.hang_up("alice", "A", "hold", after=streaming)
        await until(is_free(registration))
        assert not model.gate.is_set(), "the run ended because its client left"
        answer = await server.client.say("alice", "A", "and now")
        assert answer.types[-1] == "RUN_FINISHED", answer.body
        assert model.calls[-1].holds("and now")
        assert answer.text == f"reply {len(model.calls)}"
        await until(is_free(registration))
        statistics = registration.statistics()
        assert (statistics.waiting, statistics.live) == (0, 1)
        # The framework's workflow agent never runs a workflow again that was left unfinished.
        assert statistics.built == (2 if kind == "workflow agent" else 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_thread_whose_run_failed_is_served_again(
    kind: str, model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    stage = declare(KINDS[kind](model))
    registration = stage.mount(app)
    async with client_of(app) as client:
        failed = await client.say("alice", "A", "explode")
        assert failed.types.count("RUN_ERROR") == 1
        assert "RUN_FINISHED" not in failed.types
        again = await client.say("alice", "A", "and now")
        assert again.types[-1] == "RUN_FINISHED", again.body
        assert registration.statistics().leased == 0
    assert "did not end properly" not in caplog.text, "what the client was told is not told twice"


async def test_a_single_users_spent_instance_is_given_up(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    mode = SingleUser.per_thread(lambda context: make_workflow(model).as_agent())
    registration = declare(mode).mount(app)
    async with client_of(app) as client:
        await client.say("me", "A", "explode")
        assert "begins with a new instance" in caplog.text
        assert (await client.say("me", "A", "and now")).types[-1] == "RUN_FINISHED"
        assert registration.statistics().built == 2


class Unwinding(AgentFrameworkWorkflow):
    """Its run fails while it ends."""

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        yield RunStartedEvent(run_id="run", thread_id=input_data["thread_id"])
        try:
            await asyncio.Event().wait()
        finally:
            raise LookupError("alice left")


async def test_a_run_that_fails_while_it_ends_frees_its_instance(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = FastAPI()
    mode = ScopedFactory(lambda context: Unwinding(), scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with served(app) as server:

        async def started(received: bytes) -> bool:
            return b"RUN_STARTED" in received

        await server.hang_up("alice", "A", "hello", after=started)
        await until(is_free(registration))
    assert "a run did not end properly: LookupError" in caplog.text
    assert "alice" not in caplog.text


async def test_a_run_is_started_by_its_request_alone() -> None:
    with pytest.raises(RuntimeError, match="without being admitted"):
        Endpoint(Fittings(registration="support")).run({"thread_id": "A", "messages": []})


async def test_a_client_that_leaves_while_its_instance_is_built(model: RecordingModel) -> None:
    building, go_on = asyncio.Event(), asyncio.Event()

    async def build(context: ScopeContext[str]) -> Workflow:
        building.set()
        await go_on.wait()
        return make_workflow(model)

    app = FastAPI()
    mode = ScopedFactory(build, scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with served(app) as server:

        async def started(received: bytes) -> bool:
            await building.wait()
            return True

        assert await server.hang_up("alice", "A", "hello", after=started) == b""
        go_on.set()
        await until(lambda: registration.statistics().live == 1)
        await until(is_free(registration))
        answer = await server.client.say("alice", "A", "and now")
        assert answer.types[-1] == "RUN_FINISHED"
        assert registration.statistics().built == 1


async def test_a_client_that_leaves_the_queue(model: RecordingModel) -> None:
    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with served(app) as server:

        async def queued(received: bytes) -> bool:
            await until(lambda: registration.statistics().waiting == 1)
            return True

        async with registration.lease("alice", "A"):
            await server.hang_up("alice", "A", "hello", after=queued)
        await until(lambda: registration.statistics().waiting == 0)
        await until(is_free(registration))
        answer = await server.client.say("alice", "A", "and now")
        assert answer.types[-1] == "RUN_FINISHED"


def asking(**bounds: Any) -> tuple[FastAPI, ScopedRegistration[Workflow, str]]:
    app = FastAPI()
    mode = ScopedFactory(lambda context: asking_workflow(), scope=current_user)
    stage = AGUIEndpointBuilder("support").isolation(mode).pool(**bounds)
    return app, stage.concurrency("queue", wait_timeout=0.05).mount(app)


async def test_a_pending_question_outlives_the_idle_time() -> None:
    app, registration = asking(idle_ttl=0.05)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        assert registration.statistics().pinned == 1
        other = (await client.say("bob", "B", "delete")).interrupt
        assert (await client.resume("bob", "B", other, "no")).text == "delete: no"
        await until(lambda: registration.statistics().live == 1)  # control: the idle one is gone
        assert (await client.resume("alice", "A", question, "yes")).text == "delete: yes"
        assert registration.statistics().pinned == 0
        await until(lambda: registration.statistics().live == 0)  # answered: it may go


async def test_a_pending_question_is_not_evicted_to_make_room() -> None:
    app, registration = asking(max_instances=1)
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        full = await client.say("bob", "B", "delete")
        assert full.status == 503
        assert json.loads(full.body)["detail"]["code"] == "pool_full"
        assert (await client.resume("alice", "A", question, "yes")).text == "delete: yes"
        assert (await client.say("bob", "B", "delete")).status == 200, "control: now it may go"
        assert registration.statistics().evicted == 1


async def test_a_run_that_fails_settles_no_question() -> None:
    app, registration = asking()
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        for tried in (
            await client.say("alice", "A", "something else"),
            await client.resume("alice", "A", "no such question", "yes"),
        ):
            assert tried.types[-1] == "RUN_ERROR"
            assert registration.statistics().pinned == 1
        assert (await client.resume("alice", "A", question, "yes")).text == "delete: yes"
        assert registration.statistics().pinned == 0


async def reply(client: Client, user: str, thread: str, question: str, how: str) -> Answer:
    if how == "resume":
        return await client.resume(user, thread, question, "yes")
    message = {"id": "answer", "role": "tool", "toolCallId": question, "content": "yes"}
    return await client.send(user, {"thread_id": thread, "messages": [message]})


def said(answer: Answer, named: str) -> list[str]:
    """Return what an answer says, without the ids that it was given or has made up."""
    text = json.dumps(answer.outcome()).replace(named, "the named id")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "an id", text)
    return re.sub(r"\b(bob|carol)\b", "someone", text).split('"type"')


@pytest.mark.parametrize("how", ["resume", "tool message"])
@pytest.mark.parametrize("thread", ["A", "B"])
async def test_anothers_question_is_as_good_as_an_unknown_one(thread: str, how: str) -> None:
    app, _ = asking()
    async with client_of(app) as client:
        question = (await client.say("alice", "A", "delete")).interrupt
        unknown = "00000000-0000-4000-8000-000000000000"
        hers = await reply(client, "bob", thread, question, how)
        none = await reply(client, "carol", thread, unknown, how)
        assert hers.status == none.status == 200
        assert said(hers, question) == said(none, unknown)
        assert "delete" not in hers.body
        assert (await client.resume("alice", "A", question, "yes")).text == "delete: yes"
        again = await client.resume("alice", "A", question, "yes")
        assert again.text == "", "an answer counts once"


async def test_a_question_can_be_answered_after_a_disconnect() -> None:
    app, registration = asking()
    async with served(app) as server:

        async def asked(received: bytes) -> bool:
            return b"request_info" in received

        received = await server.hang_up("alice", "A", "delete", after=asked)
        await until(is_free(registration))
        assert registration.statistics().pinned == 1
        lines = [line for line in received.splitlines() if b'"toolCallName":"request_info"' in line]
        question = json.loads(lines[0].removeprefix(b"data: "))["toolCallId"]
        answer = await server.client.resume("alice", "A", question, "yes")
        assert answer.text == "delete: yes"
        assert registration.statistics().pinned == 0


async def test_a_factory_that_fails_is_answered_before_a_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def build(context: ScopeContext[str]) -> Workflow:
        raise LookupError(f"no account for {context.scope}")

    app = FastAPI()
    mode = ScopedFactory(build, scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with client_of(app) as client:
        for _ in range(2):
            response = await client.http.post(
                "/", headers={"x-user": "alice"}, json={"messages": []}
            )
            assert response.status_code == 500
            assert response.headers["content-type"] == "application/json"
            assert response.json() == {"detail": "Internal Server Error"}
    statistics = registration.statistics()
    assert (statistics.build_failures, statistics.live, statistics.leased) == (2, 0, 0)
    assert "LookupError" in caplog.text
    assert "alice" not in caplog.text


async def test_shutdown_closes_every_instance_and_a_restart_begins_empty(
    model: RecordingModel,
) -> None:
    opened: list[str] = []
    closed: list[str] = []

    @asynccontextmanager
    async def build(context: ScopeContext[str]) -> AsyncGenerator[Workflow, None]:
        opened.append(context.scope)
        yield make_workflow(model)
        closed.append(context.scope)

    app = FastAPI()
    mode = ScopedFactory(build, scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    for start in (1, 2):
        async with client_of(app) as client:
            await client.say("alice", "A", "hello")
            await client.say("bob", "A", "hello")
            assert registration.statistics().live == 2
        assert sorted(closed) == sorted(opened) == sorted(["alice", "bob"] * start)
        assert registration.statistics().live == 0
    assert len(model.calls[2].texts) == 1, "nothing of the first life is left"


async def test_invalidate_ends_a_principals_instances(model: RecordingModel) -> None:
    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with client_of(app) as client:
        model.block(on="hold")
        held = asyncio.create_task(client.say("alice", "A", "hold"))
        await asyncio.wait_for(model.arrived.wait(), HANG)
        assert registration.invalidate(scope="alice") == 1
        model.gate.set()
        assert (await held).types[-1] == "RUN_FINISHED", "the run that was on goes to its end"
        await client.say("alice", "A", "after logout")
    assert len(model.calls[-1].texts) == 1
