"""P4 and P7: the idle clock starts at release; age and pins are clocks of their own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from scoped_registration.runtime.pool import Pool
from tests.unit.runtime.support import Clock, Holder, House, hold, keeper_of, pool_of, until, use


async def swept(pool: Pool[Any]) -> int:
    keeper_of(pool).sweep()
    await until(lambda: not pool.statistics().closing)
    return pool.statistics().live


async def pin(pool: Pool[Any], pending: bool, scope: str = "alice") -> None:
    lease = pool.lease((scope, "1"), scope)
    async with lease:
        lease.pin(pending)


async def test_the_idle_clock_starts_at_release(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock, idle_ttl=10)
    holder = await hold(pool)
    clock.advance(100)
    assert await swept(pool) == 1
    await holder.end()
    clock.advance(9)
    assert await swept(pool) == 1
    clock.advance(1)
    assert await swept(pool) == 0
    assert (house.closings, pool.statistics().evicted) == ([1], 1)


async def test_an_expired_instance_is_not_leased_even_if_nothing_swept(
    house: House, clock: Clock
) -> None:
    pool = pool_of(house.build, clock, idle_ttl=10)
    first = await use(pool)
    clock.advance(10)
    second = await use(pool)
    assert second is not first
    assert (house.closings, pool.statistics().evicted) == ([1, 0], 1)


async def test_age_ends_an_instance_when_it_is_idle(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock, idle_ttl=None, max_age=10)
    for _ in range(9):
        clock.advance(1)
        await use(pool)
    assert house.calls == 1
    holder = await hold(pool)
    clock.advance(100)
    assert await swept(pool) == 1
    await holder.end()
    await until(lambda: house.closings == [1])
    assert pool.statistics().evicted == 1


async def test_without_a_time_nothing_expires(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock, idle_ttl=None)
    await use(pool)
    clock.advance(1e9)
    assert await swept(pool) == 1


async def test_a_pinned_instance_outlives_all_but_its_pin(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock, idle_ttl=10, max_age=20, pin_ttl=100, max_instances=1)
    await pin(pool, True)
    assert pool.statistics().pinned == 1
    clock.advance(99)
    assert await swept(pool) == 1
    other = asyncio.create_task(use(pool, "bob"))
    await until(lambda: pool.statistics().seeking == 1)
    assert house.closings == [0]
    clock.advance(1)
    assert await swept(pool) == 1
    await other
    assert house.closings == [1, 0]
    assert pool.statistics().pinned == 0


async def test_an_expired_pin_makes_room_by_itself(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock, pin_ttl=0.01, max_instances=1)
    await pin(pool, True)
    other = asyncio.create_task(use(pool, "bob"))
    await until(lambda: pool.statistics().seeking == 1)
    clock.advance(1)
    await other  # the pool's own timer fires, which was set by the real loop
    assert house.closings == [1, 0]


async def test_unpinned_the_usual_times_count_again(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock, idle_ttl=10, pin_ttl=100)
    await pin(pool, True)
    clock.advance(50)
    await pin(pool, False)
    clock.advance(9)
    assert await swept(pool) == 1
    clock.advance(1)
    assert await swept(pool) == 0


async def test_a_leased_instance_is_closed_by_nothing_but_a_shutdown_that_waited(
    house: House, clock: Clock
) -> None:
    pool = pool_of(
        house.build, clock, idle_ttl=1, max_age=1, pin_ttl=1, max_instances=1, close_timeout=0.01
    )
    holder = await hold(pool)
    clock.advance(1000)
    pool.invalidate(lambda _: True)
    keeper_of(pool).sweep()
    waiting = asyncio.create_task(use(pool, "bob"))
    await until(lambda: pool.statistics().seeking == 1)
    assert house.closings == [0]
    await holder.end()
    await waiting
    assert house.closings == [1, 0]
    holder = await hold(pool, "bob")
    await pool.drain(final=False)
    assert set(house.closings) == {1}
    await holder.end()
    assert pool.statistics().leased == 0


async def test_the_timer_is_there_only_as_long_as_something_can_expire(
    house: House, clock: Clock
) -> None:
    pool = pool_of(house.build, clock, idle_ttl=10)
    assert keeper_of(pool).sweeper.timer is None
    await use(pool)
    first = keeper_of(pool).sweeper.timer
    assert first is not None
    for _ in range(100):
        clock.advance(0.05)
        await use(pool)
    assert keeper_of(pool).sweeper.timer is first
    await pool.drain(final=False)
    assert keeper_of(pool).sweeper.timer is None
    assert first.cancelled()


async def test_the_timer_moves_forward_for_whatever_is_due_first(
    house: House, clock: Clock
) -> None:
    pool = pool_of(house.build, clock, idle_ttl=100, pin_ttl=5)
    await use(pool)
    sweeper = keeper_of(pool).sweeper
    assert sweeper.due == clock.now + 100
    await pin(pool, True, "bob")
    assert sweeper.due == clock.now + 5
    clock.advance(5)
    assert await swept(pool) == 1
    assert sweeper.due == clock.now + 95
    await pool.drain(final=True)


async def test_the_sweeper_survives_raising_closes_churn_and_a_clock_that_jumps(
    clock: Clock,
) -> None:
    class Raising:
        async def aclose(self) -> None:
            raise ValueError

    pool = pool_of(lambda _: Raising(), clock, idle_ttl=10, max_instances=None, max_per_scope=None)
    for jump in (3600.0, -100.0, 1e6):
        for number in range(50):
            await use(pool, thread=str(number))
        holder = Holder(pool, "bob")
        await holder.held.wait()
        clock.advance(jump)
        assert await swept(pool) == (1 if jump > 0 else 51)
        await holder.end()
        assert keeper_of(pool).sweeper.timer is not None
    pool.invalidate(lambda _: True)
    await until(lambda: not pool.statistics().live)
    assert pool.statistics().close_failures == pool.statistics().built


@pytest.mark.parametrize("pending", [True, False])
async def test_pinning_after_release_does_nothing(house: House, pending: bool) -> None:
    pool = pool_of(house.build)
    lease = pool.lease(("alice", "1"), "alice")
    async with lease:
        pass
    lease.pin(pending)
    assert pool.statistics().pinned == 0
