"""One run at a time for each key, in order; other keys never wait (promise P6)."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from fastapi import FastAPI, Header

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from tests.integrations.agent_framework.kit import (
    HANG,
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    factory_of,
    make_agent,
    make_workflow,
    until,
)

MANY = 20


async def caller(x_user: Annotated[str, Header()]) -> str:
    """Resolve on the event loop: threads of a pool would reach the queue in any order."""
    return x_user


async def test_control_the_raw_endpoint_finishes_one(model: RecordingModel) -> None:
    app = FastAPI()
    add_agent_framework_fastapi_endpoint(
        app, make_workflow(model), "/", authorization_scope_resolver=current_user
    )
    async with client_of(app) as client:
        answers = await asyncio.gather(
            *(client.say("alice", "A", f"n{number}.") for number in range(MANY))
        )
    assert [answer.types[-1] for answer in answers].count("RUN_FINISHED") == 1


@pytest.mark.parametrize("kind", ["workflow", "per_run", "single user", "shared"])
async def test_a_queue_serves_all_in_order(kind: str, model: RecordingModel) -> None:
    modes: dict[str, Any] = {
        "workflow": ScopedFactory(factory_of(model), scope=caller),
        "per_run": per_run(make_agent(model), scope=caller),
        "single user": SingleUser(make_workflow(model)),
        "shared": PersistentShared(make_workflow(model), acknowledgement=acknowledge()),
    }
    app = FastAPI()
    stage = declare(modes[kind])
    registration = stage.concurrency("queue", max_waiting=MANY, wait_timeout=HANG).mount(app)
    async with client_of(app) as client:
        answers = await asyncio.gather(
            *(client.say("alice", "A", f"n{number}.") for number in range(MANY))
        )
        assert registration.statistics().leased == 0
    assert [answer.types[-1] for answer in answers] == ["RUN_FINISHED"] * MANY
    assert [call.texts[-1] for call in model.calls] == [f"user: n{n}." for n in range(MANY)]


async def test_reject_answers_before_a_stream_starts(model: RecordingModel) -> None:
    app = FastAPI()
    registration = (
        AGUIEndpointBuilder("support")
        .isolation(ScopedFactory(factory_of(model), scope=current_user))
        .concurrency("reject")
        .mount(app)
    )
    model.block()
    async with client_of(app) as client:
        running = [
            asyncio.create_task(client.say("alice", "A", f"n{number}.")) for number in range(MANY)
        ]
        await until(lambda: sum(task.done() for task in running) == MANY - 1)
        assert registration.statistics().leased == 1
        model.gate.set()
        answers = await asyncio.gather(*running)
        again = await client.say("alice", "A", "after it")
    statuses = sorted(answer.status for answer in answers)
    assert statuses == [200] + [409] * (MANY - 1)
    for answer in answers:
        if answer.status == 409:
            assert json.loads(answer.body)["detail"]["code"] == "thread_busy"
    assert again.types[-1] == "RUN_FINISHED"
    assert registration.statistics().rejected == MANY - 1


async def test_a_full_queue_is_answered_with_retry_after(model: RecordingModel) -> None:
    app = FastAPI()
    registration = (
        AGUIEndpointBuilder("support")
        .isolation(ScopedFactory(factory_of(model), scope=current_user))
        .concurrency("queue", max_waiting=1)
        .mount(app)
    )
    model.block()
    async with client_of(app) as client:
        first = asyncio.create_task(client.say("alice", "A", "one"))
        await asyncio.wait_for(model.arrived.wait(), HANG)
        second = asyncio.create_task(client.say("alice", "A", "two"))
        await until(lambda: registration.statistics().waiting == 1)
        response = await client.http.post(
            "/", headers={"x-user": "alice"}, json={"thread_id": "A", "messages": []}
        )
        assert response.status_code == 503
        assert response.headers["retry-after"]
        model.gate.set()
        assert [(await task).types[-1] for task in (first, second)] == ["RUN_FINISHED"] * 2


async def test_other_keys_do_not_wait(model: RecordingModel) -> None:
    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=current_user)
    AGUIEndpointBuilder("support").isolation(mode).mount(app)
    model.block(on="hold")
    async with client_of(app) as client:
        held = asyncio.create_task(client.say("alice", "A", "hold"))
        await asyncio.wait_for(model.arrived.wait(), HANG)
        for user, thread in (("alice", "A2"), ("bob", "A"), ("bob", "B")):
            async with asyncio.timeout(HANG):
                assert (await client.say(user, thread, "hello")).types[-1] == "RUN_FINISHED"
        assert not held.done()
        model.gate.set()
        assert (await held).types[-1] == "RUN_FINISHED"
