"""Applications that leak, each through one crack that is easily overlooked."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import anyio
from fastapi import Body, FastAPI, HTTPException, Response
from fastapi.responses import JSONResponse, StreamingResponse

from scoped_registration.testing import Recorder
from scoped_registration.testing.findings import Place
from tests.testing.apps import User

Shown = Callable[[list[str]], Any]
"""Makes the response that shows a text to whom it is not for; an empty list: to nobody."""


def showing_app(recorder: Recorder, shown: Shown) -> FastAPI:
    """Return an application that is right, but shows each caller the text before, anybody's."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    before: list[str] = []

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> Any:
        histories[user, thread].append(text)
        await recorder.model_called(*histories[user, thread])
        response = shown(before[-1:])
        before.append(text)
        return response

    return app


def in_a_header(texts: list[str]) -> Response:
    return Response(headers={"x-related": " ".join(texts)})


def in_a_cookie(texts: list[str]) -> Response:
    response = Response()
    response.set_cookie("draft", "".join(texts))
    return response


def in_base64(texts: list[str]) -> list[str]:
    return [
        base64.b64encode(f"{beside}{text}".encode()).decode() for text in texts for beside in "ab"
    ]


def in_hexadecimal(texts: list[str]) -> list[str]:
    return [f"said: {text}".encode().hex() for text in texts]


def in_a_short_title(texts: list[str]) -> list[str]:
    return [f"{text:.24}..." for text in texts]


def in_an_error(texts: list[str]) -> Response:
    return JSONResponse({"detail": f"rejected like {texts}"}, status_code=409)


def in_parts_of_a_stream(texts: list[str]) -> Response:
    parts = [text[at : at + 5] for text in texts for at in range(0, len(text), 5)]
    events = [{"id": n, "choices": [{"delta": {"content": part}}]} for n, part in enumerate(parts)]
    return StreamingResponse(iter([f"data: {json.dumps(event)}\n\n" for event in events]))


def in_lines_of_a_stream(texts: list[str]) -> Response:
    return StreamingResponse(iter([f"data: {part}\n\n" for text in texts for part in text]))


def in_two_streams_that_take_turns(texts: list[str]) -> Response:
    events = [
        json.dumps({"type": "delta", "message": message, "text": part})
        for text in texts
        for part in text
        for message in ("one", "two")
    ]
    return StreamingResponse(iter([f"{event}\n" for event in events]))


def in_a_stream_that_never_ends(texts: list[str]) -> Response:
    async def parts() -> AsyncIterator[str]:
        for text in texts:
            yield text[:9]
            yield text[9:]
            await anyio.sleep_forever()

    return StreamingResponse(parts())


def in_a_stream_that_breaks(texts: list[str]) -> Response:
    async def parts() -> AsyncIterator[str]:
        for text in texts:
            yield text
            raise ConnectionError("the connection to the model is lost")

    return StreamingResponse(parts())


def in_a_false_encoding(texts: list[str]) -> Response:
    return Response("".join(texts), headers={"content-encoding": "gzip"} if texts else {})


def replaying_app(*, by_user: bool) -> FastAPI:
    """Return one that answers a message which it knows by its id as it did before."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    answers: dict[object, list[str]] = {}

    @app.post("/chat/{thread}")
    async def chat(
        thread: str, messages: Annotated[list[dict[str, str]], Body(embed=True)], user: User
    ) -> list[str]:
        key = messages[-1]["id"], user if by_user else ""
        if key not in answers:
            histories[user, thread].append(messages[-1]["content"])
            answers[key] = list(histories[user, thread])
        return answers[key]

    return app


def third_turn_app(recorder: Recorder) -> FastAPI:
    """Return one whose summary of long threads holds everybody's."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    everything: list[str] = []

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        histories[user, thread].append(text)
        everything.append(text)
        long = len(histories[user, thread]) > 2
        await recorder.model_called(*(everything if long else histories[user, thread]))

    return app


def storing_app(recorder: Recorder, place: Place) -> FastAPI:
    """Return one that is right, but stores everybody's texts in each row."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    everything: list[str] = []

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        histories[user, thread].append(text)
        everything.append(text)
        await recorder.model_called(*histories[user, thread])
        recorder.note(place, *everything)

    return app


class Session:
    """What a conversation is kept in."""


def session_app(
    recorder: Recorder,
    key: Callable[[str, str], object],
    *,
    ids: bool = False,
) -> FastAPI:
    """Return one that sends the model what it should, from a session by some other key.

    Args:
        recorder: Who is told.
        key: What sessions are kept by.
        ids: The session's id is recorded, and not the session.
    """
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    sessions: dict[object, Session] = {}

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        histories[user, thread].append(text)
        session = sessions.setdefault(key(user, thread), Session())
        named = str(key(user, thread)) if ids else session
        await recorder.model_called(*histories[user, thread], sessions=[named])

    return app


def conversation_app(recorder: Recorder, key: Callable[[str, str], object]) -> FastAPI:
    """Return one whose provider keeps the conversation, under ids that say nothing."""
    app = FastAPI()
    latest: dict[object, str] = {}

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        before = latest.get(key(user, thread))
        await recorder.model_called(text, conversation=before)
        latest[key(user, thread)] = after = f"response-{len(latest)}-{before}"
        recorder.kept(after, text, continues=before)

    return app


def remembering_app(
    recorder: Recorder, origin: Callable[[str, list[tuple[str, str]]], list[str]]
) -> FastAPI:
    """Return one that sends the model memories of sessions, and says whose they are.

    Args:
        recorder: Who is told.
        origin: The origins of what is sent to a session, given all (user, session id) so far.
    """
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    known: list[tuple[str, str]] = []

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        histories[user, thread].append(text)
        session = f"{user} {thread}"
        await recorder.model_called(
            *histories[user, thread], sessions=[session], origins=origin(user, known)
        )
        known.append((user, session))

    return app


def busy_app(recorder: Recorder, *, only_user: bool) -> FastAPI:
    """Return one that is right, but refuses while another request of anybody is under way.

    Args:
        recorder: Who is told.
        only_user: It refuses only while another request of the same thread is.
    """
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    running: set[object] = set()

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        key: object = (user, thread) if only_user else "all"
        if key in running:
            raise HTTPException(409, "a run is under way")
        running.add(key)
        try:
            histories[user, thread].append(text)
            await recorder.model_called(*histories[user, thread])
        finally:
            running.discard(key)

    return app
