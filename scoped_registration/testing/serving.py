"""An ASGI application without a server: its lifespan, and requests whose answers are read whole."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.lowlevel

from scoped_registration.testing.barrier import Holds, Point
from scoped_registration.testing.ledger import Turn, asking
from scoped_registration.testing.requests import Request, Response

if TYPE_CHECKING:
    import httpx

# Any: ASGI's messages are mappings of whatever the message's type says.

__all__ = ["ASGIApp", "Late", "Lifespan", "Unanswered", "Unsent", "Visitors", "lifespan_of"]

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
ASGIApp: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]
"""What is probed: FastAPI, Starlette, or any other callable of ASGI 3."""

_log = logging.getLogger("scoped_registration.testing")


class Unanswered(Exception):  # noqa: N818  # an outcome of the application, not an error of ours
    """A request was not answered, or not to the end.

    Args:
        why: Why not.
        text: What had been answered until then.
    """

    def __init__(self, why: str, text: str = "") -> None:
        super().__init__(why)
        self.text = text


class Late(Unanswered):
    """A request was not answered within the time."""


class Unsent(Unanswered):
    """A request was not sent."""


class Lifespan:
    """The lifespan of an application. One without a lifespan starts and ends as well.

    Attributes:
        state: What the application hands to its requests.
        failure: Why it did not start or end; None while it did.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.state: dict[str, Any] = {}
        self.failure: str | None = None
        self._app = app
        self._started = anyio.Event()
        self._ending = anyio.Event()
        self._ended = anyio.Event()
        self._asked = False

    async def start(self, timeout: float) -> None:  # noqa: ASYNC109  # what it does then is data
        """Wait until the application has started, or says that it cannot."""
        await self._wait(self._started, "start-up", timeout)

    async def end(self, timeout: float) -> None:  # noqa: ASYNC109  # as above
        """Shut the application down."""
        self._ending.set()
        if self.failure is None:
            await self._wait(self._ended, "shutdown", timeout)

    async def run(self) -> None:
        """Run the application's lifespan: in one task, as its cancel scopes want it."""
        scope: _Message = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": self.state,
        }
        try:
            await self._app(scope, self._receive, self._send)
        except Exception as error:
            # Before any answer it means that the application has no lifespan.
            if self._started.is_set() and self.failure is None:
                self.failure = f"the shutdown raised {type(error).__name__}"
            _log.info("the application's lifespan raised", exc_info=error)
        finally:
            self._started.set()
            self._ended.set()

    async def _receive(self) -> _Message:
        if not self._asked:
            self._asked = True
            return {"type": "lifespan.startup"}
        await self._ending.wait()
        return {"type": "lifespan.shutdown"}

    async def _send(self, message: _Message) -> None:
        match message["type"]:
            case "lifespan.startup.failed":
                self.failure = "the start-up failed"
                _log.error("the application does not start: %s", message.get("message", ""))
                self._started.set()
            case "lifespan.shutdown.failed":
                self.failure = "the shutdown failed"
                _log.error("the application does not end: %s", message.get("message", ""))
                self._ended.set()
            case "lifespan.startup.complete":
                self._started.set()
            case _:
                self._ended.set()

    async def _wait(self, event: anyio.Event, what: str, seconds: float) -> None:
        with anyio.move_on_after(seconds) as scope:
            await event.wait()
        if scope.cancelled_caught and not event.is_set():
            self.failure = f"the {what} did not end within {seconds:g} s"


@asynccontextmanager
async def lifespan_of(app: ASGIApp, seconds: float) -> AsyncGenerator[Lifespan, None]:
    """Run an application's lifespan around a block."""
    lifespan = Lifespan(app)
    raised: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(lifespan.run)
        await lifespan.start(seconds)
        try:
            yield lifespan
        except Exception as error:  # the group would wrap it
            raised = error
        await lifespan.end(seconds)
        group.cancel_scope.cancel()
    if raised is not None:
        raise raised


class Visitors:
    """Who sends requests: one client for each principal, so that no cookie crosses here."""

    def __init__(self, app: ASGIApp, state: Mapping[str, Any], timeout: float) -> None:
        self.barrier: Holds | None = None
        self._app = app
        self._state = state
        self._timeout = timeout
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._parts: dict[Turn | None, list[str]] = {}
        self._broken: dict[Turn | None, str] = {}

    @asynccontextmanager
    async def come(self, principals: Mapping[str, Mapping[str, str]]) -> AsyncGenerator[None, None]:
        """Open the clients, by the principals' labels."""
        import httpx  # noqa: PLC0415  # of the extra, and only for who probes

        async with AsyncExitStack() as stack:
            for label, headers in principals.items():
                client = httpx.AsyncClient(
                    transport=httpx.ASGITransport(self._serve, raise_app_exceptions=False),
                    base_url="http://localhost",
                    headers=dict(headers),
                    timeout=None,  # noqa: S113  # each request is bounded here
                )
                self._clients[label] = await stack.enter_async_context(client)
            yield

    async def ask(self, turn: Turn, request: Request) -> Response:
        """Send a request and read its answer to the end.

        Raises:
            Unanswered: There was no answer.
            Late: There was none within the time.
        """
        client = self._clients[turn.seat.principal]
        asking.set(turn)
        parts = self._parts[turn] = []
        try:
            with anyio.fail_after(self._timeout):
                answer = await client.request(
                    request.method,
                    request.path,
                    json=request.json,
                    headers=dict(request.headers),
                )
        except TimeoutError:
            raise Late(f"it did not end within {self._timeout:g} s", "".join(parts)) from None
        except Exception as error:
            _log.info("a request was not answered", exc_info=error)
            raise Unanswered(f"no answer: {type(error).__name__}", "".join(parts)) from error
        finally:
            del self._parts[turn]
            if self.barrier is not None:
                self.barrier.leave(turn)
        broken = self._broken.pop(turn, None)
        if broken is not None and answer.is_success:
            raise Unanswered(f"its answer broke off: {broken}", "".join(parts))
        return Response(answer.status_code, answer.text, tuple(answer.headers.multi_items()))

    async def _serve(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Call the application; hold it before the body is read and before it answers."""
        turn, barrier = asking.get(), self.barrier
        first, ended = True, False

        async def held_receive() -> _Message:
            nonlocal first
            if first and barrier is not None:
                first = False
                await barrier.hold(turn, Point.BODY)
            return await receive()

        async def held_send(message: _Message) -> None:
            nonlocal ended
            # A stream that never ends may never wait either: here it can be cancelled.
            await anyio.lowlevel.checkpoint()
            if turn in self._parts:
                self._parts[turn].append(_text_of(message))
            point = _point_of(message)
            if barrier is not None:
                await barrier.hold(turn, point)
            await send(message)
            ended = point is Point.END

        scope["state"] = dict(self._state)
        try:
            await self._app(scope, held_receive, held_send)
        except Exception as error:
            _log.warning("the application raised", exc_info=True)
            if not ended:
                self._broken[turn] = type(error).__name__
            raise


def _point_of(message: _Message) -> Point:
    if message["type"] == "http.response.start":
        return Point.START
    return Point.ANSWER if message.get("more_body", False) else Point.END


def _text_of(message: _Message) -> str:
    headers = [value + b"\n" for _, value in message.get("headers", ())]
    return b"".join([*headers, message.get("body", b"")]).decode("utf-8", "replace")
