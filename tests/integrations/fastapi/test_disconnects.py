"""A client that goes away on a real server, and a server that stops (P5), on loopback."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import anyio
import anyio.lowlevel
import httpx
import uvicorn
from fastapi import BackgroundTasks, Depends, FastAPI
from starlette.responses import Response, StreamingResponse
from typing_extensions import override

from scoped_registration.integrations.fastapi import attach, leased
from tests.integrations.fastapi.support import ALICE, Chat, add_chat, scoped

LIMIT = 30  # seconds after which a test that hangs is ended


class Announced(uvicorn.Server):
    """A server that says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = anyio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncGenerator[tuple[uvicorn.Server, str], None]:
    """Run a real server on a free loopback port, and stop it by its own handle."""
    config = uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=5)
    server = Announced(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            await server.is_up.wait()
            try:
                yield server, f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True


async def test_p5_a_client_that_goes_away_frees_its_thread_for_the_next_call() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    add_chat(app, leased(registration))

    async def body(chat: Chat) -> AsyncIterator[str]:
        yield chat.say("endless")[0]
        await asyncio.Event().wait()

    async def stream(chat: Annotated[Chat, Depends(leased(registration))]) -> Response:
        return StreamingResponse(body(chat))

    app.add_api_route("/stream/{thread_id}", stream)
    with anyio.fail_after(LIMIT):
        async with serving(app) as (_, url):
            for _ in range(3):
                async with (
                    httpx.AsyncClient(base_url=url, headers=ALICE) as client,
                    client.stream("GET", "/stream/t1") as answer,
                ):
                    async for text in answer.aiter_text():
                        assert text == "endless"
                        break
            async with httpx.AsyncClient(base_url=url, headers=ALICE) as client:
                answer = await client.get("/chat/t1")  # it waits for the thread in the queue
            assert answer.status_code == 200
            assert answer.json()["lines"] == ["endless"] * 3 + ["hello"]
            assert registration.statistics().built == 1
    assert registration.statistics().closed == 1
    assert registration.statistics().live == 0


async def test_p5_a_server_that_stops_lets_a_stream_end_before_the_instance_is_closed() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    goes_on = asyncio.Event()
    closed_at_end: list[int] = []

    async def body(chat: Chat) -> AsyncGenerator[str, None]:
        yield chat.say("first")[0]
        await goes_on.wait()
        closed_at_end.append(chat.closed)
        yield "last"

    async def stream(chat: Annotated[Chat, Depends(leased(registration))]) -> Response:
        return StreamingResponse(body(chat))

    app.add_api_route("/stream/{thread_id}", stream)
    got: list[str] = []
    with anyio.fail_after(LIMIT):
        async with (
            serving(app) as (server, url),
            httpx.AsyncClient(base_url=url, headers=ALICE) as client,
            client.stream("GET", "/stream/t1") as answer,
        ):
            async for text in answer.aiter_text():
                got.append(text)
                server.should_exit = True
                goes_on.set()
    assert "".join(got) == "firstlast"
    assert closed_at_end == [0]
    assert registration.statistics().closed == 1


async def test_p6_a_pipelined_request_waits_for_the_one_before_it() -> None:
    """The server starts it in the context of the one before, whose lease is not its own."""
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    done: list[str] = []

    async def endpoint(
        chat: Annotated[Chat, Depends(leased(registration, "t"))], tasks: BackgroundTasks
    ) -> int:
        async def later() -> None:
            await anyio.lowlevel.checkpoint()
            done.append("task")

        tasks.add_task(later)
        done.append("answer")
        return registration.statistics().built

    app.add_api_route("/", endpoint)
    request = b"GET / HTTP/1.1\r\nhost: test\r\nx-user: alice\r\n\r\n"
    last = request.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    async with serving(app) as (_, url):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(request + request + last)
        with anyio.fail_after(LIMIT):
            answers = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert answers.count(b"HTTP/1.1 200 OK") == 3
    assert done == ["answer", "task"] * 3
    assert registration.statistics().built == 1
