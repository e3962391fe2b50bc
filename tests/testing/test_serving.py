"""Lifespans, hanging applications, and what is no application of a framework."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from typing import Any

import anyio
import pytest
from fastapi import FastAPI

from scoped_registration.testing import Verdict, probe_isolation
from scoped_registration.testing.findings import Control, Failure
from scoped_registration.testing.serving import ASGIApp
from tests.testing.apps import CHAT, USERS, Life, by_both, chat_app

SECRET = "sk-live-4711"


async def test_the_application_is_started_and_ended_once_and_hands_over_its_state() -> None:
    life = Life()
    report = await probe_isolation(life.app(), CHAT, USERS)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert life.events == ["start", "end"]
    assert dict(report.held)[Control.LIFESPAN] == 1


async def test_a_running_application_is_not_started_again() -> None:
    life = Life()
    report = await probe_isolation(life.app(), CHAT, USERS, lifespan=False)
    assert life.events == []
    assert report.verdict is Verdict.INCONCLUSIVE, "nothing has made its state"
    report = await probe_isolation(chat_app(by_both), CHAT, USERS, lifespan=False)
    assert report.verdict is Verdict.ISOLATED, str(report)


def lifespan_app(*messages: str, hangs: bool = False) -> ASGIApp:
    """Return an application that answers its lifespan with messages, one for each question."""
    inner = chat_app(by_both)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await inner(scope, receive, send)
            return
        if not messages and not hangs:
            raise KeyError(scope["type"])  # as applications without a lifespan do
        for message in messages:
            await receive()
            await send({"type": message, "message": SECRET})
            if message.endswith("failed"):
                raise OSError(SECRET)
        if hangs:
            await anyio.sleep_forever()

    return app


@pytest.mark.parametrize(
    ("app", "why"),
    [
        (lifespan_app("lifespan.startup.failed"), "the start-up failed"),
        (lifespan_app(hangs=True), "the start-up did not end within 0.2 s"),
        (
            lifespan_app("lifespan.startup.complete", "lifespan.shutdown.failed"),
            "the shutdown failed",
        ),
        (
            lifespan_app("lifespan.startup.complete", hangs=True),
            "the shutdown did not end within 0.2 s",
        ),
    ],
    ids=["start fails", "start hangs", "end fails", "end hangs"],
)
async def test_a_lifespan_that_fails_is_inconclusive(
    app: ASGIApp, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with anyio.fail_after(20):
        report = await probe_isolation(app, CHAT, USERS, request_timeout=0.2)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.failures == (Failure(Control.LIFESPAN, why),)
    assert SECRET not in str(report)
    if why.endswith("failed"):
        assert SECRET in caplog.text, "the log says what the report does not"


async def test_an_application_without_a_lifespan() -> None:
    report = await probe_isolation(lifespan_app(), CHAT, USERS)
    assert report.verdict is Verdict.ISOLATED, str(report)


@pytest.mark.parametrize("hangs_at", ["before its answer", "in its answer", "overlapping"])
async def test_a_request_that_hangs_ends_the_probe(hangs_at: str) -> None:
    inner = chat_app(by_both)
    number = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal number
        number += scope["type"] == "http"
        if number == (11 if hangs_at == "overlapping" else 3) and scope["type"] == "http":
            if hangs_at == "in its answer":
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": b"and", "more_body": True})
            await anyio.sleep_forever()
        await inner(scope, receive, send)

    with anyio.fail_after(20):
        report = await probe_isolation(
            app, CHAT, USERS, request_timeout=0.3, overlap_timeout=0.1, lifespan=False
        )
    assert report.verdict is Verdict.INCONCLUSIVE
    late = [it for it in report.failures if it.why == "it did not end within 0.3 s"]
    assert len(late) == 1
    assert report.requests == (14 if hangs_at == "overlapping" else 3)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("answers", [True, False])
async def test_an_application_that_raises_or_does_not_answer(
    answers: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if answers:
            raise ValueError(SECRET)

    report = await probe_isolation(app, CHAT, USERS)
    assert report.verdict is Verdict.INCONCLUSIVE
    why = {it.why for it in report.failures if it.control is Control.ANSWERED}
    assert why == ({"status 500"} if answers else {"no answer: AssertionError"})
    assert SECRET not in str(report)


async def test_what_a_request_leaves_in_its_context_does_not_reach_the_next_one() -> None:
    left: contextvars.ContextVar[list[str]] = contextvars.ContextVar("left")
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(text: str) -> list[str]:
        left.set([*left.get([]), text])
        return left.get()

    report = await probe_isolation(app, CHAT, USERS)
    assert report.sightings == ()
    held = dict(report.held)
    assert held[Control.OWN_TEXT] == 20, "control: each answer held the own text"


async def test_a_probe_that_is_cancelled_leaves_no_application_running() -> None:
    life = Life()
    inner = life.app()
    reached = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            reached.set()
            await anyio.sleep_forever()
        await inner(scope, receive, send)

    task = asyncio.create_task(probe_isolation(app, CHAT, USERS))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert life.events == ["start", "end"]


async def test_what_a_request_maker_raises_is_raised(caplog: pytest.LogCaptureFixture) -> None:
    class Mistaken:
        def request(self, say: object) -> Any:
            raise NotImplementedError("later")

        def read(self, response: object) -> Any:
            raise NotImplementedError

    caplog.set_level(logging.DEBUG)
    with pytest.raises(NotImplementedError, match="later"):
        await probe_isolation(chat_app(by_both), Mistaken(), USERS)
