"""P4, P7, P8: the sweep under load, among failing closings and jumping clocks, and its death."""

from __future__ import annotations

import asyncio
import logging
import random

import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.slot import Key
from tests.faults.clock_loop import loop_clock, on_the_clock
from tests.faults.inn import Inn
from tests.faults.support import stay, visit
from tests.unit.runtime.support import (
    Clock,
    assert_empty,
    code_of,
    keeper_of,
    many,
    pool_of,
    until,
)

anyio_backend = on_the_clock

TTL = 60.0


@pytest.mark.parametrize("seed", range(2))
async def test_the_sweep_fires_in_the_midst_of_leases_releases_and_evictions(
    inn: Inn, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    pool = pool_of(
        inn,
        loop_clock(),
        idle_ttl=TTL,
        max_age=5 * TTL,
        max_instances=8,
        max_per_scope=3,
        wait_timeout=1e5,
    )
    rounds = many(2000) // 20

    async def live(scope: str) -> None:
        for _ in range(rounds):
            async with pool.lease((scope, str(chance.randrange(4))), scope) as guest:
                with guest.used():
                    await asyncio.sleep(chance.choice([0, 0, TTL / 3, 2 * TTL]))
            if chance.random() < 0.2:
                keeper_of(pool).sweep()
            await asyncio.sleep(chance.choice([0, TTL / 2, TTL]))

    await asyncio.gather(*(live(scope) for scope in "abcde" for _ in range(4)))
    assert inn.most == 8
    assert inn.most_of_a_scope == 3
    await asyncio.sleep(6 * TTL)  # nobody comes any more: the timer does the rest
    assert_empty(pool)
    assert pool.statistics().evicted == len(inn.guests) > 20
    assert keeper_of(pool).sweeper.timer is None
    inn.check()


async def test_a_closing_that_fails_in_the_sweep_stops_no_other_and_no_later_sweep(
    inn: Inn, caplog: pytest.LogCaptureFixture
) -> None:
    async def close(key: Key) -> None:
        if key[1] == "bad":
            raise ValueError("s3cret")

    inn.on_closing = close
    pool = pool_of(inn, loop_clock(), idle_ttl=TTL)
    for failures in range(1, 4):
        for thread in ("1", "bad", "2"):
            await visit(pool, thread=thread)
        await asyncio.sleep(TTL)
        assert_empty(pool)
        assert pool.statistics().close_failures == failures
    assert caplog.text.count("did not close properly") == 3
    assert "s3cret" not in caplog.text
    inn.check()


@pytest.mark.parametrize("jump", [-1e6, -TTL, -1.0, 1.0, TTL - 1, TTL, 1e6])
async def test_a_jump_of_the_clock_closes_what_is_due_by_it_and_nothing_that_is_in_use(
    inn: Inn, jump: float
) -> None:
    clock = Clock()  # not the loop's: it jumps alone, as one of a machine that slept
    pool = pool_of(inn, clock, idle_ttl=TTL)
    await visit(pool, "idle")
    holder = await stay(pool, "in use")
    clock.advance(jump)
    await visit(pool, "new")
    keeper_of(pool).sweep()
    await until(lambda: not pool.statistics().closing)
    assert [guest.closings for guest in inn.guests] == [int(jump >= TTL), 0, 0]
    await holder.end()
    due = keeper_of(pool).sweeper.due
    assert clock.now < due <= clock.now + TTL + max(0.0, -jump)
    clock.now = due - 0.5
    keeper_of(pool).sweep()
    before = pool.statistics().closed
    clock.now = max(due, 1000.0 + TTL, 1000.0 + jump + TTL)
    keeper_of(pool).sweep()
    await until(lambda: not pool.statistics().closing)
    assert pool.statistics().live == 0
    assert pool.statistics().closed > before
    inn.check()


async def test_a_clock_that_jumps_back_delays_the_sweep_by_no_more_than_the_jump(inn: Inn) -> None:
    clock, loops = Clock(), loop_clock()
    pool = pool_of(inn, clock, idle_ttl=TTL)
    await visit(pool)
    clock.advance(-10.0)
    begun = loops.now
    while pool.statistics().live:
        assert loops.now <= begun + 3 * TTL
        loops.advance(1.0)
        clock.advance(1.0)
        for _ in range(5):
            await asyncio.sleep(0)
    assert loops.now == begun + TTL + 10.0
    inn.check()


class BrokenClock(Clock):
    """Raises as often as it is told to: inside a sweep, that is an error of the sweep itself."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.failures = 0

    def __call__(self) -> float:
        if self.failures:
            self.failures -= 1
            raise OSError("s3cret")
        return self.clock.now


@pytest.mark.parametrize("failures", [1, 5])
async def test_a_sweep_that_dies_is_visible_and_comes_again_without_anybodys_help(
    inn: Inn, failures: int, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.get_running_loop()
    unhandled: list[object] = []
    loop.set_exception_handler(lambda _, context: unhandled.append(context))
    clock = BrokenClock(loop_clock())
    pool = pool_of(inn, clock, idle_ttl=TTL)
    for thread in ("1", "2", "3"):
        await visit(pool, thread=thread)
    clock.failures = failures
    await asyncio.sleep(TTL)
    assert clock.failures < failures  # the sweep has been, and died
    caught = [
        record
        for record in caplog.records
        if record.name == "scoped_registration" and record.levelno >= logging.ERROR
    ]
    assert caught
    assert "s3cret" not in caplog.text
    assert unhandled == []  # no other words than ours, which hold no message
    await asyncio.sleep(100 * TTL)
    assert clock.failures == 0
    assert pool.statistics().live == 0
    assert_empty(pool)
    inn.check()


async def test_a_sweep_that_dies_disturbs_no_caller(inn: Inn) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: None)  # how it shows is the test above
    clock = BrokenClock(loop_clock())
    pool = pool_of(inn, clock, idle_ttl=TTL, max_instances=2)
    holder = await stay(pool, "bob")
    await visit(pool)
    clock.failures = 1
    await asyncio.sleep(TTL)
    assert clock.failures == 0
    assert inn.guests[0].closings == 0
    await visit(pool, "carol")
    await holder.end()
    await visit(pool, "dave")
    await asyncio.sleep(2 * TTL)
    assert_empty(pool)
    inn.check()


async def test_nobody_is_forgotten_when_the_sweep_makes_room_for_who_waits(inn: Inn) -> None:
    pool = pool_of(inn, loop_clock(), idle_ttl=TTL, pin_ttl=3 * TTL, max_instances=3)
    for scope in "abc":
        lease = pool.lease((scope, "1"), scope)
        async with lease:
            lease.pin(True)
    callers = [asyncio.create_task(code_of(visit(pool, scope))) for scope in "def"]
    await until(lambda: pool.statistics().seeking == 3)
    assert await asyncio.gather(*callers) == [ReasonCode.POOL_FULL] * 3  # after 30 seconds
    await asyncio.sleep(3 * TTL - 31.0)
    callers = [asyncio.create_task(code_of(visit(pool, scope))) for scope in "def"]
    await until(lambda: pool.statistics().seeking == 3)
    assert await asyncio.gather(*callers) == [None] * 3
    assert inn.most == 3
    await pool.drain(final=True)
    inn.check()
