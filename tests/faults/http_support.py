"""What the faults over HTTP share: an application that notes its instances, and its clients."""

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any, Literal, get_args

import anyio
import pytest
from anyio.lowlevel import checkpoint
from fastapi import APIRouter, Depends, FastAPI, Header
from starlette.background import BackgroundTask
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import Registration, ScopedRegistration
from tests.integrations.fastapi.support import Chat

LIMIT = 30
"""Seconds after which a test that hangs has failed."""

GONE = (OSError, ClientDisconnect, BaseExceptionGroup)
"""What ends a request whose client is gone; older releases of Starlette put it in a group."""

unclosed = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")
"""Older releases of Starlette leave streams of their BaseHTTPMiddleware open."""

Layer = Literal["plain", "middleware", "mounted", "router"]
LAYERS: tuple[Layer, ...] = get_args(Layer)

Moment = Literal["before the request", "in the endpoint", "at the start", "in the body"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)


class BrokenError(Exception):
    pass


async def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user  # async: requests reach the lease in the order in which they arrive


async def pass_on(request: Request, call_next: RequestResponseEndpoint) -> Response:
    return await call_next(request)


class Instances:
    """Context-managed instances: each is left once, by the task that entered it."""

    def __init__(self) -> None:
        self.all: list[Chat] = []
        self.door = asyncio.Event()  # holds closings back
        self.door.set()
        self.closing = asyncio.Event()

    @asynccontextmanager
    async def build(self, context: ScopeContext[Any]) -> AsyncGenerator[Chat, None]:
        chat = Chat(context)
        self.all.append(chat)
        async with anyio.create_task_group():  # which only the task that entered it may leave
            yield chat
            self.closing.set()
            await self.door.wait()
            chat.closed += 1

    @property
    def closed(self) -> list[int]:
        return [chat.closed for chat in self.all]


class Stage:
    """An application whose routes lease a context-managed instance."""

    def __init__(
        self,
        layer: Layer = "plain",
        policy: Literal["queue", "reject"] = "queue",
        *,
        name: str = "chat",
        **options: Any,  # those of `.concurrency`
    ) -> None:
        self.first = b"first"
        self.instances = Instances()
        self.registration: ScopedRegistration[Chat, str] = (
            RegistrationBuilder(name)
            .isolation(ScopedFactory(self.instances.build, scope=current_user))
            .concurrency(policy, **options)
            .pool(close_timeout=LIMIT)
            .build()
        )
        self.bodies = 0  # how many bodies have begun
        self.entered = asyncio.Event()
        self.goes_on = asyncio.Event()  # holds bodies back after their first part
        self.may_answer = asyncio.Event()  # holds the endpoint of a stream back
        self.may_answer.set()
        self.may_begin = asyncio.Event()  # holds bodies back before their first part
        self.may_begin.set()
        self.fails: Literal["nowhere", "endpoint", "body", "background"] = "nowhere"
        self.background: list[int] = []  # how many instances were leased in background tasks
        self.app = FastAPI()
        attach(self.app, self.registration)
        self.prefix = "" if layer == "plain" else f"/{layer}"
        router = APIRouter()
        router.add_api_route("/chat/{thread_id}", self._chat())
        router.add_api_route("/stream/{thread_id}", self._stream())
        if layer == "mounted":
            inner = FastAPI()
            inner.include_router(router)
            self.app.mount(self.prefix, inner)
        else:
            self.app.include_router(router, prefix=self.prefix)
        if layer == "middleware":
            self.app.add_middleware(BaseHTTPMiddleware, dispatch=pass_on)

    def _chat(self) -> Callable[..., object]:
        async def chat(
            chat: Annotated[Chat, Depends(leased(self.registration))], text: str = "hello"
        ) -> list[str]:
            return chat.say(text)

        return chat

    def _stream(self) -> Callable[..., object]:
        async def body(chat: Chat) -> AsyncIterator[str]:
            self.bodies += 1
            await self.may_begin.wait()
            chat.say("first")
            yield "first"
            await self.goes_on.wait()
            if self.fails == "body":
                raise BrokenError
            chat.say("last")
            yield "last"

        async def background(chat: Chat) -> None:
            chat.say("background")
            self.background.append(self.registration.statistics().leased)
            if self.fails == "background":
                raise BrokenError

        async def stream(chat: Annotated[Chat, Depends(leased(self.registration))]) -> Response:
            self.entered.set()
            await self.may_answer.wait()
            if self.fails == "endpoint":
                raise BrokenError
            return StreamingResponse(body(chat), background=BackgroundTask(background, chat))

        return stream

    def call(self, route: str = "chat", thread: str = "t1", **options: Any) -> "Call":
        return Call(self.app, f"{self.prefix}/{route}/{thread}", **options)

    async def assert_served(self, thread: str = "t1") -> None:
        """A good call gets its answer, and leaves nothing in use."""
        call = self.call(thread=thread)
        await call.run_to_its_end()
        assert call.status == 200, call.body
        assert_free(self.registration)

    async def assert_released_once(self) -> None:
        """A lease of the thread is nobody else's: a lease given back twice would free it."""
        self.fails = "nowhere"
        self.goes_on.clear()
        holder = self.call("stream")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(holder.run)
            with anyio.fail_after(LIMIT):
                await holder.got_body.wait()
            for _ in range(10):  # whatever the request before has left to do comes now
                await checkpoint()
            second = self.call()
            await second.run()
            assert second.status == 409, second.body
            assert self.registration.statistics().leased == 1
            self.goes_on.set()
        assert holder.body == b"firstlast"
        await self.assert_served()


class Call:
    """One request at the level of ASGI, whose client leaves at a moment of the test's choice.

    Args:
        leaves: When `gone` is set without the test doing it.
        raises: Whether the server raises in `send` when nobody is there, as ASGI 2.4 has it, or
            says so in `receive` alone, as uvicorn does.
    """

    def __init__(
        self,
        app: ASGIApp,
        path: str,
        *,
        user: str = "alice",
        leaves: Moment | None = None,
        raises: bool = False,
        body: bytes | None = None,
    ) -> None:
        self._app = app
        self._leaves = leaves
        self._raises = raises
        headers = [(b"x-user", user.encode()), (b"content-type", b"application/json")]
        path, _, query = path.partition("?")
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4" if raises else "2.3"},
            "http_version": "1.1",
            "method": "GET" if body is None else "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        self._request: Message | None = {"type": "http.request", "body": body or b""}
        self.gone = asyncio.Event()
        self.got_body = asyncio.Event()
        self.messages: list[Message] = []
        if leaves == "before the request":
            self.gone.set()

    async def run(self) -> None:
        await self._app(self._scope, self._receive, self._send)

    async def run_to_its_end(self) -> None:
        with anyio.fail_after(LIMIT), suppress(*GONE):
            await self.run()

    async def _receive(self) -> Message:
        message, self._request = self._request, None
        if message is None:
            await self.gone.wait()
        return message or {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self.gone.is_set():
            if self._raises:
                raise OSError("the client is gone")
            return
        self.messages.append(message)
        if message["type"] == "http.response.start" and self._leaves == "at the start":
            self.gone.set()
        if message.get("body"):
            self.got_body.set()
            if self._leaves == "in the body":
                self.gone.set()
        await checkpoint()

    @property
    def status(self) -> int | None:
        return self.messages[0]["status"] if self.messages else None

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)

    def has(self, text: bytes) -> bool:
        return text in self.body


class Tasks:
    """The tasks of a test's event loop that were there before: no others may stay."""

    def __init__(self) -> None:
        self._before = asyncio.all_tasks()

    @property
    def more(self) -> list[asyncio.Task[Any]]:
        return [task for task in asyncio.all_tasks() if task not in self._before]

    async def are_back(self, and_of_instances: int = 0) -> None:
        """Wait until only the tasks that keep instances open are left."""
        gc.collect()  # what `unclosed` is about goes here, and not in another test
        await until(lambda: len(self.more) <= and_of_instances)
        assert len(self.more) == and_of_instances, self.more


def assert_free(registration: Registration[Any]) -> None:
    figures = registration.statistics()
    assert (figures.leased, figures.waiting, figures.seeking, figures.building) == (0, 0, 0, 0)


async def until(holds: Callable[[], object]) -> None:
    """Wait for what other tasks are about to do."""
    with anyio.fail_after(LIMIT):
        while not holds():  # noqa: ASYNC110  # nothing tells when they have
            await asyncio.sleep(0.001)
