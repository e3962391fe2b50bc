"""Routes over a store: what a response's end does to the thread."""

import logging
import runpy
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import httpx
import pytest
from fastapi import Depends, FastAPI, HTTPException

from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore, store_unavailable
from tests.unit.persistence.support import Chat, worker

PROGRAM = Path(__file__).parents[3] / "docs/examples/workers/chat.py"


def serving(store: ThreadStore) -> FastAPI:
    """Return what one worker process serves."""
    registration = worker(store)
    app = FastAPI()
    attach(app, registration)

    @app.post("/say/{thread_id}")
    async def say(text: str, chat: Annotated[Chat, Depends(leased(registration))]) -> list[str]:
        chat.messages.append(text)
        if text == "refuse":
            raise HTTPException(418)
        return chat.messages

    return app


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncGenerator[httpx.AsyncClient, None]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as http,
    ):
        yield http


async def test_p11_a_thread_is_served_by_two_applications_in_turn() -> None:
    store = MemoryStore()
    async with client_of(serving(store)) as first, client_of(serving(store)) as second:
        for number in range(1, 7):
            http = first if number % 2 else second
            answer = await http.post("/say/A", params={"text": str(number)})
            assert answer.json() == [str(one) for one in range(1, number + 1)]


async def test_a_run_that_ends_with_an_error_commits_nothing() -> None:
    store = MemoryStore()
    async with client_of(serving(store)) as http:
        await http.post("/say/A", params={"text": "kept"})
        assert (await http.post("/say/A", params={"text": "refuse"})).status_code == 418
        answer = await http.post("/say/A", params={"text": "and now"})
        assert answer.json() == ["kept", "and now"]


class Failing(MemoryStore):
    async def acquire(self, key: str, **_: object) -> None:
        raise store_unavailable("test")


async def test_a_store_that_does_not_answer_is_503(caplog: pytest.LogCaptureFixture) -> None:
    async with client_of(serving(Failing())) as http:
        with caplog.at_level(logging.ERROR, "scoped_registration"):
            answer = await http.post("/say/A", params={"text": "hello"})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["detail"]["code"] == "store_unavailable"


async def test_the_program_of_the_documentation(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("example"))  # its path is relative
    for number in range(1, 4):
        app = runpy.run_path(str(PROGRAM))["app"]  # as each new process does
        async with client_of(app) as http:
            answer = await http.post(
                "/chat/A", params={"text": "hello"}, headers={"x-user": "alice"}
            )
            assert answer.json() == number
