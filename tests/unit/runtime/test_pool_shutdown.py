"""Shutdown: refuse, wait, close each once, begin anew; `aclose` is final."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from scoped_registration import RegistrationBuilder, ScopedFactory, SingleUser
from scoped_registration.errors import ReasonCode
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import (
    House,
    assert_empty,
    code_of,
    hold,
    keeper_of,
    pool_in,
    pool_of,
    until,
    use,
)


@pytest.mark.parametrize(
    ("final", "code"),
    [(False, ReasonCode.DRAINING), (True, ReasonCode.REGISTRATION_CLOSED)],
)
async def test_whoever_waits_is_refused(house: House, final: bool, code: ReasonCode) -> None:
    pool = pool_of(house.build, max_instances=1)
    holder = await hold(pool)
    queued = asyncio.create_task(code_of(use(pool)))
    seeking = asyncio.create_task(code_of(use(pool, "bob")))
    await until(lambda: pool.statistics().waiting == 2)
    closing = asyncio.create_task(pool.drain(final=final))
    assert await queued is code
    assert await seeking is code
    assert await code_of(use(pool, "carol")) is code
    assert await code_of(use(pool)) is code
    assert (house.closings, pool.statistics().rejected) == ([0], 4)
    await holder.end()
    await closing
    assert house.closings == [1]
    assert house.calls == 1
    assert_empty(pool)


async def test_room_that_a_shutdown_makes_is_nobodys() -> None:
    calls: list[str] = []

    def build(context: ScopeContext[Any]) -> list[str]:
        calls.append(context.scope)
        return []

    pool = pool_of(build, max_instances=1)
    lease = pool.lease(("alice", "1"), "alice")
    async with lease:
        lease.pin(True)
    seeking = asyncio.create_task(code_of(use(pool, "bob")))
    await until(lambda: pool.statistics().seeking)
    await pool.drain(final=False)
    assert await seeking is ReasonCode.DRAINING
    assert (calls, pool.statistics().build_failures) == (["alice"], 0)
    assert_empty(pool)


async def test_a_plain_build_is_cancelled_and_one_that_ends_nevertheless_is_closed(
    house: House,
) -> None:
    cancelled: list[str] = []

    async def build(context: ScopeContext[Any]) -> object:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(context.scope)
            if context.scope == "alice":
                raise
        return await house.build(context)

    pool = pool_of(build)
    callers = [asyncio.create_task(code_of(use(pool, scope))) for scope in ("alice", "bob")]
    await until(lambda: pool.statistics().building == 2)
    await asyncio.sleep(0)
    await pool.drain(final=False)
    assert await asyncio.gather(*callers) == [ReasonCode.DRAINING] * 2
    assert cancelled == ["alice", "bob"]
    assert house.closings == [1]
    assert_empty(pool)


async def test_a_cancelled_build_is_no_failure_to_report(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.gate.clear()
    pool = pool_of(house.build)
    caller = asyncio.create_task(code_of(use(pool)))
    await until(lambda: house.calls)
    await pool.drain(final=False)
    assert await caller is ReasonCode.DRAINING
    assert not [record for record in caplog.records if record.name == "scoped_registration"]


async def test_it_begins_anew_and_empty(house: House) -> None:
    def scope() -> str:
        raise AssertionError

    registration = (
        RegistrationBuilder("chat").isolation(ScopedFactory(house.build, scope=scope)).build()
    )
    for start in range(3):
        async with registration.lease("alice", "1") as chat:
            assert chat is house.chats[start]
        await registration.shutdown()
        assert_empty(pool_in(registration))
    assert house.closings == [1, 1, 1]


async def test_aclose_is_final_and_may_be_called_again(house: House) -> None:
    pool = pool_of(house.build)
    await use(pool)
    await pool.drain(final=True)
    await pool.drain(final=False)
    await pool.drain(final=True)
    assert await code_of(use(pool)) is ReasonCode.REGISTRATION_CLOSED
    assert house.closings == [1]


async def test_a_registration_without_an_instance_closes_too() -> None:
    registration = RegistrationBuilder("one").isolation(SingleUser(object())).build()
    await registration.shutdown()
    await registration.aclose()
    assert await code_of(registration.lease().__aenter__()) is ReasonCode.REGISTRATION_CLOSED


async def test_cancelled_in_the_middle_it_can_be_used_again(house: House) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    closing = asyncio.create_task(pool.drain(final=False))
    await until(lambda: keeper_of(pool).emptied)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not keeper_of(pool).emptied
    waiting = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    await holder.end()
    assert await waiting is house.chats[1]
    assert house.closings == [1, 0]


async def test_as_long_as_one_of_two_shutdowns_runs_the_pool_refuses(house: House) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    first, second = (asyncio.create_task(pool.drain(final=False)) for _ in range(2))
    await until(lambda: len(keeper_of(pool).emptied) == 2)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert await code_of(use(pool, "bob")) is ReasonCode.DRAINING
    await holder.end()
    await second
    await use(pool, "bob")


async def test_a_lease_that_does_not_end_loses_its_instance_and_disturbs_no_later_one(
    house: House,
) -> None:
    pool = pool_of(house.build, close_timeout=0.01)
    holder = await hold(pool)
    await pool.drain(final=False)
    assert house.closings == [1]
    assert_empty(pool)
    later = await hold(pool)
    await holder.end()
    assert (later.target, pool.statistics().leased) == (house.chats[1], 1)
    waiting = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    await later.end()
    await waiting
    assert house.closings == [1, 0]


async def test_closing_from_within_a_lease_of_it_ends(house: House) -> None:
    pool = pool_of(house.build, close_timeout=0.01)
    async with pool.lease(("alice", "1"), "alice"):
        await pool.drain(final=True)
    assert house.closings == [1]
    assert_empty(pool)


async def test_a_factory_that_shuts_its_own_registration_down_ends(house: House) -> None:
    async def build(context: ScopeContext[Any]) -> object:
        await pool.drain(final=False)
        return await house.build(context)

    pool = pool_of(build)
    assert await code_of(use(pool)) is ReasonCode.DRAINING
    await until(lambda: not keeper_of(pool).slots)
    assert_empty(pool)
