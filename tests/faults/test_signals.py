"""A server process that is told to end: it ends, and closes every instance once (P5, P8)."""

import asyncio
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import anyio
import attrs
import uvicorn
from fastapi import Depends, FastAPI
from starlette.responses import Response, StreamingResponse
from typing_extensions import override

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from tests.faults.http_support import LIMIT, Call, current_user
from tests.integrations.fastapi.support import Chat

EXITED = (0, -signal.SIGTERM)  # uvicorn ends by the signal that it was told to end with


class Notes:
    """What the process writes down, one line each, for the test to read when it has ended."""

    def __init__(self) -> None:
        self._path = Path(os.environ["FAULTS_NOTES"])

    def add(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")


class Finish(asyncio.Event):
    """Set by SIGUSR1: what is on comes to its end by itself."""

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncGenerator[None, None]:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self.set)
        yield


async def try_new_work(app: FastAPI, notes: Notes, path: str, body: bytes | None = None) -> None:
    """Ask for new work until it is refused, as it is while the registration drains."""
    while True:
        call = Call(app, path, body=body)
        await call.run()
        if call.status != 200:
            notes.add(f"refused {call.status} {call.headers.get('retry-after')}")
            return
        await asyncio.sleep(0.001)


def plain_app() -> FastAPI:
    notes, finish = Notes(), Finish()
    app = FastAPI(lifespan=finish.lifespan)
    working: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def build(context: ScopeContext[Any]) -> AsyncGenerator[Chat, None]:
        notes.add(f"open {context.thread_id}")
        chat = Chat(context)
        try:
            async with anyio.create_task_group():
                yield chat
        finally:
            chat.closed += 1
            notes.add(f"close {context.thread_id}")

    registration = (
        RegistrationBuilder("chat")
        .isolation(ScopedFactory(build, scope=current_user))
        .pool(close_timeout=1.0)
        .build()
    )
    attach(app, registration)
    dependency = leased(registration)

    async def chat(chat: Annotated[Chat, Depends(dependency)]) -> list[str]:
        return chat.say("hello")

    async def body(chat: Chat) -> AsyncIterator[str]:
        assert chat.context is not None
        yield "first"
        try:
            await finish.wait()
            yield chat.say("last")[-1]
        finally:
            notes.add(f"end {chat.context.thread_id}")

    async def stubborn_body(chat: Chat) -> AsyncIterator[str]:
        yield "first"
        while not chat.closed:  # it ignores every cancellation
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                if not working:
                    working.append(asyncio.create_task(try_new_work(app, notes, "/chat/new")))

    app.add_api_route("/chat/{thread_id}", chat)

    @app.get("/stream/{thread_id}")
    async def stream(chat: Annotated[Chat, Depends(dependency)]) -> Response:
        return StreamingResponse(body(chat))

    @app.get("/stubborn/{thread_id}")
    async def stubborn(chat: Annotated[Chat, Depends(dependency)]) -> Response:
        return StreamingResponse(stubborn_body(chat))

    return app


class Announced(uvicorn.Server):
    """A server that prints its port when it is up."""

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        assert sockets is not None
        print(sockets[0].getsockname()[1], flush=True)


def serve(app: FastAPI, seconds: str) -> None:
    """Serve until a signal comes, and let what is on then go on for so many seconds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        options: Any = {"log_level": "critical", "timeout_graceful_shutdown": int(seconds)}
        Announced(uvicorn.Config(app, ws="none", **options)).run([listener])


@attrs.frozen
class Request:
    """How a client asks for a thread of a route."""

    route: str
    posts: str | None = None  # the body, with the thread in it

    def bytes_for(self, thread: str, connection: str = "keep-alive") -> bytes:
        body = b"" if self.posts is None else self.posts.replace("THREAD", thread).encode()
        line = f"GET {self.route}/{thread}" if self.posts is None else f"POST {self.route}"
        head = (
            f"{line} HTTP/1.1\r\nhost: test\r\nx-user: alice\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"connection: {connection}\r\n\r\n"
        )
        return head.encode() + body


@attrs.frozen
class Stream:
    """An answer that is being read."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def rest(self) -> bytes:
        """Read to the end of the connection, however it comes."""
        rest = b""
        with suppress(ConnectionError):
            while part := await self.reader.read(4096):
                rest += part
        self.writer.close()
        return rest


@attrs.frozen
class Child:
    """A server in a process of its own."""

    process: asyncio.subprocess.Process
    port: int
    notes: Path

    async def open(self, request: Request, thread: str, *, until: bytes) -> Stream:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request.bytes_for(thread))
        await reader.readuntil(until)
        return Stream(reader, writer)

    async def get(self, request: Request, thread: str) -> bytes:
        """Return the whole answer; empty if there is none."""
        with suppress(ConnectionError):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(request.bytes_for(thread, "close"))
            return await Stream(reader, writer).rest()
        return b""

    async def refuses(self, request: Request) -> None:
        """Ask for new work until none is taken: no connection, or 503 with Retry-After."""
        while answer := await self.get(request, "new"):
            head = answer.partition(b"\r\n\r\n")[0]
            if head.startswith(b"HTTP/1.1 503"):
                assert b"retry-after: 1" in head
                return
            assert head.startswith(b"HTTP/1.1 200"), head  # it has not seen the signal yet

    def noted(self, word: str) -> list[str]:
        lines = self.notes.read_text().splitlines()
        return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]

    def assert_ended_before_closing(self, *threads: str) -> None:
        """The streams of threads had ended when their instances were closed."""
        lines = self.notes.read_text().splitlines()
        for thread in threads:
            assert lines.index(f"end {thread}") < lines.index(f"close {thread}")

    def assert_closed_once(self, *threads: str) -> None:
        """Every instance that was opened was closed once, and those named were opened."""
        opened, closed = Counter(self.noted("open")), Counter(self.noted("close"))
        assert closed == opened
        assert set(opened) - {"new"} == set(threads)
        assert all(count == 1 for thread, count in opened.items() if thread != "new")


@asynccontextmanager
async def child(app: str, folder: Path, *, seconds: int) -> AsyncGenerator[Child, None]:
    """Serve what a function of a test module returns, in a process that does not outlive this."""
    module, _, function = app.partition(":")
    program = (
        f"from {module} import {function}; from {__name__} import serve; "
        f"import sys; serve({function}(), sys.argv[1])"
    )
    root = Path(__file__).parents[2]
    notes = folder / "notes.txt"
    notes.touch()
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(root))))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, str(seconds)),
        cwd=root,
        env=os.environ | {"FAULTS_NOTES": str(notes), "PYTHONPATH": path},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        with anyio.fail_after(2 * LIMIT):
            port = int(await process.stdout.readline())
            yield Child(process, port, notes)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


CHAT, STREAM, STUBBORN = Request("/chat"), Request("/stream"), Request("/stubborn")
IDLE_THREADS = [f"idle{number}" for number in range(5)]
STREAM_THREADS = [f"stream{number}" for number in range(3)]


async def fill(server: Child) -> list[Stream]:
    """Leave instances idle, and open streams."""
    for thread in IDLE_THREADS:
        assert (await server.get(CHAT, thread)).startswith(b"HTTP/1.1 200")
    return [await server.open(STREAM, thread, until=b"first") for thread in STREAM_THREADS]


async def test_p8_streams_end_by_themselves_and_then_everything_is_closed(tmp_path: Path) -> None:
    async with child(f"{__name__}:plain_app", tmp_path, seconds=LIMIT) as server:
        streams = await fill(server)
        server.process.terminate()
        await server.refuses(CHAT)
        assert server.noted("close") == [], "nothing is closed while streams are open"
        server.process.send_signal(signal.SIGUSR1)
        for stream in streams:
            assert (await stream.rest()).endswith(b"4\r\nlast\r\n0\r\n\r\n")
        assert await server.process.wait() in EXITED
    server.assert_closed_once(*IDLE_THREADS, *STREAM_THREADS)
    server.assert_ended_before_closing(*STREAM_THREADS)


async def test_p8_streams_that_do_not_end_are_ended_and_everything_is_closed(
    tmp_path: Path,
) -> None:
    async with child(f"{__name__}:plain_app", tmp_path, seconds=1) as server:
        streams = await fill(server)
        streams.append(await server.open(STUBBORN, "stubborn", until=b"first"))
        server.process.terminate()
        await server.refuses(CHAT)
        for stream in streams:
            assert b"last" not in await stream.rest()
        assert await server.process.wait() in EXITED
    server.assert_closed_once(*IDLE_THREADS, *STREAM_THREADS, "stubborn")
    assert server.noted("refused") == ["503 1"]
    server.assert_ended_before_closing(*STREAM_THREADS)


async def test_p8_a_process_forced_to_end_closes_context_managers_too(tmp_path: Path) -> None:
    async with child(f"{__name__}:plain_app", tmp_path, seconds=LIMIT) as server:
        streams = await fill(server)
        server.process.send_signal(signal.SIGINT)
        await server.refuses(CHAT)
        server.process.send_signal(signal.SIGINT)  # the second one: no lifespan is ended
        for stream in streams:
            assert b"last" not in await stream.rest()
        assert await server.process.wait() in (1, -signal.SIGINT)
    server.assert_closed_once(*IDLE_THREADS, *STREAM_THREADS)
