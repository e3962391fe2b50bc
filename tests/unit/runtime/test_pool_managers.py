"""P8: a context-managed product is entered and left in one task, once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import anyio
import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.pool import Pool
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import (
    Clock,
    assert_empty,
    code_of,
    hold,
    keeper_of,
    pool_of,
    until,
    use,
)


class Session:
    """Holds a task group open, which only the task that entered it may leave."""

    def __init__(self) -> None:
        self.entered_in: asyncio.Task[Any] | None = None
        self.left_in: list[asyncio.Task[Any] | None] = []
        self.fall = asyncio.Event()

    async def work(self) -> None:
        await self.fall.wait()
        raise ValueError("s3cret")


class Sessions:
    def __init__(self) -> None:
        self.all: list[Session] = []

    @contextlib.asynccontextmanager
    async def build(self, context: ScopeContext[Any]) -> AsyncGenerator[Session, None]:
        session = Session()
        self.all.append(session)
        session.entered_in = asyncio.current_task()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(session.work)
                yield session
                group.cancel_scope.cancel()
        finally:
            session.left_in.append(asyncio.current_task())

    def check(self, count: int) -> None:
        assert len(self.all) == count
        for session in self.all:
            assert session.left_in == [session.entered_in]


async def idle_out(pool: Pool[Any], clock: Clock) -> None:
    clock.advance(4000)
    keeper_of(pool).sweep()


async def invalidate(pool: Pool[Any], clock: Clock) -> None:
    pool.invalidate(lambda _: True)


async def evict(pool: Pool[Any], clock: Clock) -> None:
    await use(pool, "bob")
    await evict_again(pool)


async def evict_again(pool: Pool[Any]) -> None:
    await use(pool, "carol")
    pool.invalidate(lambda _: True)


async def shut_down(pool: Pool[Any], clock: Clock) -> None:
    await asyncio.create_task(pool.drain(final=False))


@pytest.mark.parametrize("end", [idle_out, invalidate, evict, shut_down])
async def test_it_is_left_in_the_task_that_entered_it(
    end: Callable[[Pool[Any], Clock], Coroutine[Any, Any, None]], clock: Clock
) -> None:
    sessions = Sessions()
    pool = pool_of(sessions.build, clock, max_instances=1)
    await asyncio.create_task(use(pool))
    await asyncio.create_task(end(pool, clock))
    await until(lambda: not pool.statistics().live)
    sessions.check(3 if end is evict else 1)
    assert pool.statistics().close_failures == 0
    assert_empty(pool)


@pytest.mark.parametrize("leased", [True, False])
async def test_one_that_falls_is_dropped_and_built_anew(
    leased: bool, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = Sessions()
    pool = pool_of(sessions.build)
    holder = await hold(pool)
    if not leased:
        await holder.end()
    sessions.all[0].fall.set()
    await until(lambda: pool.statistics().close_failures == 1)
    assert pool.statistics().live == (1 if leased else 0)
    await holder.end()
    assert pool.statistics().live == 0
    assert await use(pool) is sessions.all[1]
    assert pool.statistics().closed == 1
    assert "s3cret" not in caplog.text
    await pool.drain(final=True)
    sessions.check(2)


class Swallower:
    """Lets no exception through, not even a cancellation."""

    left = 0

    async def __aenter__(self) -> Swallower:
        return self

    async def __aexit__(self, *_: object) -> bool:
        self.left += 1
        return True


async def test_a_manager_that_swallows_is_left_once_and_loops_nowhere() -> None:
    built: list[Swallower] = []

    def build(context: ScopeContext[Any]) -> Swallower:
        built.append(Swallower())
        return built[-1]

    pool = pool_of(build)
    await use(pool)
    owner = keeper_of(pool).slots["alice", "1"].owner
    assert owner is not None
    owner.cancel()  # as an event loop does when it ends
    await until(lambda: not pool.statistics().live)
    await use(pool)
    await pool.drain(final=True)
    assert [manager.left for manager in built] == [1, 1]


async def test_a_manager_that_fails_on_entering_keeps_nothing() -> None:
    @contextlib.asynccontextmanager
    async def build(context: ScopeContext[Any]) -> AsyncGenerator[object, None]:
        raise ValueError
        yield

    pool = pool_of(build)
    assert await code_of(use(pool)) is ReasonCode.FACTORY_FAILED
    assert_empty(pool)


async def test_a_manager_that_fails_on_leaving_is_counted_and_stops_no_other() -> None:
    left: list[str] = []

    @contextlib.asynccontextmanager
    async def build(context: ScopeContext[Any]) -> AsyncGenerator[object, None]:
        yield object()
        left.append(context.scope)
        if context.scope != "carol":
            raise ValueError(context.scope)

    pool = pool_of(build)
    for scope in ("alice", "bob", "carol"):
        await use(pool, scope)
    with pytest.raises(ExceptionGroup) as caught:
        await pool.drain(final=True)
    assert [str(error) for error in caught.value.exceptions] == ["alice", "bob"]
    assert left == ["alice", "bob", "carol"]
    assert (pool.statistics().close_failures, pool.statistics().closed) == (2, 3)
    assert_empty(pool)


async def test_shutdown_while_entering_leaves_what_was_entered() -> None:
    steps: list[str] = []

    @contextlib.asynccontextmanager
    async def build(context: ScopeContext[Any]) -> AsyncGenerator[object, None]:
        steps.append("opened")
        try:
            await asyncio.Event().wait()
            yield object()
        finally:
            steps.append("closed")

    pool = pool_of(build)
    caller = asyncio.create_task(code_of(use(pool)))
    await until(lambda: steps)
    await pool.drain(final=False)
    assert await caller is ReasonCode.DRAINING
    assert steps == ["opened", "closed"]
    assert_empty(pool)


async def test_a_build_that_ignores_its_cancellation_is_closed_when_it_comes_too_late() -> None:
    go_on = asyncio.Event()
    left: list[int] = []

    @contextlib.asynccontextmanager
    async def build(context: ScopeContext[Any]) -> AsyncGenerator[object, None]:
        while not go_on.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await go_on.wait()
        yield object()
        left.append(1)

    pool = pool_of(build, close_timeout=0.01)
    caller = asyncio.create_task(code_of(use(pool)))
    await until(lambda: pool.statistics().building)
    await asyncio.sleep(0)
    await pool.drain(final=False)
    assert await caller is ReasonCode.DRAINING
    assert_empty(pool)
    go_on.set()
    await until(lambda: left)
    assert_empty(pool)
    assert pool.statistics().built == 0


async def test_nothing_holds_a_closed_instance() -> None:
    sessions = Sessions()
    pool = pool_of(sessions.build)
    gone = weakref.ref(await use(pool))
    await pool.drain(final=False)
    await asyncio.sleep(0)
    sessions.all.clear()
    gc.collect()
    assert gone() is None
