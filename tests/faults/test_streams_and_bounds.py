"""P4, P6, P7: streams outlive every clock, the bound holds at every moment, refusals cost nothing.

Time here is the loop's clock: to sleep is to let it pass, with every timer on the way.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.pool import Pool
from scoped_registration.runtime.slot import Key
from scoped_registration.runtime.statistics import PoolStatistics
from tests.faults.clock_loop import loop_clock, on_the_clock
from tests.faults.inn import Guest, Inn, alternating
from tests.faults.support import kept, registration_of, stay, visit
from tests.unit.runtime.support import (
    assert_empty,
    code_of,
    many,
    pool_in,
    pool_of,
    until,
)

anyio_backend = on_the_clock
pytestmark = pytest.mark.usefixtures("small_heap")

TTL = 60.0
PATIENCE: dict[str, Any] = {"wait_timeout": 5.0}


async def stream(
    pool: Pool[Guest], scope: str, *, chunks: int, pause: float
) -> AsyncGenerator[str, None]:
    """Lease an instance for as long as chunks flow."""
    async with pool.lease((scope, "1"), scope) as guest:
        with guest.used():
            for number in range(chunks):
                await asyncio.sleep(pause)
                yield f"{scope} {number}"


async def read(chunks: AsyncGenerator[str, None], into: list[str]) -> None:
    async for chunk in chunks:
        into.append(chunk)


async def test_the_idle_clock_runs_out_during_a_stream_and_starts_at_its_end(inn: Inn) -> None:
    pool = pool_of(inn, loop_clock(), idle_ttl=TTL, max_age=TTL)
    await visit(pool, "idle")
    chunks: list[str] = []
    await read(stream(pool, "alice", chunks=10, pause=TTL), chunks)
    assert len(chunks) == 10
    idle, streamed = inn.guests
    assert (idle.closings, streamed.closings) == (1, 0)  # the sweep came by, ten times
    await until(lambda: streamed.closings)  # by age, as soon as it was idle
    await until(lambda: not pool.statistics().live)
    inn.check()


@pytest.mark.parametrize("jump", [TTL, 3600.0, 1e6])
async def test_the_clock_jumps_during_a_stream(inn: Inn, jump: float) -> None:
    clock = loop_clock()
    pool = pool_of(inn, clock, idle_ttl=TTL)
    await visit(pool, "idle")
    streaming = stream(pool, "alice", chunks=3, pause=0)
    await anext(streaming)
    clock.advance(jump)
    await until(lambda: inn.guests[0].closings)  # the sweep has been
    assert await anext(streaming) == "alice 1"
    assert inn.guests[1].closings == 0
    clock.advance(jump)
    await read(streaming, [])
    clock.advance(TTL - 1)
    await visit(pool, "bob")
    assert inn.guests[1].closings == 0  # idle for less than its time
    clock.advance(1)
    await until(lambda: inn.guests[1].closings)
    await pool.drain(final=True)
    inn.check()


async def test_room_for_one_serves_two_streams_one_after_the_other(inn: Inn) -> None:
    pool = pool_of(inn, loop_clock(), max_instances=1, idle_ttl=TTL, wait_timeout=1000 * TTL)
    chunks: list[str] = []
    readers = [
        asyncio.create_task(read(stream(pool, scope, chunks=5, pause=TTL), chunks))
        for scope in ("alice", "bob")
    ]
    await until(lambda: pool.statistics().seeking == 1)
    await asyncio.gather(*readers)
    assert chunks == [f"{scope} {number}" for scope in ("alice", "bob") for number in range(5)]
    assert (inn.most, len(inn.guests)) == (1, 2)
    await pool.drain(final=True)
    inn.check()


async def test_room_for_one_refuses_the_stream_that_would_wait_too_long(inn: Inn) -> None:
    clock = loop_clock()
    pool = pool_of(inn, clock, max_instances=1, wait_timeout=TTL)
    chunks: list[str] = []
    first = asyncio.create_task(read(stream(pool, "alice", chunks=5, pause=TTL), chunks))
    await until(lambda: pool.statistics().leased)
    begun = clock.now
    second = stream(pool, "bob", chunks=1, pause=0)
    assert await code_of(anext(second)) is ReasonCode.POOL_FULL
    assert clock.now == begun + TTL
    await first
    assert len(chunks) == 5
    assert inn.most == 1
    await pool.drain(final=True)
    inn.check()


def name_of_type(thing: object) -> str:
    return type(thing).__name__


async def test_ten_thousand_threads_of_which_a_third_raise_and_a_third_are_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inn = Inn()
    caplog.set_level(logging.CRITICAL, "scoped_registration")
    at_once, scopes, bound, share = 50, 10, 25, 4
    threads = many(10_000) // at_once * at_once
    before = kept()
    registration = registration_of(alternating(inn), max_instances=bound, max_per_scope=share)
    ends: Counter[str] = Counter()

    async def build(key: Key) -> None:
        await asyncio.sleep(0)
        if int(key[1]) % 6 == 1:
            raise ValueError

    async def call(number: int) -> None:
        async with registration.lease(str(number % scopes), str(number)) as guest:
            with guest.used():
                figures = registration.statistics()
                assert figures.live <= bound
                assert figures.leased <= figures.live
                if number % 6 == 4:
                    raise ValueError
                if number % 6 == 2:
                    this = asyncio.current_task()
                    assert this is not None
                    this.cancel()
                await asyncio.sleep(0)

    inn.on_building = build
    for batch in range(0, threads, at_once):
        calls = [asyncio.create_task(call(batch + number)) for number in range(at_once)]
        for _ in range(2 + batch // at_once % 5):  # some wait then, some build, some run
            await asyncio.sleep(0)
        for number, caller in enumerate(calls, batch):
            if number % 6 == 5:
                caller.cancel()
        # No name for an outcome: an exception holds the frames that it passed.
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        ends.update(map(name_of_type, outcomes))
        outcomes.clear()
        calls.clear()
    assert ends.total() == threads
    assert ends["ValueError"] + ends["RegistrationError"] >= threads // 3 - 1
    assert ends["CancelledError"] >= threads // 6
    assert ends["NoneType"] >= threads // 3 - 1
    await until(lambda: not registration.statistics().building)
    await until(lambda: not registration.statistics().closing)
    assert bound - share <= inn.most <= bound  # full, and never more
    assert inn.most_of_a_scope == share
    figures = registration.statistics()
    assert figures.live == inn.present.total() <= bound
    assert (figures.leased, figures.waiting, figures.seeking) == (0, 0, 0)
    await registration.shutdown()
    assert_empty(pool_in(registration))
    inn.check()
    inn.guests.clear()
    await asyncio.sleep(0)  # what has ended says so to its loop in a step of its own
    assert kept() - before == Counter()


Refused = Callable[[Pool[Guest], int], Awaitable[object]]


def same_key(pool: Pool[Guest], number: int) -> Awaitable[object]:
    return visit(pool, "alice", "1")


def own_key(pool: Pool[Guest], number: int) -> Awaitable[object]:
    return visit(pool, f"scope {number}", "1")


def own_thread(pool: Pool[Guest], number: int) -> Awaitable[object]:
    return visit(pool, "alice", f"thread {number}")


def figures_of(pool: Pool[Guest]) -> tuple[int, ...]:
    now: PoolStatistics = pool.statistics()
    return now.live, now.leased, now.building, now.closing, now.waiting, now.seeking, now.scopes


@pytest.mark.parametrize(
    ("code", "call", "waiting", "options"),
    [
        (ReasonCode.THREAD_BUSY, same_key, [], {"mode": "reject"}),
        (ReasonCode.QUEUE_FULL, same_key, [], {"max_waiting": 0}),
        (ReasonCode.QUEUE_FULL, same_key, ["alice"] * 3, {"max_waiting": 3}),
        (ReasonCode.WAIT_TIMEOUT, same_key, [], {}),
        (ReasonCode.POOL_FULL, own_key, ["bob"], {"max_instances": 1}),
        (ReasonCode.POOL_FULL, own_thread, [], {"max_per_scope": 1}),
        (ReasonCode.POOL_FULL, own_thread, [], {"max_per_scope": 1, "max_waiting": 0}),
    ],
)
async def test_a_thousand_refused_requests_leave_nothing(
    code: ReasonCode, call: Refused, waiting: list[str], options: dict[str, Any]
) -> None:
    inn = Inn()
    requests = many(1000)
    pool = pool_of(inn, loop_clock(), **{**PATIENCE, **options})
    holder = await stay(pool)
    in_time = [asyncio.create_task(visit(pool, scope)) for scope in waiting]
    await until(lambda: pool.statistics().waiting == len(waiting))
    before, figures, tasks = kept(), figures_of(pool), len(asyncio.all_tasks())
    codes = Counter(await asyncio.gather(*(code_of(call(pool, n)) for n in range(requests))))
    assert codes == {code: requests}
    assert pool.statistics().rejected == requests
    # Time has passed only where somebody waited for it; who waited before was refused then, too.
    if not any(task.done() for task in in_time):
        assert figures_of(pool) == figures
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == tasks
    assert kept() - before == Counter()
    assert inn.calls.total() == 1
    await holder.end()
    await asyncio.gather(*in_time)
    await visit(pool)
    await pool.drain(final=True)
    assert_empty(pool)
    inn.check()


@pytest.mark.parametrize("final", [False, True], ids=["draining", "closed"])
async def test_a_thousand_requests_during_a_shutdown_leave_nothing(final: bool) -> None:
    inn = Inn()
    registration = registration_of(inn)
    holder = await stay(registration)
    ending = asyncio.create_task(registration.aclose() if final else registration.shutdown())
    await asyncio.sleep(0)
    before = kept()
    calls = (visit(registration, str(n % 7), str(n)) for n in range(many(1000)))
    codes = set(await asyncio.gather(*(code_of(call) for call in calls)))
    assert codes == {ReasonCode.REGISTRATION_CLOSED if final else ReasonCode.DRAINING}
    assert registration.statistics().waiting == 0
    assert kept() - before == Counter()
    await holder.end()
    await ending
    assert_empty(pool_in(registration))
    assert inn.calls.total() == 1
    inn.check()
