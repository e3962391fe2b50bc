"""What a lease adds to a request of a FastAPI route. Raw ASGI: no client, no socket."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from starlette.types import Message

from scoped_registration.integrations.fastapi import attach, leased
from tests.benchmarks.figures import LONG, Bar, Figure, Report
from tests.benchmarks.measuring import Subject, alternate
from tests.benchmarks.samples import Chat, current_user, register

__all__ = ["post", "report", "running"]

YIELD = "a dependency with yield over a dict"
LOCKED = "the same, with an asyncio.Lock per key"
NOTHING = "no dependency but the caller's name"
OURS = "leased(registration)"


def application(dependency: Callable[..., Any]) -> FastAPI:
    """Return an application with one route, which has one dependency of its own."""
    app = FastAPI()

    @app.post("/chat/{thread_id}")
    async def chat(chat: Annotated[Any, Depends(dependency)]) -> dict[str, bool]:
        return {"answered": True}

    return app


def with_nothing() -> FastAPI:
    return application(current_user)


def with_yield() -> FastAPI:
    chats: dict[tuple[str, str], Chat] = {}

    async def own_chat(
        user: Annotated[str, Depends(current_user)], thread_id: str
    ) -> AsyncIterator[Chat]:
        key = user, thread_id
        if key not in chats:
            chats[key] = Chat()
        yield chats[key]

    return application(own_chat)


def with_yield_and_lock() -> FastAPI:
    chats: dict[tuple[str, str], Chat] = {}
    locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def own_chat(
        user: Annotated[str, Depends(current_user)], thread_id: str
    ) -> AsyncIterator[Chat]:
        key = user, thread_id
        async with locks.setdefault(key, asyncio.Lock()):
            if key not in chats:
                chats[key] = Chat()
            yield chats[key]

    return application(own_chat)


def with_lease() -> FastAPI:
    registration = register()
    app = application(leased(registration))
    attach(app, registration)
    return app


async def post(app: FastAPI, path: str, user: str, body: object = None) -> list[Message]:
    """Send one request, and return what the application sent."""
    content = b"" if body is None else json.dumps(body).encode()
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"x-user", user.encode()), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("test", 80),
    }
    ended = asyncio.Event()
    sent: list[Message] = []
    received = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> Message:
        for message in received:
            return message
        await ended.wait()  # the client stays until it has its answer
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            ended.set()

    await app(scope, receive, send)
    if sent[0]["status"] != 200:
        raise RuntimeError(f"the application answered {sent}")
    return sent


@contextlib.asynccontextmanager
async def running(*apps: FastAPI) -> AsyncGenerator[None, None]:
    """Run the lifespans of applications."""
    async with contextlib.AsyncExitStack() as stack:
        for app in apps:
            await stack.enter_async_context(app.router.lifespan_context(app))
        yield


async def _compare() -> Report:
    apps = {
        YIELD: with_yield(),
        LOCKED: with_yield_and_lock(),
        NOTHING: with_nothing(),
        OURS: with_lease(),
    }

    def subject(app: FastAPI) -> Subject:
        return lambda: post(app, "/chat/thread-0815", "user-4711")

    async with running(*apps.values()):
        series = await alternate(
            {name: subject(app) for name, app in apps.items()},
            rounds=3000 if LONG else 500,
            warm_up=50,
        )
    noise = series.noise
    figures = [
        Figure(f"{OURS} / {YIELD}", series.ratio(OURS), 1.08, 1.05, 1.7, noise),
        Figure(f"{OURS} / {LOCKED}", series.ratio(OURS, LOCKED), noise=noise),
        Figure(OURS, series.typical(OURS) * 1e6, unit=" µs"),
    ]
    bars = [Bar(name, series.ratio(name), name == OURS) for name in apps]
    return Report("FastAPI request", figures, bars, YIELD)


def report() -> Report:
    """Measure requests."""
    return asyncio.run(_compare())
