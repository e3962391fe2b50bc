"""What the builder adds to a request of an AG-UI endpoint, and how many requests it finishes."""

from __future__ import annotations

import asyncio
import itertools
import logging
import uuid

from agent_framework_ag_ui import AgentFrameworkWorkflow, add_agent_framework_fastapi_endpoint
from fastapi import FastAPI

from scoped_registration import ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from tests.benchmarks.figures import LONG, Bar, Figure, Report
from tests.benchmarks.http import post, running
from tests.benchmarks.measuring import Subject, alternate
from tests.benchmarks.samples import current_user
from tests.integrations.agent_framework.kit import RecordingModel, factory_of, make_workflow

__all__ = ["report"]

MANY = 20
THREADS = 50
"""A thread's history grows with each run, and so does what a run costs: few runs for each."""

RAW = "the framework's endpoint with workflow_factory"
OURS = "AGUIEndpointBuilder"


def with_factory() -> FastAPI:
    model = RecordingModel()
    app = FastAPI()
    add_agent_framework_fastapi_endpoint(
        app,
        AgentFrameworkWorkflow(workflow_factory=lambda thread_id: make_workflow(model)),
        "/",
        authorization_scope_resolver=current_user,
    )
    return app


def with_builder() -> FastAPI:
    app = FastAPI()
    (
        AGUIEndpointBuilder("support")
        .isolation(ScopedFactory(factory_of(RecordingModel()), scope=current_user))
        .concurrency("queue", max_waiting=MANY)
        .mount(app)
    )
    return app


async def say(app: FastAPI, thread: str) -> bool:
    """Send one message, and tell whether its run finished."""
    message = {"id": uuid.uuid4().hex, "role": "user", "content": "hello"}
    sent = await post(app, "/", "alice", {"thread_id": thread, "messages": [message]})
    return b"RUN_FINISHED" in b"".join(part.get("body", b"") for part in sent)


async def unfinished(app: FastAPI) -> int:
    """Return how many of many requests of one thread, sent at once, do not finish."""
    finished = await asyncio.gather(*(say(app, "one") for _ in range(MANY)))
    return MANY - sum(finished)


async def _compare() -> Report:
    raw, ours = with_factory(), with_builder()

    def subject(app: FastAPI) -> Subject:
        threads = itertools.cycle(range(THREADS))

        async def turn() -> None:
            if not await say(app, f"thread-{next(threads)}"):
                raise RuntimeError("a run did not finish")

        return turn

    async with running(raw, ours):
        lost = await unfinished(ours)
        logging.disable()  # the framework logs each run that it refuses, with its frames
        lost_raw = await unfinished(raw)
        logging.disable(logging.NOTSET)
        series = await alternate(
            {RAW: subject(raw), OURS: subject(ours)},
            rounds=400 if LONG else 60,
            warm_up=THREADS,
        )
    figures = [
        Figure(f"{OURS} / {RAW}", series.ratio(OURS), 1.03, 1.02, 1.4, series.noise),
        Figure(f"of {MANY} requests of one thread at once, not finished", lost, 0, 0),
        Figure(f"the same, {RAW}", lost_raw),
        Figure(OURS, series.typical(OURS) * 1e3, unit=" ms"),
    ]
    bars = [Bar(name, series.ratio(name), name == OURS) for name in (RAW, OURS)]
    return Report("AG-UI request", figures, bars, RAW)


def report() -> Report:
    """Measure AG-UI requests."""
    return asyncio.run(_compare())
