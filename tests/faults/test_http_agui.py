"""AG-UI: clients that leave, runs that fail and scopes that are cancelled (P5, P6, P8)."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal

import anyio
import pytest
from agent_framework import Workflow
from fastapi import FastAPI
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.integrations.fastapi import attach
from scoped_registration.registration import ScopedRegistration
from tests.faults.http_support import (
    LIMIT,
    Call,
    Moment,
    Tasks,
    assert_free,
    current_user,
    pass_on,
    until,
)
from tests.integrations.agent_framework.kit import RecordingModel, make_workflow

Layer = Literal["plain", "middleware", "mounted"]
LAYERS: tuple[Layer, ...] = ("plain", "middleware", "mounted")
MOMENTS: tuple[Moment, ...] = ("before the request", "at the start", "in the body")
OFTEN = 200
THREADS = 20  # so that no conversation grows long


class AGUIStage:
    """An application with an AG-UI endpoint, whose workflows are context-managed."""

    def __init__(
        self,
        layer: Layer = "plain",
        policy: Literal["queue", "reject"] = "queue",
        **options: Any,  # those of `.concurrency`
    ) -> None:
        self.model = RecordingModel()
        self.model.block(on="hold", after_speaking=True)
        self.goes_on = self.model.gate
        self.first = b"one moment"
        self.opened: Counter[int] = Counter()
        self.closed: Counter[int] = Counter()
        self.door = asyncio.Event()  # holds closings back
        self.door.set()
        self.app = FastAPI()
        served = FastAPI() if layer == "mounted" else self.app
        self.registration: ScopedRegistration[Workflow, str] = (
            AGUIEndpointBuilder("support", path="/agent")
            .isolation(ScopedFactory(self._build, scope=current_user))
            .concurrency(policy, **options)
            .pool(close_timeout=LIMIT)
            .mount(served)
        )
        self._path = "/agent"
        if layer == "mounted":
            self._path = "/mounted/agent"
            self.app.mount("/mounted", served)
            attach(self.app, self.registration)
        if layer == "middleware":
            self.app.add_middleware(BaseHTTPMiddleware, dispatch=pass_on)

    @asynccontextmanager
    async def _build(self, context: ScopeContext[str]) -> AsyncGenerator[Workflow, None]:
        number = len(self.opened)
        self.opened[number] += 1
        async with anyio.create_task_group():  # which only the task that entered it may leave
            yield make_workflow(self.model)
            await self.door.wait()
            self.closed[number] += 1

    @property
    def bodies(self) -> int:
        return len(self.model.calls)

    def call(self, route: str = "chat", thread: str = "t1", **options: Any) -> Call:
        text = {"chat": "hello", "stream": "hold"}.get(route, route)
        message = {"id": uuid.uuid4().hex, "role": "user", "content": text}
        body = json.dumps({"thread_id": thread, "messages": [message]})
        return Call(self.app, self._path, body=body.encode(), **options)

    async def assert_served(self, thread: str = "t1") -> None:
        call = self.call(thread=thread)
        with anyio.fail_after(LIMIT):
            await call.run()
        assert call.status == 200, call.body
        assert b"RUN_FINISHED" in call.body
        assert_free(self.registration)

    async def assert_released_once(self) -> None:
        """A lease of the thread is nobody else's: a lease given back twice would free it."""
        async with self.holding() as holder:
            second = self.call()
            await second.run()
            assert second.status == 409, second.body
            assert self.registration.statistics().leased == 1
            self.goes_on.set()
        assert b"RUN_FINISHED" in holder.body
        await self.assert_served()

    @asynccontextmanager
    async def holding(self) -> AsyncGenerator[Call, None]:
        """Keep a run on, until `goes_on` is set."""
        self.goes_on.clear()
        async with anyio.create_task_group() as tasks:
            holder = self.call("stream")
            tasks.start_soon(holder.run)
            await until(lambda: self.first in holder.body)
            yield holder


async def tasks_of_the_loop() -> Tasks:
    """Note the tasks that are there, with one that the framework's response keeps per loop."""
    stage = AGUIStage()
    async with stage.app.router.lifespan_context(stage.app):
        await stage.assert_served()
    return Tasks()


@pytest.mark.parametrize("raises", [False, True], ids=["told by receive", "told by send"])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_clients_that_leave_cost_nothing(
    layer: Layer, moment: Moment, raises: bool
) -> None:
    tasks = await tasks_of_the_loop()
    stage = AGUIStage(layer)
    async with stage.app.router.lifespan_context(stage.app):
        for number in range(OFTEN if (layer, raises) == ("plain", False) else THREADS):
            thread = f"t{number % THREADS}"
            # Where `receive` does not tell, a run that waits for ever would not find out.
            route = "chat" if raises else "stream"
            await stage.call(route, thread, leaves=moment, raises=raises).run_to_its_end()
            assert_free(stage.registration)
            await stage.assert_served(thread)
        figures = stage.registration.statistics()
        assert (figures.live, figures.rejected) == (THREADS, 0)
        await tasks.are_back(and_of_instances=THREADS)
    assert stage.closed == stage.opened
    assert stage.registration.statistics().live == 0
    await tasks.are_back()


@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_a_run_that_fails_gives_its_lease_back_once(layer: Layer) -> None:
    tasks = await tasks_of_the_loop()
    stage = AGUIStage(layer, "reject")
    async with stage.app.router.lifespan_context(stage.app):
        call = stage.call("explode")
        with anyio.fail_after(LIMIT):
            await call.run()
        assert b"RUN_ERROR" in call.body
        assert_free(stage.registration)
        await stage.assert_released_once()
    assert stage.closed == stage.opened
    await tasks.are_back()


async def test_p5_a_response_that_a_middleware_throws_away_gives_its_lease_back_once() -> None:
    tasks = await tasks_of_the_loop()
    stage = AGUIStage(policy="reject")
    thrown_away: list[int] = []

    async def dispatch(request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        if thrown_away:
            return response
        thrown_away.append(response.status_code)
        return PlainTextResponse("another one", 418)

    stage.app.add_middleware(BaseHTTPMiddleware, dispatch=dispatch)
    async with stage.app.router.lifespan_context(stage.app):
        call = stage.call("stream")
        await call.run_to_its_end()
        assert (call.status, call.body) == (418, b"another one")
        assert thrown_away == [200], "control: there was a response"
        assert_free(stage.registration)
        await stage.assert_released_once()
    assert stage.closed == stage.opened
    await tasks.are_back()


@pytest.mark.parametrize("layer", LAYERS)
async def test_p8_an_instance_survives_the_cancellation_of_requests_that_use_it(
    layer: Layer,
) -> None:
    tasks = await tasks_of_the_loop()
    stage = AGUIStage(layer, "reject")
    async with stage.app.router.lifespan_context(stage.app):
        for _ in range(20):
            call = stage.call("stream")
            async with anyio.create_task_group() as group:
                group.start_soon(call.run)
                await until(partial(call.has, stage.first))
                assert stage.registration.statistics().leased == 1
                group.cancel_scope.cancel()
            assert_free(stage.registration)
            await stage.assert_served()
        await stage.assert_released_once()
        assert stage.registration.statistics().live == 1
    assert stage.closed == stage.opened
    assert stage.registration.statistics().close_failures == 0
    await tasks.are_back()


async def test_p8_a_closing_that_a_cancelled_request_sets_off_goes_to_its_end() -> None:
    tasks = await tasks_of_the_loop()
    stage = AGUIStage(policy="reject")
    async with stage.app.router.lifespan_context(stage.app):
        stage.door.clear()
        call = stage.call("stream")
        async with anyio.create_task_group() as group:
            group.start_soon(call.run)
            await until(lambda: stage.first in call.body)
            assert stage.registration.invalidate(scope="alice") == 1
            assert stage.registration.statistics().closing == 0, "it is in use"
            group.cancel_scope.cancel()
        await until(lambda: stage.registration.statistics().closing == 1)
        assert not stage.closed
        stage.door.set()
        await until(lambda: stage.registration.statistics().live == 0)
        assert stage.closed == stage.opened
        await stage.assert_served()
    assert stage.closed == stage.opened
    assert stage.registration.statistics().close_failures == 0
    await tasks.are_back()
