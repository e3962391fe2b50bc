"""P6: one run at a time per key, in order, or refused; other keys never wait."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.life import Given
from scoped_registration.runtime.options import Bounds
from scoped_registration.runtime.pool import Pool
from tests.unit.runtime.support import House, assert_empty, code_of, hold, pool_of, until, use


async def test_twenty_callers_run_one_after_another_in_order(house: House) -> None:
    pool = pool_of(house.build)
    running = 0
    order: list[int] = []

    async def run(number: int) -> None:
        nonlocal running
        async with pool.lease(("alice", "1"), "alice"):
            running += 1
            assert running == 1
            order.append(number)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(run(number) for number in range(20)))
    assert order == list(range(20))
    assert house.calls == 1


async def test_nobody_overtakes_the_queue(house: House) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    order: list[str] = []

    async def run(name: str) -> None:
        async with pool.lease(("alice", "1"), "alice"):
            order.append(name)

    queued = asyncio.create_task(run("queued"))
    await until(lambda: pool.statistics().waiting == 1)
    holder.let_go.set()
    await holder.task
    await run("late")  # the instance is granted already, though nobody runs yet
    await queued
    assert order == ["queued", "late"]


async def test_one_more_than_may_wait_is_queue_full(house: House) -> None:
    pool = pool_of(house.build, max_waiting=2)
    holder = await hold(pool)
    waiting = [asyncio.create_task(use(pool)) for _ in range(2)]
    await until(lambda: pool.statistics().waiting == 2)
    assert await code_of(use(pool)) is ReasonCode.QUEUE_FULL
    assert pool.statistics().rejected == 1
    await holder.end()
    await asyncio.gather(*waiting)


async def test_who_waits_for_a_build_counts_like_who_waits_for_a_run(house: House) -> None:
    house.gate.clear()
    pool = pool_of(house.build, max_waiting=2)
    waiting = [asyncio.create_task(use(pool)) for _ in range(3)]
    await until(lambda: pool.statistics().waiting == 3)
    assert await code_of(use(pool)) is ReasonCode.QUEUE_FULL
    house.gate.set()
    await asyncio.gather(*waiting)


@pytest.mark.parametrize("warm", [True, False])
async def test_reject_refuses_nineteen_of_twenty(house: House, warm: bool) -> None:
    pool = pool_of(house.build, mode="reject")
    if warm:
        await use(pool)
    gate = asyncio.Event()

    async def run() -> None:
        async with pool.lease(("alice", "1"), "alice"):
            await gate.wait()

    runs = [asyncio.create_task(code_of(run())) for _ in range(20)]
    await until(lambda: sum(run.done() for run in runs) == 19)
    gate.set()
    codes = await asyncio.gather(*runs)
    assert codes.count(ReasonCode.THREAD_BUSY) == 19
    assert codes.count(None) == 1
    assert await code_of(use(pool)) is None
    assert pool.statistics().rejected == 19


async def test_waiting_too_long_is_wait_timeout_and_leaves_the_queue(house: House) -> None:
    pool = pool_of(house.build, wait_timeout=0.01)
    holder = await hold(pool)
    assert await code_of(use(pool)) is ReasonCode.WAIT_TIMEOUT
    assert pool.statistics().waiting == 0
    await holder.end()
    await use(pool)


async def test_a_build_that_hangs_lets_its_callers_go(house: House) -> None:
    house.gate.clear()
    pool = pool_of(house.build, wait_timeout=0.01)
    codes = await asyncio.gather(*(code_of(use(pool)) for _ in range(10)))
    assert set(codes) == {ReasonCode.WAIT_TIMEOUT}
    house.gate.set()
    assert await use(pool) is house.chats[0]
    assert house.calls == 1


async def test_other_keys_never_wait(house: House) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    queued = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    for scope, thread in (("alice", "2"), ("bob", "1"), ("bob", "2")):
        await use(pool, scope, thread)
    assert not queued.done()
    await holder.end()
    await queued


async def test_cancelled_in_the_queue(house: House) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    waiting = [asyncio.create_task(use(pool)) for _ in range(3)]
    await until(lambda: pool.statistics().waiting == 3)
    waiting[1].cancel()
    await asyncio.gather(waiting[1], return_exceptions=True)
    assert pool.statistics().waiting == 2
    await holder.end()
    assert await waiting[0] is await waiting[2]
    assert (pool.statistics().leased, pool.statistics().waiting) == (0, 0)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_cancelled_at_the_moment_of_the_grant(house: House, when: str) -> None:
    pool = pool_of(house.build)
    holding = pool.lease(("alice", "1"), "alice")
    await holding.__aenter__()

    async def run() -> object:
        async with pool.lease(("alice", "1"), "alice") as target:
            return target

    first, second = await queue_two(pool, run)
    if when == "before":
        first.cancel()  # its future is cancelled, its task has not run yet
    holding.release()
    if when == "after":
        first.cancel()  # its future is done, its task has not run yet
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await second is house.chats[0]
    assert (pool.statistics().leased, pool.statistics().waiting) == (0, 0)
    await use(pool)


async def queue_two(
    pool: Pool[Any], run: Callable[[], Coroutine[Any, Any, object]]
) -> tuple[asyncio.Task[object], asyncio.Task[object]]:
    # In a context of their own: here a lease of the same key is held.
    tasks = [asyncio.create_task(run(), context=contextvars.Context()) for _ in range(2)]
    await until(lambda: pool.statistics().waiting == 2)
    return tasks[0], tasks[1]


async def test_cancelled_at_the_moment_of_the_build(house: House) -> None:
    house.gate.clear()
    pool = pool_of(house.build)
    waiting = [asyncio.create_task(use(pool)) for _ in range(3)]
    await until(lambda: pool.statistics().waiting == 3)
    house.gate.set()
    await until(lambda: pool.statistics().leased)
    waiting[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]
    assert await waiting[1] is await waiting[2]
    assert pool.statistics().leased == 0


async def test_without_a_policy_runs_of_a_given_instance_overlap() -> None:
    given = object()
    pool: Pool[object] = Pool("room", Given(given), bounds=Bounds(), policy=None)
    first, second = await hold(pool), await hold(pool)
    assert first.target is second.target is given
    async with pool.lease(("alice", "1"), "alice"):
        await use(pool)  # no lock, so nothing to wait for in the same context
    assert pool.invalidate(lambda _: True) == 1
    third = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    await first.end()
    assert not third.done()
    await second.end()
    await third
    await pool.drain(final=True)
    assert_empty(pool)
