"""Isolated applications that look as if they leaked: none of them is called one that does."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI, HTTPException, Request, Response

from scoped_registration.testing import JSONRoute, Recorder, Verdict
from scoped_registration.testing import probe_isolation as probe
from scoped_registration.testing.serving import ASGIApp
from tests.testing.apps import CHAT, USERS, User, by_both, chat_app


def raw_app() -> ASGIApp:
    """Return one without a framework and without a lifespan."""
    histories: defaultdict[object, list[str]] = defaultdict(list)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        user = dict(scope["headers"])[b"x-user"]
        history = histories[user, scope["path"]]
        history.append(scope["query_string"].decode())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": "".join(history).encode()})

    return app


def compressing_app() -> FastAPI:
    app = chat_app(by_both)

    @app.middleware("http")
    async def compress(request: Request, call_next: Callable[[Request], Any]) -> Response:
        response = await call_next(request)
        body = b"".join([part async for part in response.body_iterator])
        return Response(gzip.compress(body), headers={"content-encoding": "gzip"})

    return app


def client_side_app() -> FastAPI:
    """Return one that keeps nothing: each thread's history is in a cookie."""
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, request: Request) -> Response:
        history = f"{request.cookies.get(thread, '')} {text}".strip()
        response = Response(history)
        response.set_cookie(thread, history)
        return response

    return app


def owner_app(status: int) -> FastAPI:
    """Return one whose threads belong to who began them; to others they do not exist."""
    owners: dict[str, str] = {}

    def by_owner(user: str, thread: str) -> object:
        if owners.setdefault(thread, user) != user:
            raise HTTPException(status)
        return thread

    return chat_app(by_owner)


def counting_app() -> FastAPI:
    """Return one that says how many texts there are altogether, and whose they are not."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> dict[str, Any]:
        histories[user, thread].append(text)
        return {"history": histories[user, thread], "of": sum(map(len, histories.values()))}

    return app


def idempotent_app() -> FastAPI:
    """Return one that answers a message which it knows as before, if it is the same user's."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    answers: dict[object, list[str]] = {}

    @app.post("/chat/{thread}")
    async def chat(
        thread: str, text: str, key: Annotated[str, Body(embed=True)], user: User
    ) -> list[str]:
        if (user, key) not in answers:
            histories[user, thread].append(text)
            answers[user, key] = list(histories[user, thread])
        return answers[user, key]

    return app


def refusing_ids_app() -> FastAPI:
    """Return one that refuses a message's id which anybody has used before."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    used: set[str] = set()

    @app.post("/chat/{thread}")
    async def chat(
        thread: str, text: str, key: Annotated[str, Body(embed=True)], user: User
    ) -> list[str]:
        if key in used:
            raise HTTPException(409)
        used.add(key)
        histories[user, thread].append(text)
        return histories[user, thread]

    return app


def repeating_app() -> FastAPI:
    """Return one that answers with the same words many times, and in capitals."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> list[str]:
        histories[user, thread].append(text)
        return [said.upper() for said in histories[user, thread]] * 50

    return app


KEYED = JSONRoute("/chat/{thread}?text={text}", json={"key": "{message_id}"})


@pytest.mark.parametrize(
    ("app", "route"),
    [
        (raw_app(), CHAT),
        (compressing_app(), CHAT),
        (client_side_app(), CHAT),
        (owner_app(403), CHAT),
        (owner_app(500), CHAT),
        (counting_app(), CHAT),
        (idempotent_app(), KEYED),
        (refusing_ids_app(), KEYED),
        (repeating_app(), CHAT),
    ],
    ids=[
        "raw",
        "compressing",
        "client side",
        "owner 403",
        "owner 500",
        "counting",
        "idempotent",
        "refusing ids",
        "repeating",
    ],
)
async def test_an_application_that_is_isolated(app: ASGIApp, route: JSONRoute) -> None:
    report = await probe(app, route, USERS)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_a_model_client_that_all_sessions_use(recorder: Recorder) -> None:
    class Client:
        async def ask(self, history: list[str], session: object) -> None:
            await recorder.model_called(*history, sessions=[session])

    client, app = Client(), FastAPI()
    sessions: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        session = sessions[user, thread]
        session.append(text)
        await client.ask(session, session)

    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)
