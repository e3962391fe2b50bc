"""Applications that are probed: some keep their users apart, some do not, each in its own way."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Annotated, Any

from fastapi import Body, Depends, FastAPI, Header, HTTPException, Request, Response
from fastapi.responses import StreamingResponse

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.testing import JSONRoute, Recorder, requests
from scoped_registration.testing.requests import Reading, Say
from scoped_registration.testing.serving import ASGIApp

USERS = [{"x-user": "alice"}, {"x-user": "bob"}]
CHAT = JSONRoute("/chat/{thread}?text={text}")


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


User = Annotated[str, Depends(current_user)]
Key = Callable[[str, str], object]


def chat_app(
    key: Key, *, recorder: Recorder | None = None, echoes: bool = True, model: bool = True
) -> FastAPI:
    """Return an application that keeps one history for each key of (user, thread).

    Args:
        key: What it keeps histories by.
        recorder: Who is told of the model's calls.
        echoes: The answer repeats the history.
        model: The model is called.
    """
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> list[str]:
        history = histories[key(user, thread)]
        history.append(text)
        if recorder is not None and model:
            await recorder.model_called(*history)
        return history if echoes else ["an answer"]

    return app


def by_both(user: str, thread: str) -> object:
    return user, thread


def by_user(user: str, thread: str) -> object:
    return user


def by_thread(user: str, thread: str) -> object:
    return thread


def by_nothing(user: str, thread: str) -> object:
    return "all"


def forgetful_app(recorder: Recorder) -> FastAPI:
    """Return an application that keeps nothing: its clients send the conversation."""
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> str:
        await recorder.model_called(text)
        return text

    return app


class Chat:
    def __init__(self) -> None:
        self.lines: list[str] = []


def build_chat(context: ScopeContext[str]) -> Chat:
    return Chat()


def leased_app(recorder: Recorder | None = None) -> FastAPI:
    """Return an application of this library."""
    registration = (
        RegistrationBuilder("chat").isolation(ScopedFactory(build_chat, scope=current_user)).build()
    )
    app = FastAPI()
    attach(app, registration)

    @app.post("/chat/{thread_id}")
    async def say(text: str, chat: Annotated[Chat, Depends(leased(registration))]) -> list[str]:
        chat.lines.append(text)
        if recorder is not None:
            await recorder.model_called(*chat.lines)
        return chat.lines

    return app


def racing_app(recorder: Recorder) -> FastAPI:
    """Return an application that is wrong only while requests overlap: one field for all."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    latest = ""

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> str:
        nonlocal latest
        histories[user, thread].append(text)
        latest = text
        await recorder.model_called(*histories[user, thread])
        return latest

    return app


def racing_stream_app() -> FastAPI:
    """Return one that is wrong only when another request comes between two parts of an answer."""
    app = FastAPI()
    latest = ""

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> StreamingResponse:
        async def parts() -> AsyncIterator[str]:
            nonlocal latest
            latest = text
            yield f"{text} "
            yield latest

        return StreamingResponse(parts())

    return app


def uneven_app() -> FastAPI:
    """Return one whose answers to bob come in more parts than those to alice."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> StreamingResponse:
        histories[user, thread].append(text)
        more = [""] if user == "alice" else ["and", "so", "on"]
        return StreamingResponse(iter([*histories[user, thread], *more]))

    return app


def racing_body_app() -> ASGIApp:
    """Return one that is wrong only when another request comes before the body is read."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    latest = b""

    @app.post("/chat/{thread}")
    async def chat(said: Annotated[str, Body(embed=True)]) -> list[str]:
        histories[latest].append(said)
        return histories[latest]

    async def identifying(scope: Any, receive: Any, send: Any) -> None:
        nonlocal latest
        latest = dict(scope.get("headers", ())).get(b"x-user", b"")
        await app(scope, receive, send)

    return identifying


class Transcripts:
    """The route of an application whose threads can be read."""

    def request(self, say: Say) -> requests.Request:
        return requests.Request("POST", f"/chat/{say.thread}?text={say.text}")

    def read(self, response: requests.Response) -> Reading:
        return Reading(response.text)

    def look(self, say: Say) -> requests.Request:
        return requests.Request("GET", f"/chat/{say.thread}")


def transcripts_app(*, checked: bool, kept: bool = True) -> FastAPI:
    """Return one that can be asked for a thread; unchecked, by everybody who knows its id."""
    app = chat_app(by_both)
    said: defaultdict[object, list[str]] = defaultdict(list)

    @app.middleware("http")
    async def keep(request: Request, call_next: Callable[[Request], Awaitable[Any]]) -> Any:
        text = request.query_params.get("text")
        thread = request.url.path.rpartition("/")[2]
        if text is not None and kept:
            said[thread, request.headers["x-user"] if checked else ""].append(text)
        return await call_next(request)

    @app.get("/chat/{thread}")
    async def transcript(thread: str, user: User) -> list[str]:
        return said[thread, user if checked else ""]

    return app


def misfiling_app(recorder: Recorder) -> FastAPI:
    """Return one that files overlapping texts under whoever came last, and shows it later."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    latest: object = None

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> str:
        nonlocal latest
        latest = user, thread
        await recorder.model_called(*histories[user, thread], text)
        histories[latest].append(text)
        return "an answer"

    return app


def serializing_app(recorder: Recorder) -> FastAPI:
    """Return one whose model serves one call at a time, whosever it is."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    lock = asyncio.Lock()

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> list[str]:
        async with lock:
            histories[user, thread].append(text)
            await recorder.model_called(*histories[user, thread])
            return histories[user, thread]

    return app


def one_at_a_time(app: ASGIApp) -> ASGIApp:
    """Return an application around another one, which serves one request at a time."""
    lock = asyncio.Lock()

    async def locked(scope: Any, receive: Any, send: Any) -> None:
        async with nullcontext() if scope["type"] == "lifespan" else lock:
            await app(scope, receive, send)

    return locked


def unauthorized_app() -> FastAPI:
    """Return one that knows nobody."""
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str) -> str:
        raise HTTPException(401, text)

    return app


def cookie_app() -> FastAPI:
    """Return one that knows its users by a cookie which it hands out."""
    app = FastAPI()
    histories: list[list[str]] = []

    @app.post("/chat/{thread}")
    async def chat(text: str, request: Request, response: Response) -> list[str]:
        session = request.cookies.get("session")
        if session is None:
            session = str(len(histories))
            histories.append([])
            response.set_cookie("session", session)
        histories[int(session)].append(text)
        return histories[int(session)]

    return app


class Life:
    """What the lifespan of an application has seen."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def app(self) -> FastAPI:
        """Return an application that serves only while its lifespan runs."""

        @asynccontextmanager
        async def lifespan(app: FastAPI) -> AsyncGenerator[dict[str, Any], None]:
            self.events.append("start")
            try:
                yield {"histories": defaultdict[object, list[str]](list)}
            finally:
                self.events.append("end")

        app = FastAPI(lifespan=lifespan)

        @app.post("/chat/{thread}")
        async def chat(thread: str, text: str, user: User, request: Request) -> list[str]:
            history: list[str] = request.state.histories[user, thread]
            history.append(text)
            return history

        return app
