"""P3: one build per key, however many callers, whoever cancels."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.pool import Pool
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import Clock, House, assert_empty, keeper_of, pool_of, until, use


async def test_a_hundred_callers_one_slow_build(house: House) -> None:
    house.gate.clear()
    pool = pool_of(house.build)
    callers = [asyncio.create_task(use(pool)) for _ in range(100)]
    await until(lambda: pool.statistics().waiting == 100)
    assert pool.statistics().building == 1
    house.gate.set()
    targets = await asyncio.gather(*callers)
    assert house.calls == 1
    assert set(map(id, targets)) == {id(house.chats[0])}


@pytest.mark.parametrize("cancelled", [1, 50, 100])
async def test_cancelled_callers_take_nothing_from_the_others(house: House, cancelled: int) -> None:
    house.gate.clear()
    pool = pool_of(house.build)
    callers = [asyncio.create_task(use(pool)) for _ in range(100)]
    await until(lambda: pool.statistics().waiting == 100)
    for caller in callers[:cancelled]:
        caller.cancel()
    await asyncio.gather(*callers[:cancelled], return_exceptions=True)
    house.gate.set()
    for target in await asyncio.gather(*callers[cancelled:]):
        assert target is house.chats[0]
    await until(lambda: pool.statistics().live == 1 and not pool.statistics().building)
    assert await use(pool) is house.chats[0]
    assert (house.calls, pool.statistics().leased) == (1, 0)


async def test_a_build_that_fails_once_fails_its_waiters_and_no_one_after(house: House) -> None:
    original = ValueError("s3cret")
    house.fails = [original]
    house.gate.clear()
    pool = pool_of(house.build)
    callers = [asyncio.create_task(use(pool)) for _ in range(100)]
    await until(lambda: pool.statistics().waiting == 100)
    house.gate.set()
    errors = await asyncio.gather(*callers, return_exceptions=True)
    assert len(set(map(id, errors))) == 100
    for error in errors:
        assert isinstance(error, RegistrationError)
        assert error.code is ReasonCode.FACTORY_FAILED
        assert error.__cause__ is original
        assert "s3cret" not in str(error)
    assert_empty(pool)
    assert await use(pool) is house.chats[0]
    assert house.calls == 2


async def test_a_build_that_always_fails_leaves_nothing(house: House) -> None:
    pool = pool_of(house.build)
    house.fails = [ValueError() for _ in range(10)]
    for call in range(1, 11):
        with pytest.raises(RegistrationError):
            await use(pool)
        assert house.calls == call
        assert_empty(pool)
    assert pool.statistics().build_failures == 10


async def test_a_factory_that_raises_cancellation_cancels_no_caller(house: House) -> None:
    house.fails = [asyncio.CancelledError()]
    pool = pool_of(house.build)
    with pytest.raises(RegistrationError) as caught:
        await use(pool)
    assert caught.value.code is ReasonCode.FACTORY_FAILED
    assert_empty(pool)


class Stop(BaseException):
    pass


async def test_any_base_exception_reaches_the_caller_and_no_log_but_ours(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.fails = [Stop("s3cret")]
    pool = pool_of(house.build)
    with pytest.raises(RegistrationError) as caught:
        await use(pool)
    assert isinstance(caught.value.__cause__, Stop)
    del caught
    gc.collect()
    assert "s3cret" not in caplog.text
    assert_empty(pool)


async def test_a_refusal_that_a_factory_runs_into_is_a_failed_build(house: House) -> None:
    house.fails = [RegistrationError(ReasonCode.SCOPE_MISSING, "of another registration")]
    pool = pool_of(house.build)
    with pytest.raises(RegistrationError) as caught:
        await use(pool)
    assert caught.value.code is ReasonCode.FACTORY_FAILED


async def test_a_factory_that_leases_its_own_key_is_refused_and_not_deadlocked() -> None:
    async def build(context: ScopeContext[Any]) -> object:
        return await use(pool)

    pool = pool_of(build)
    with pytest.raises(RegistrationError) as caught:
        await use(pool)
    assert isinstance(caught.value.__cause__, RegistrationError)
    assert caught.value.__cause__.code is ReasonCode.REENTRANT_LEASE
    assert_empty(pool)


async def test_shutdown_in_the_step_that_begins_a_build(house: House) -> None:
    pool = pool_of(house.build)
    caller = asyncio.create_task(use(pool))
    await asyncio.sleep(0)  # the build's task exists and has not taken its first step
    assert (pool.statistics().building, house.calls) == (1, 0)
    await pool.drain(final=False)
    with pytest.raises(RegistrationError) as caught:
        await caller
    assert (caught.value.code, house.calls) == (ReasonCode.DRAINING, 0)
    assert_empty(pool)


async def test_an_instance_that_is_stale_when_it_is_built_is_served_once(house: House) -> None:
    class Running(Clock):
        def __call__(self) -> float:
            self.advance(1)
            return self.now

    pool = pool_of(house.build, Running(), max_age=0.5)
    assert await asyncio.gather(*(use(pool) for _ in range(3))) == house.chats
    assert len(house.chats) == 3


async def test_a_build_that_hangs_ends_when_nobody_has_waited_for_long() -> None:
    ended = asyncio.Event()

    async def hang(context: ScopeContext[Any]) -> object:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    pool = pool_of(hang, wait_timeout=0.01)
    with pytest.raises(RegistrationError) as refused:
        await use(pool)
    assert refused.value.code is ReasonCode.WAIT_TIMEOUT
    await asyncio.wait_for(ended.wait(), 10)
    await until(lambda: not keeper_of(pool).slots)
    assert_empty(pool)


async def left_while_building(house: House) -> Pool[Any]:
    """Return a pool with a build for which nobody waits any more."""
    house.gate.clear()
    pool = pool_of(house.build)
    first = asyncio.create_task(use(pool))
    await until(lambda: house.calls)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    return pool


async def test_a_caller_who_comes_in_time_gets_the_build_of_one_who_left(house: House) -> None:
    pool = await left_while_building(house)
    second = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    keeper, slot = keeper_of(pool), keeper_of(pool).slots["alice", "1"]
    assert slot.owner is not None
    keeper._give_up(slot, slot.owner)  # pyright: ignore[reportPrivateUsage]  # its time is up
    house.gate.set()
    assert await second is house.chats[0]
    assert house.calls == 1


async def test_a_caller_who_comes_when_a_build_is_given_up_gets_the_next(house: House) -> None:
    pool = await left_while_building(house)
    keeper, slot = keeper_of(pool), keeper_of(pool).slots["alice", "1"]
    assert slot.owner is not None
    keeper._give_up(slot, slot.owner)  # pyright: ignore[reportPrivateUsage]  # its time is up
    second = asyncio.create_task(use(pool))
    await until(lambda: house.calls == 2)
    house.gate.set()
    assert await second is house.chats[0]
    assert (pool.statistics().built, pool.statistics().build_failures) == (1, 1)


async def test_a_build_that_hangs_ends_however_often_its_callers_come_back(house: House) -> None:
    pool = await left_while_building(house)
    again = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    keeper, slot = keeper_of(pool), keeper_of(pool).slots["alice", "1"]
    assert slot.owner is not None
    owner = slot.owner
    keeper._give_up(slot, owner)  # pyright: ignore[reportPrivateUsage]  # somebody waits
    assert not owner.cancelled
    keeper._give_up(slot, owner, last=True)  # pyright: ignore[reportPrivateUsage]  # and still
    await until(lambda: house.calls == 2)
    house.gate.set()
    assert await again is house.chats[0]
