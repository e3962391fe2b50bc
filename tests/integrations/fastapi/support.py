"""What the tests of the FastAPI integration share: a target, a resolver and small applications."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeAlias

import attrs
import httpx
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.testclient import TestClient
from starlette.types import Message

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    Registration,
    RegistrationBuilder,
    Risk,
    ScopeContext,
    ScopedFactory,
)
from scoped_registration.integrations.fastapi import Leased, Thread, attach, leased
from scoped_registration.registration import ScopedRegistration, SharedRegistration

Unseen: TypeAlias = Any
"""The type of what no checker looks at: a cast, an untyped caller, a silenced line."""

CANARY = "canary-principal-7f3a"
CANARY_THREAD = "canary-thread-91bc"


class Chat:
    """A target that keeps state."""

    def __init__(self, context: ScopeContext[Any] | None = None) -> None:
        self.context = context
        self.lines: list[str] = []
        self.closed = 0

    def say(self, text: str) -> list[str]:
        assert not self.closed, "a closed instance was used"
        self.lines.append(text)
        return list(self.lines)

    async def aclose(self) -> None:
        self.closed += 1


def current_user(x_user: Annotated[str | None, Header()] = None) -> str:
    if x_user is None:
        raise HTTPException(401, "who are you?", headers={"WWW-Authenticate": "Bearer"})
    return x_user


def scoped(
    name: str = "chat", scope: Callable[..., str] = current_user
) -> ScopedRegistration[Chat, str]:
    return RegistrationBuilder(name).isolation(ScopedFactory(Chat, scope=scope)).build()


def shared(name: str = "room", **more: Unseen) -> SharedRegistration[Chat]:
    acknowledgement = Acknowledgement(
        reason="one incident room", owner="team-sre", risks={Risk.OBJECT_STATE}, **more
    )
    mode = PersistentShared(Chat(), acknowledgement=acknowledgement)
    return RegistrationBuilder(name).isolation(mode).build()


def add_chat(
    app: FastAPI, dependency: Leased[Chat], path: str = "/chat/{thread_id}", **options: Unseen
) -> None:
    async def chat(
        chat: Annotated[Chat, Depends(dependency)], text: str = "hello"
    ) -> dict[str, list[str]]:
        return {"lines": chat.say(text)}

    app.add_api_route(path, chat, **options)


def chat_app(
    registration: ScopedRegistration[Chat, Any],
    thread: Thread | None = None,
    path: str = "/chat/{thread_id}",
    app: FastAPI | None = None,
) -> FastAPI:
    """Return an application with one route that leases the registration."""
    app = app or FastAPI()
    attach(app, registration)
    add_chat(app, leased(registration, thread), path)
    return app


def client_of(app: FastAPI) -> TestClient:
    """Return a client that sees answers, as a server's clients do, and no exceptions."""
    return TestClient(app, raise_server_exceptions=False)


def as_user(name: str) -> dict[str, str]:
    return {"x-user": name}


ALICE = as_user("alice")
BOB = as_user("bob")


def untouched(registration: Registration[Any]) -> bool:
    """Tell whether nothing was built, leased, queued or refused by the pool."""
    return not any(attrs.astuple(registration.statistics()))


@asynccontextmanager
async def async_client(app: FastAPI) -> AsyncGenerator[httpx.AsyncClient, None]:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def start(app: FastAPI) -> None:
    """Start and stop an application as a server does; what start-up raises comes out here.

    The test client of older Starlette releases leaves streams open when a start fails.
    """

    async def run() -> None:
        messages = [{"type": "lifespan.shutdown"}, {"type": "lifespan.startup"}]

        async def receive() -> Message:
            return messages.pop()

        async def send(message: Message) -> None:
            pass

        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    asyncio.run(run())


class Exchange:
    """One GET at the level of ASGI, whose client goes away when the test says so.

    Args:
        app: The application.
        path: The path to get.
        user: Who calls.
        refuse: Lets `send` fail for the messages that it answers True to, as a server does
            whose client is gone.
        spec: The version of the ASGI specification: before 2.4 a response listens for the
            disconnect, since then `send` raises.
    """

    def __init__(
        self,
        app: FastAPI,
        path: str,
        *,
        user: str = "alice",
        refuse: Callable[[Message], bool] = lambda message: False,
        spec: str = "2.4",
    ) -> None:
        self._app = app
        self._refuse = refuse
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": spec},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(b"host", b"test"), (b"x-user", user.encode())],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        self._asked = False
        self.gone = asyncio.Event()
        self.got_body = asyncio.Event()
        self.status: int | None = None
        self.body = b""

    async def run(self) -> None:
        await self._app(self._scope, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._refuse(message):
            raise OSError("the client is gone")
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.body += message.get("body", b"")
            if self.body:
                self.got_body.set()
