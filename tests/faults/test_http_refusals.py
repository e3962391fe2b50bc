"""Thousands of refused requests leave nothing behind, and nothing of a stream (P5, P6, P7)."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio
import attrs
import pytest

from scoped_registration.registration import Registration
from tests.faults.http_support import (
    LAYERS,
    LIMIT,
    Call,
    Layer,
    Stage,
    Tasks,
    assert_free,
    unclosed,
    until,
)
from tests.unit.runtime.support import keeper_of, pool_in

pytestmark = unclosed

MANY = 400  # of each kind


class Callee(Protocol):
    """An application under test, on plain FastAPI or with an AG-UI endpoint."""

    goes_on: asyncio.Event  # holds streams back after their first part
    first: bytes  # what that part holds

    @property
    def registration(self) -> Registration[Any]: ...

    @property
    def bodies(self) -> int:
        """How many streams have begun."""
        ...

    def call(self, route: str = "chat", thread: str = "t1", **options: Any) -> Call:
        """Return a call that is answered at once, or with `route="stream"` a stream."""
        ...


@attrs.frozen
class Case:
    """One refusal.

    Attributes:
        held: A run of the thread is on while requests are refused.
        drains: The registration shuts down meanwhile.
    """

    status: int
    code: str
    thread: str = "t1"
    user: str = "alice"
    held: bool = False
    drains: bool = False
    reject: bool = False

    def stage(self, layer: Layer) -> Stage:
        return Stage(layer, "reject" if self.reject else "queue", max_waiting=0)

    def request(self, stage: Callee, number: int) -> Call:
        thread = self.thread.format(number=number)
        return stage.call("stream", thread, user=self.user.format(number=number))

    def check(self, call: Call) -> None:
        """One whole answer came, and no byte of a stream."""
        assert call.status == self.status, call.body
        assert self.code.encode() in call.body
        assert b"first" not in call.body
        assert b"data:" not in call.body
        assert call.headers["content-type"] == "application/json"
        assert ("retry-after" in call.headers) == (self.status == 503)
        assert [message["type"] for message in call.messages].count("http.response.start") == 1


CASES = {
    "nobody": Case(401, "scope_missing", "t{number}", user=" "),
    "a thread id that is too long": Case(422, "thread_id_invalid", "{number:0513}"),
    "busy": Case(409, "thread_busy", held=True, reject=True),
    "full": Case(503, "queue_full", held=True),
    "draining": Case(503, "draining", "t{number}", user="user{number}", held=True, drains=True),
}


@asynccontextmanager
async def held(case: Case, stage: Callee) -> AsyncGenerator[None, None]:
    """Let alice's thread be busy, and the registration shut down, where a case says so."""
    async with anyio.create_task_group() as group:
        if case.held:
            holder = stage.call("stream")
            group.start_soon(holder.run)
            await until(lambda: stage.first in holder.body)
        if case.drains:
            group.start_soon(stage.registration.shutdown)
            await until(lambda: keeper_of(pool_in(stage.registration)).refusing)
        yield
        stage.goes_on.set()


def census() -> Counter[str]:
    """Count the objects of this library that are alive: no table can hide one."""
    gc.collect()
    things: list[object] = gc.get_objects()
    kinds = Counter(type(thing) for thing in things)
    return Counter(
        {
            kind.__qualname__: count
            for kind, count in kinds.items()
            if str(kind.__module__).startswith("scoped_registration.")
        }
    )


async def refuse(case: Case, stage: Callee, numbers: range) -> None:
    for number in numbers:
        call = case.request(stage, number)
        with anyio.fail_after(LIMIT):
            await call.run()
        case.check(call)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_p7_refused_requests_leave_nothing_behind(case: Case) -> None:
    tasks = Tasks()
    stage = case.stage("plain")
    slots = keeper_of(pool_in(stage.registration)).slots
    in_use = 1 if case.held else 0
    async with stage.app.router.lifespan_context(stage.app):
        async with held(case, stage):
            await refuse(case, stage, range(10))  # what is made once is there now
            figures = stage.registration.statistics()
            before, open_tasks = census(), len(tasks.more)
            await refuse(case, stage, range(10, 10 + MANY))
            assert census() == before
            assert len(slots) == in_use
            assert len(tasks.more) == open_tasks
            after = stage.registration.statistics()
            assert after.rejected == figures.rejected + MANY * in_use
            assert attrs.evolve(after, rejected=figures.rejected) == figures
            assert (after.leased, after.waiting) == (in_use, 0)
            assert stage.bodies == in_use, "no refused request reached its endpoint"
        assert_free(stage.registration)
        await stage.assert_served()
    assert stage.instances.closed == ([1, 1] if case.drains else [1])
    await tasks.are_back()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("layer", LAYERS[1:])
async def test_p6_a_refusal_is_one_whole_answer_behind_every_layer(
    layer: Layer, case: Case
) -> None:
    tasks = Tasks()
    stage = case.stage(layer)
    async with stage.app.router.lifespan_context(stage.app), held(case, stage):
        await refuse(case, stage, range(5))
        assert stage.bodies == (1 if case.held else 0)
    assert_free(stage.registration)
    await tasks.are_back()


async def test_control_what_a_request_leaves_behind_is_seen() -> None:
    stage = Stage()
    async with stage.app.router.lifespan_context(stage.app):
        await stage.assert_served("t0")
        before = census()
        for number in range(1, 11):
            await stage.assert_served(f"t{number}")
        more = census() - before
        assert (more["Slot"], more["ScopeContext"], more["Owner"]) == (10, 10, 10)
