"""P7: bounded by default; one scope cannot evict or starve another beyond its share."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import (
    Holder,
    House,
    assert_empty,
    code_of,
    hold,
    keeper_of,
    many,
    pool_of,
    until,
    use,
)


async def test_the_least_recently_used_idle_instance_leaves(house: House) -> None:
    pool = pool_of(house.build, max_instances=3)
    for thread in "abc":
        await use(pool, thread=thread)
    await use(pool, thread="a")
    holder = await hold(pool, thread="b")  # the oldest, and leased
    await use(pool, thread="d")
    assert [chat.key[1] for chat in house.chats if chat.closings] == ["c"]
    await use(pool, thread="e")
    assert [chat.key[1] for chat in house.chats if chat.closings] == ["a", "c"]
    await holder.end()
    assert pool.statistics().evicted == 2
    assert pool.statistics().live == 3


async def test_all_leased_waits_and_is_served_at_a_release(house: House) -> None:
    pool = pool_of(house.build, max_instances=2)
    first, second = await hold(pool, "alice"), await hold(pool, "bob")
    third = asyncio.create_task(use(pool, "carol"))
    await until(lambda: pool.statistics().seeking == 1)
    assert house.calls == 2
    await second.end()
    await third
    assert house.closings == [0, 1, 0]
    await first.end()


async def test_all_leased_for_too_long_is_pool_full(house: House) -> None:
    pool = pool_of(house.build, max_instances=1, wait_timeout=0.01)
    holder = await hold(pool)
    assert await code_of(use(pool, "bob")) is ReasonCode.POOL_FULL
    assert pool.statistics().seeking == 0
    await holder.end()
    assert house.closings == [0]


async def test_seekers_are_served_in_order_and_forgotten_when_cancelled(house: House) -> None:
    pool = pool_of(house.build, max_instances=1)
    holder = await hold(pool)
    served: list[str] = []

    async def seek(scope: str) -> None:
        await use(pool, scope)
        served.append(scope)

    seekers = [asyncio.create_task(seek("bob"))]
    await until(lambda: pool.statistics().seeking == 1)
    seekers[0].cancel()
    await asyncio.gather(*seekers, return_exceptions=True)
    assert pool.statistics().seeking == 0
    seekers = [asyncio.create_task(seek("carol"))]
    await until(lambda: pool.statistics().seeking == 1)
    await holder.end()
    await asyncio.gather(*seekers)
    assert served == ["carol"]


async def test_too_many_keys_of_all_scopes_waiting_is_pool_full_at_once(house: House) -> None:
    pool = pool_of(house.build, max_instances=2)
    holders = [await hold(pool, "alice"), await hold(pool, "bob")]
    waiting = [asyncio.create_task(use(pool, scope)) for scope in ("carol", "dave")]
    await until(lambda: pool.statistics().seeking == 2)
    assert await code_of(use(pool, "erin")) is ReasonCode.POOL_FULL
    assert pool.statistics().seeking == 2
    for holder in holders:
        await holder.end()
    await asyncio.gather(*waiting)


async def test_a_scope_evicts_its_own_when_its_share_is_full(house: House) -> None:
    pool = pool_of(house.build, max_instances=10, max_per_scope=2)
    await use(pool, "bob")
    for thread in "abcdef":
        await use(pool, "alice", thread)
    assert [chat.key for chat in house.chats if not chat.closings] == [
        ("bob", "1"),
        ("alice", "e"),
        ("alice", "f"),
    ]


async def test_a_scope_with_a_thousand_runs_neither_evicts_nor_starves_another(
    house: House,
) -> None:
    pool = pool_of(house.build, max_instances=3, max_per_scope=2, max_waiting=16)
    bob = await use(pool, "bob")
    runs = many(1000)
    holders = [Holder(pool, "alice", str(number)) for number in range(runs)]
    await until(lambda: sum(holder.task.done() for holder in holders) == runs - 18)
    assert pool.statistics().seeking == 16
    for _ in range(3):
        assert await use(pool, "bob") is bob
    await use(pool, "bob", "2")  # room is found among bob's own, and alice's queue is no hindrance
    assert [chat.key[0] for chat in house.chats if chat.closings] == ["bob"]
    for holder in holders:
        holder.let_go.set()
    ends = await asyncio.gather(*(holder.task for holder in holders), return_exceptions=True)
    assert sum(end is None for end in ends) == 18
    assert pool.statistics().rejected == runs - 18


async def test_keys_that_wait_for_their_own_share_do_not_fill_the_queue_of_others(
    house: House,
) -> None:
    pool = pool_of(house.build, max_instances=2, max_per_scope=1)
    alice, carol = await hold(pool, "alice"), await hold(pool, "carol")
    waiting = [asyncio.create_task(use(pool, "alice", str(n))) for n in range(2, 7)]
    await until(lambda: pool.statistics().seeking == 5)
    bob = asyncio.create_task(use(pool, "bob"))
    await until(lambda: pool.statistics().seeking == 6)
    await carol.end()
    await bob
    await alice.end()
    await asyncio.gather(*waiting)


async def test_closing_slowly_counts_against_the_bound(house: House) -> None:
    pool = pool_of(house.build, max_instances=1)
    await use(pool, "alice")
    house.door.clear()
    caller = asyncio.create_task(use(pool, "bob"))
    await until(lambda: house.closings == [1])
    assert (pool.statistics().live, pool.statistics().closing, house.calls) == (1, 1, 1)
    house.door.set()
    await caller
    assert pool.statistics().live == 1


async def test_waiting_for_a_slow_close_is_no_crowd(house: House) -> None:
    pool = pool_of(house.build, max_instances=1, max_waiting=0)
    await use(pool, "alice")
    await use(pool, "bob")
    assert house.closings == [1, 0]


async def test_one_idle_instance_leaves_for_one_key_that_waits(house: House) -> None:
    pool = pool_of(house.build, max_instances=4)
    for scope in ("a", "b", "c", "d"):
        await use(pool, scope)
    house.door.clear()
    waiting = [asyncio.create_task(use(pool, scope)) for scope in ("e", "f")]
    await until(lambda: house.closings == [1, 1, 0, 0])
    await use(pool, "c")  # any step that looks for room again
    assert house.closings == [1, 1, 0, 0]
    house.door.set()
    await asyncio.gather(*waiting)


@pytest.mark.parametrize("bound", [1, 2])
async def test_instances_that_close_at_once_make_room_for_exactly_one(bound: int) -> None:
    built: list[str] = []

    def build(context: ScopeContext[Any]) -> list[str]:
        built.append(context.scope)
        return []

    pool = pool_of(build, max_instances=bound)
    holders = [await hold(pool, str(number)) for number in range(bound)]
    waiting = [asyncio.create_task(use(pool, f"w{number}")) for number in range(bound)]
    await until(lambda: pool.statistics().seeking == bound)
    for holder in holders:
        await holder.end()
    await asyncio.gather(*waiting)
    assert len(built) == 2 * bound
    assert pool.statistics().evicted == bound


async def test_ten_thousand_keys_leave_the_bound_and_nothing_more(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "scoped_registration")
    keys = many(10_000)

    async def build(context: ScopeContext[Any]) -> object:
        if int(context.thread_id) % 3 == 0:
            raise ValueError
        return await house.build(context)

    pool = pool_of(build, max_instances=50, max_per_scope=7)
    house.gate.clear()

    async def call(number: int) -> None:
        await use(pool, str(number % 20), str(number))

    for batch in range(0, keys, 40):
        calls = [asyncio.create_task(call(number)) for number in range(batch, batch + 40)]
        await asyncio.sleep(0)
        for number, caller in zip(range(batch, batch + 40), calls, strict=True):
            if number % 3 == 1:
                caller.cancel()
        house.gate.set()
        await asyncio.gather(*calls, return_exceptions=True)
        house.gate.clear()
    house.gate.set()
    await until(lambda: not pool.statistics().building and not pool.statistics().closing)
    figures = pool.statistics()
    assert figures.live <= 50
    assert figures.live == len(keeper_of(pool).slots)
    assert (figures.leased, figures.waiting, figures.seeking) == (0, 0, 0)
    assert figures.scopes <= 20
    assert sum(chat.closings == 0 for chat in house.chats) == figures.live
    await pool.drain(final=False)
    assert set(house.closings) == {1}
    assert_empty(pool)
