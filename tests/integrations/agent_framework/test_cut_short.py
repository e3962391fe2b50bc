"""A client that leaves at any moment costs nobody their thread (P3, P4, P6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from ag_ui.core import BaseEvent, RunFinishedEvent, RunStartedEvent
from agent_framework import Workflow
from agent_framework_ag_ui import AgentFrameworkWorkflow
from fastapi import FastAPI
from starlette.types import Message
from typing_extensions import override

from scoped_registration import PersistentShared, ScopeContext, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, run
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    factory_of,
    make_workflow,
    served,
    until,
)

STEPS = range(0, 90, 3)
MODES: dict[str, Callable[[RecordingModel], Any]] = {
    "scoped": lambda model: ScopedFactory(factory_of(model), scope=current_user),
    "single user": lambda model: SingleUser(make_workflow(model)),
    "shared": lambda model: PersistentShared(
        make_workflow(model), acknowledgement=acknowledge(), access=current_user
    ),
}


async def leave_after(
    app: FastAPI, thread: str, steps: int, begun: Callable[[], bool] = lambda: True
) -> None:
    """Post a message, and be gone so many steps of the event loop after something began."""
    body = b'{"threadId": "%s", "messages": [{"id": "%s", "role": "user", "content": "hi"}]}' % (
        thread.encode(),
        thread.encode(),
    )
    gone = asyncio.Event()
    received = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        message = next(received, None)
        if message is None:
            await gone.wait()
        return message or {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await asyncio.sleep(0)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "query_string": b"",
        "scheme": "http",
        "server": ("test", 80),
        "headers": [(b"x-user", b"alice"), (b"content-type", b"application/json")],
        "state": {},
    }
    request = asyncio.create_task(app(scope, receive, send))
    await until(begun)
    for _ in range(steps):
        await asyncio.sleep(0)
    gone.set()
    await request


@pytest.mark.parametrize("mode", MODES)
async def test_p3_a_thread_is_served_whenever_its_client_left(
    mode: str, model: RecordingModel
) -> None:
    app = FastAPI()
    registration = declare(MODES[mode](model)).mount(app)
    async with client_of(app) as client:
        for steps in STEPS:
            await leave_after(app, f"t{steps}", steps)
            answer = await client.say("alice", f"t{steps}", "and now")
            assert answer.types[-1] == "RUN_FINISHED", (steps, answer.body)
            assert model.calls[-1].holds("and now")
    assert registration.statistics().leased == 0


async def test_p3_who_waits_behind_a_client_that_left_is_served(model: RecordingModel) -> None:
    building, may_build = asyncio.Event(), asyncio.Event()

    async def build(context: ScopeContext[str]) -> Workflow:
        building.set()
        await may_build.wait()
        return make_workflow(model)

    app = FastAPI()
    stage = declare(ScopedFactory(build, scope=current_user)).concurrency("queue", max_waiting=8)
    registration = stage.mount(app)
    async with served(app) as server:

        async def all_wait(received: bytes) -> bool:
            await building.wait()
            await until(lambda: registration.statistics().waiting == 5)
            return True

        first = asyncio.create_task(server.hang_up("alice", "A", "first", after=all_wait))
        await building.wait()
        behind = [
            asyncio.create_task(server.client.say("alice", "A", f"m{turn}")) for turn in range(4)
        ]
        await first
        may_build.set()
        for answer in await asyncio.gather(*behind):
            assert answer.types[-1] == "RUN_FINISHED", answer.body
    assert registration.statistics().built == 1


class Stubborn(AgentFrameworkWorkflow):
    """Goes on for a while when it is told to end."""

    running = 0
    most = 0

    def __init__(self, may_end: asyncio.Event) -> None:
        super().__init__()
        self.may_end = may_end

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        Stubborn.running += 1
        Stubborn.most = max(Stubborn.most, Stubborn.running)
        try:
            yield RunStartedEvent(run_id="run", thread_id=input_data["thread_id"])
            while not self.may_end.is_set():
                try:
                    await self.may_end.wait()
                except asyncio.CancelledError:
                    continue
            yield RunFinishedEvent(run_id="run", thread_id=input_data["thread_id"])
        finally:
            Stubborn.running -= 1


def is_ending() -> bool:
    return any("Run._end" in repr(task) for task in asyncio.all_tasks())


@pytest.mark.parametrize("again", [False, True], ids=["ignores it", "and its request is cancelled"])
async def test_p6_a_run_that_does_not_end_shares_its_instance_with_nobody(
    again: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run, "_CLOSING_SECONDS", 30 if again else 0.01)
    monkeypatch.setattr(Stubborn, "most", 0)
    may_end = asyncio.Event()
    app = FastAPI()
    mode = ScopedFactory(lambda context: Stubborn(may_end), scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with client_of(app) as client:
        first = asyncio.create_task(leave_after(app, "A", 9, lambda: Stubborn.running == 1))
        if again:
            await until(is_ending)
            first.cancel()
        await asyncio.wait([first])
        second = asyncio.create_task(client.say("alice", "A", "and now"))
        await until(lambda: registration.statistics().waiting == 1)
        assert (registration.statistics().leased, Stubborn.running) == (1, 1)
        may_end.set()
        assert (await second).types[-1] == "RUN_FINISHED"
    assert Stubborn.most == 1
    # An instance whose run did not end in time is not used again.
    assert registration.statistics().built == (1 if again else 2)


async def test_p3_a_run_that_is_cancelled_while_it_sends_gives_its_lease_back(
    model: RecordingModel,
) -> None:
    app = FastAPI()
    registration = declare(MODES["scoped"](model)).mount(app)
    async with client_of(app) as client:
        for steps in STEPS:
            request = asyncio.create_task(client.say("alice", f"t{steps}", "hello"))
            for _ in range(steps):
                await asyncio.sleep(0)
            for task in asyncio.all_tasks():  # as a loop does that is told to end
                if "Run._run" in repr(task):
                    task.cancel()
            await asyncio.wait([request])
            request.exception()  # what the request makes of it is not what is asked here
            await until(lambda: registration.statistics().leased == 0)
            answer = await client.say("alice", f"t{steps}", "and now")
            assert answer.types[-1] == "RUN_FINISHED", (steps, answer.body)
