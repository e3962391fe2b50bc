"""AG-UI: a server process that is told to end closes every instance once (P5, P8)."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ag_ui.core import BaseEvent, RunFinishedEvent, RunStartedEvent
from agent_framework import Workflow
from agent_framework_ag_ui import AgentFrameworkWorkflow
from fastapi import FastAPI
from sse_starlette.sse import AppStatus
from typing_extensions import override

from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from tests.faults.http_support import LIMIT, current_user
from tests.faults.test_signals import (
    EXITED,
    IDLE_THREADS,
    STREAM_THREADS,
    Child,
    Finish,
    Notes,
    Request,
    Stream,
    child,
    try_new_work,
)
from tests.integrations.agent_framework.kit import RecordingModel, make_workflow


def body_of(text: str) -> str:
    message = {"id": "1", "role": "user", "content": text}
    return json.dumps({"thread_id": "THREAD", "messages": [message]})


CHAT, STREAM = Request("/agent", body_of("hello")), Request("/agent", body_of("hold"))
STUBBORN = Request("/stubborn", body_of("hello"))
NEW_WORK = body_of("hello").replace("THREAD", "new").encode()


class Stubborn(AgentFrameworkWorkflow):
    """Goes on when it is told to end, until its instance is closed under it."""

    def __init__(self, app: FastAPI, notes: Notes) -> None:
        super().__init__()
        self.closed = False
        self._app = app
        self._notes = notes
        self._working: asyncio.Task[None] | None = None

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        yield RunStartedEvent(run_id="run", thread_id=input_data["thread_id"])
        while not self.closed:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                if self._working is None:
                    new_work = try_new_work(self._app, self._notes, CHAT.route, NEW_WORK)
                    self._working = asyncio.create_task(new_work)
        yield RunFinishedEvent(run_id="run", thread_id=input_data["thread_id"])


def agui_app() -> FastAPI:
    notes, finish, model = Notes(), Finish(), RecordingModel()
    model.block(on="hold", after_speaking=True)
    model.gate = finish
    app = FastAPI(lifespan=finish.lifespan)

    @asynccontextmanager
    async def build(context: ScopeContext[str]) -> AsyncGenerator[Workflow, None]:
        notes.add(f"open {context.thread_id}")
        try:
            yield make_workflow(model)
        finally:
            notes.add(f"close {context.thread_id}")

    @asynccontextmanager
    async def build_stubborn(context: ScopeContext[str]) -> AsyncGenerator[Stubborn, None]:
        notes.add(f"open {context.thread_id}")
        runner = Stubborn(app, notes)
        try:
            yield runner
        finally:
            runner.closed = True
            notes.add(f"close {context.thread_id}")

    for name, factory in (("agent", build), ("stubborn", build_stubborn)):
        stage: Any = AGUIEndpointBuilder(name, path=f"/{name}")  # of either kind of target
        mode = ScopedFactory(factory, scope=current_user)
        stage.isolation(mode).pool(close_timeout=1.0).mount(app)
    return app


def patient_app() -> FastAPI:
    """Return the application, whose streams do not end because the server is told to."""
    AppStatus.enable_automatic_graceful_drain = False
    return agui_app()


async def fill(server: Child) -> list[Stream]:
    """Leave instances idle, and open streams."""
    for thread in IDLE_THREADS:
        assert b"RUN_FINISHED" in await server.get(CHAT, thread)
    return [await server.open(STREAM, thread, until=b"one moment") for thread in STREAM_THREADS]


async def test_p8_streams_end_by_themselves_and_then_everything_is_closed(tmp_path: Path) -> None:
    async with child(f"{__name__}:patient_app", tmp_path, seconds=LIMIT) as server:
        streams = await fill(server)
        server.process.terminate()
        await server.refuses(CHAT)
        assert server.noted("close") == [], "nothing is closed while streams are open"
        server.process.send_signal(signal.SIGUSR1)
        for stream in streams:
            rest = await stream.rest()
            assert b"RUN_FINISHED" in rest
            assert rest.endswith(b"0\r\n\r\n")
        assert await server.process.wait() in EXITED
    server.assert_closed_once(*IDLE_THREADS, *STREAM_THREADS)


async def test_p8_streams_that_the_framework_ends_give_their_instances_back(
    tmp_path: Path,
) -> None:
    async with child(f"{__name__}:agui_app", tmp_path, seconds=LIMIT) as server:
        streams = await fill(server)
        server.process.terminate()
        await server.refuses(CHAT)
        for stream in streams:
            assert b"RUN_FINISHED" not in await stream.rest()
        assert await server.process.wait() in EXITED
    server.assert_closed_once(*IDLE_THREADS, *STREAM_THREADS)


async def test_p8_streams_that_do_not_end_are_ended_and_everything_is_closed(
    tmp_path: Path,
) -> None:
    async with child(f"{__name__}:patient_app", tmp_path, seconds=1) as server:
        streams = await fill(server)
        streams.append(await server.open(STUBBORN, "stubborn", until=b"RUN_STARTED"))
        server.process.terminate()
        await server.refuses(CHAT)
        for stream in streams:
            assert b"RUN_FINISHED" not in await stream.rest()
        assert await server.process.wait() in EXITED
    server.assert_closed_once(*IDLE_THREADS, *STREAM_THREADS, "stubborn")
    assert server.noted("refused") == ["503 1"]


async def test_p8_a_process_that_is_forced_to_end_closes_context_managers_too(
    tmp_path: Path,
) -> None:
    async with child(f"{__name__}:agui_app", tmp_path, seconds=LIMIT) as server:
        streams = await fill(server)
        server.process.send_signal(signal.SIGINT)
        await server.refuses(CHAT)
        server.process.send_signal(signal.SIGINT)  # the second one: no lifespan is ended
        for stream in streams:
            assert b"RUN_FINISHED" not in await stream.rest()
        assert await server.process.wait() in (1, -signal.SIGINT)
    server.assert_closed_once(*IDLE_THREADS, *STREAM_THREADS)
