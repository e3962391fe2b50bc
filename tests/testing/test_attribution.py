"""Whose request it was: in tasks, in threads, in workers, and after the answer."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import BackgroundTasks, FastAPI

from scoped_registration.testing import Recorder, Verdict, probe_isolation
from scoped_registration.testing.findings import Place
from tests.testing.apps import CHAT, USERS, User


def threaded_app(recorder: Recorder, *, shared: bool) -> FastAPI:
    """Return an application with synchronous handlers, which run in threads."""
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    def chat(thread: str, text: str, user: User) -> None:
        history = histories["all" if shared else (user, thread)]
        history.append(text)
        recorder.note(Place.MODEL_INPUT, *history)

    return app


async def test_a_synchronous_model_in_a_thread(recorder: Recorder) -> None:
    app = threaded_app(recorder, shared=False)
    report = await probe_isolation(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)
    leak = threaded_app(recorder, shared=True)
    report = await probe_isolation(leak, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK


def worker_app(recorder: Recorder, *, shared: bool, lazy: bool) -> FastAPI:
    """Return an application whose model is called by one worker for all requests.

    Args:
        recorder: Who is told.
        shared: The worker keeps one history for all.
        lazy: The first request starts the worker, which keeps that request's context.
    """
    jobs: asyncio.Queue[tuple[object, str, asyncio.Future[None]]] = asyncio.Queue()
    histories: defaultdict[object, list[str]] = defaultdict(list)
    workers: list[asyncio.Task[None]] = []

    async def work() -> None:
        while True:
            key, text, done = await jobs.get()
            history = histories["all" if shared else key]
            history.append(text)
            recorder.note(Place.MODEL_INPUT, *history)
            done.set_result(None)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        if not lazy:
            workers.append(asyncio.create_task(work()))
        yield
        workers[0].cancel()

    app = FastAPI(lifespan=lifespan)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        if not workers:
            workers.append(asyncio.create_task(work()))
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await jobs.put(((user, thread), text, done))
        await done

    return app


async def test_one_worker_for_all_requests(recorder: Recorder) -> None:
    for lazy in (True, False):
        app = worker_app(recorder, shared=False, lazy=lazy)
        report = await probe_isolation(app, CHAT, USERS, recorder=recorder)
        assert report.verdict is Verdict.ISOLATED, str(report)
        leak = worker_app(recorder, shared=True, lazy=lazy)
        report = await probe_isolation(leak, CHAT, USERS, recorder=recorder)
        assert report.verdict is Verdict.LEAK
        seen = {(str(it.seer), str(it.owner)) for it in report.sightings}
        assert ("p2/t1", "p1/t1") in seen


def other_ones_text_app(recorder: Recorder) -> FastAPI:
    """Return one that sends the model what another one said before, and not the own text."""
    app = FastAPI()
    before = ""

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        nonlocal before
        await recorder.model_called(before)
        await recorder.model_called(text)
        before = text

    return app


async def test_a_call_that_holds_nothing_but_anothers_text(recorder: Recorder) -> None:
    report = await probe_isolation(
        other_ones_text_app(recorder), CHAT, USERS, recorder=recorder, overlap=False
    )
    assert ("p2/t1", "p1/t1") in {(str(it.seer), str(it.owner)) for it in report.sightings}


async def test_a_model_that_is_called_after_the_answer(recorder: Recorder) -> None:
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User, after: BackgroundTasks) -> None:
        histories[user, thread].append(text)
        after.add_task(recorder.model_called, *histories[user, thread])

    report = await probe_isolation(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_what_fails_after_the_answer_does_not_break_it(recorder: Recorder) -> None:
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    def fail() -> None:
        raise ConnectionError("the connection to the index is lost")

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User, after: BackgroundTasks) -> None:
        histories[user, thread].append(text)
        await recorder.model_called(*histories[user, thread])
        after.add_task(fail)

    report = await probe_isolation(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_a_recorder_serves_one_probe_after_another(recorder: Recorder) -> None:
    app = threaded_app(recorder, shared=False)
    for _ in range(2):
        report = await probe_isolation(app, CHAT, USERS, recorder=recorder)
        assert report.verdict is Verdict.ISOLATED, str(report)


async def test_a_recorder_without_a_probe_does_nothing(recorder: Recorder) -> None:
    await recorder.model_called("nobody asks")
    recorder.note(Place.SNAPSHOT, "nobody asks")
