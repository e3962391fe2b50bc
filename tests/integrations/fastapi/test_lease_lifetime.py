"""A lease lives as long as its response and its background tasks, whatever ends them (P5)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Annotated

import anyio
import pytest
from fastapi import BackgroundTasks, Depends, FastAPI
from starlette.background import BackgroundTask
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message

from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import ScopedRegistration
from tests.integrations.fastapi.support import (
    ALICE,
    Chat,
    Exchange,
    add_chat,
    async_client,
    client_of,
    scoped,
)

PATH = "/stream/t1"


# What ends a request whose client is gone; older releases of Starlette put it in a group.
GONE = (OSError, ClientDisconnect, BaseExceptionGroup)


class BrokenError(Exception):
    pass


class Stage:
    """An application with a route that streams, and what its body saw."""

    def __init__(self) -> None:
        self.registration: ScopedRegistration[Chat, str] = scoped()
        self.app = FastAPI()
        self.seen: list[tuple[str, int]] = []  # where, and how many instances were leased
        self.goes_on = asyncio.Event()
        self.fails = False
        attach(self.app, self.registration)
        add_chat(self.app, leased(self.registration))
        self.app.add_api_route("/stream/{thread_id}", self._route())

    def note(self, where: str) -> None:
        self.seen.append((where, self.leased))

    @property
    def leased(self) -> int:
        return self.registration.statistics().leased

    def _route(self) -> Callable[..., Awaitable[Response]]:
        async def body(chat: Chat) -> AsyncIterator[str]:
            for line in chat.say("first"):
                self.note("body")
                yield line
            await self.goes_on.wait()
            if self.fails:
                raise BrokenError
            chat.say("last")
            self.note("end of body")
            yield "last"

        async def background(chat: Chat) -> None:
            await anyio.lowlevel.checkpoint()
            chat.say("background")
            self.note("background")

        async def stream(
            chat: Annotated[Chat, Depends(leased(self.registration))],
        ) -> Response:
            return StreamingResponse(body(chat), background=BackgroundTask(background, chat))

        return stream

    async def good_call_works(self, lines: int) -> None:
        async with async_client(self.app) as client:
            answer = await client.get("/chat/t1", headers=ALICE)
        assert answer.status_code == 200
        assert len(answer.json()["lines"]) == lines
        assert self.leased == 0


async def test_p5_a_lease_lives_to_the_last_byte_and_through_background_tasks() -> None:
    stage = Stage()
    stage.goes_on.set()
    async with async_client(stage.app) as client:
        answer = await client.get(PATH, headers=ALICE)
    assert answer.text == "firstlast"
    assert stage.seen == [("body", 1), ("end of body", 1), ("background", 1)]
    await stage.good_call_works(lines=4)


async def test_p5_a_body_that_raises_gives_the_lease_back() -> None:
    stage = Stage()
    stage.fails = True
    stage.goes_on.set()
    with pytest.raises((BrokenError, ExceptionGroup)):
        await Exchange(stage.app, PATH).run()
    assert stage.leased == 0
    await stage.good_call_works(lines=2)


def _is_start(message: Message) -> bool:
    return bool(message["type"] == "http.response.start")


def _has_more(message: Message) -> bool:
    return bool(message.get("more_body"))


@pytest.mark.parametrize("spec", ["2.0", "2.4"])
async def test_p5_a_body_that_is_never_started_gives_the_lease_back_each_time(spec: str) -> None:
    stage = Stage()
    for _ in range(200):
        with contextlib.suppress(*GONE):
            await Exchange(stage.app, PATH, refuse=_is_start, spec=spec).run()
        assert stage.leased == 0
    assert stage.seen == []
    await stage.good_call_works(lines=1)


async def test_p5_a_client_that_is_gone_when_the_body_sends_gives_the_lease_back() -> None:
    stage = Stage()
    with contextlib.suppress(*GONE):
        await Exchange(stage.app, PATH, refuse=_has_more).run()
    assert stage.leased == 0
    assert stage.seen == [("body", 1)]
    await stage.good_call_works(lines=2)


async def test_p5_a_client_that_goes_away_mid_stream_gives_the_lease_back() -> None:
    stage = Stage()
    exchange = Exchange(stage.app, PATH, spec="2.0")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(exchange.run)
        await exchange.got_body.wait()
        assert stage.leased == 1
        exchange.gone.set()
    assert ("end of body", 1) not in stage.seen
    assert stage.leased == 0
    await stage.good_call_works(lines=3 if ("background", 1) in stage.seen else 2)


async def test_p5_a_request_that_is_cancelled_gives_the_lease_back() -> None:
    stage = Stage()
    exchange = Exchange(stage.app, PATH)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(exchange.run)
        await exchange.got_body.wait()
        tasks.cancel_scope.cancel()
    assert stage.leased == 0
    await stage.good_call_works(lines=2)


async def test_p5_a_request_that_is_cancelled_in_the_queue_leaves_no_trace() -> None:
    stage = Stage()
    first, second = Exchange(stage.app, PATH), Exchange(stage.app, PATH)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first.run)
        await first.got_body.wait()
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(second.run)
            while stage.registration.statistics().waiting == 0:
                await anyio.lowlevel.checkpoint()
            waiting.cancel_scope.cancel()
        assert stage.registration.statistics().waiting == 0
        stage.goes_on.set()
    assert second.status is None
    assert first.body == b"firstlast"
    assert stage.leased == 0


async def test_p5_a_lease_outlives_middleware_that_runs_the_application_in_a_task() -> None:
    stage = Stage()

    async def dispatch(request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        response.headers["x-middleware"] = "yes"
        return response

    stage.app.add_middleware(BaseHTTPMiddleware, dispatch=dispatch)
    stage.goes_on.set()
    async with async_client(stage.app) as client:
        answer = await client.get(PATH, headers=ALICE)
    assert answer.text == "firstlast"
    assert answer.headers["x-middleware"] == "yes"
    assert stage.seen == [("body", 1), ("end of body", 1), ("background", 1)]
    await stage.good_call_works(lines=4)


def test_p5_a_lease_lives_through_the_background_tasks_of_a_json_route() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    seen: list[tuple[str, int]] = []

    async def route(
        chat: Annotated[Chat, Depends(leased(registration))], tasks: BackgroundTasks
    ) -> list[str]:
        def later() -> None:
            seen.append((chat.say("later")[-1], registration.statistics().leased))

        tasks.add_task(later)
        return chat.say("now")

    app.add_api_route("/{thread_id}", route)
    client = client_of(app)
    assert client.get("/t1", headers=ALICE).json() == ["now"]
    assert seen == [("later", 1)]
    assert registration.statistics().leased == 0
    assert client.get("/t1", headers=ALICE).json() == ["now", "later", "now"]


def test_p5_an_endpoint_that_raises_gives_the_lease_back() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    add_chat(app, leased(registration))

    async def fails(chat: Annotated[Chat, Depends(leased(registration))]) -> None:
        raise BrokenError

    app.add_api_route("/fails/{thread_id}", fails)
    client = client_of(app)
    assert client.get("/fails/t1", headers=ALICE).status_code == 500
    assert registration.statistics().leased == 0
    assert client.get("/chat/t1", headers=ALICE).status_code == 200


def test_a_sync_endpoint_and_a_sync_body_use_the_instance_in_a_thread() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    seen: list[int] = []

    def body(chat: Chat) -> Iterator[str]:
        seen.append(registration.statistics().leased)
        yield from chat.say("body")

    def route(chat: Annotated[Chat, Depends(leased(registration))]) -> Response:
        chat.say(chat.context.current if chat.context is not None else "no context")
        return StreamingResponse(body(chat))

    app.add_api_route("/{thread_id}", route)
    assert client_of(app).get("/t1", headers=ALICE).text == "alicebody"
    assert seen == [1]
    assert registration.statistics().leased == 0
