"""Invalidating: no new lease of the old instance, which is closed when it is free."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from scoped_registration import RegistrationBuilder, ScopedFactory
from scoped_registration.runtime.slot import Key
from tests.unit.runtime.support import House, assert_empty, hold, pool_of, until, use


def everything(key: Key) -> bool:
    return True


async def test_idle_is_closed_at_once(house: House) -> None:
    pool = pool_of(house.build)
    await use(pool)
    assert pool.invalidate(everything) == 1
    await until(lambda: house.closings == [1])
    await until(lambda: not pool.statistics().live)
    assert pool.invalidate(everything) == 0
    assert pool.statistics().evicted == 0
    assert_empty(pool)


async def test_leased_is_closed_at_release_and_a_new_lease_waits_for_that(house: House) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    assert pool.invalidate(everything) == 1
    waiting = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    house.door.clear()
    await holder.end()
    await until(lambda: house.closings == [1])
    assert (house.calls, waiting.done()) == (1, False)
    house.door.set()
    assert await waiting is house.chats[1]
    assert house.closings == [1, 0]


async def test_building_serves_nobody_and_is_built_anew(house: House) -> None:
    house.gate.clear()
    pool = pool_of(house.build)
    waiting = [asyncio.create_task(use(pool)) for _ in range(5)]
    await until(lambda: pool.statistics().waiting == 5)
    assert pool.invalidate(everything) == 1
    house.gate.set()
    assert {id(target) for target in await asyncio.gather(*waiting)} == {id(house.chats[1])}
    assert house.closings == [1, 0]


async def test_a_pin_ends_with_it(house: House) -> None:
    pool = pool_of(house.build)
    lease = pool.lease(("alice", "1"), "alice")
    async with lease:
        lease.pin(True)
    pool.invalidate(everything)
    await until(lambda: house.closings == [1])
    assert pool.statistics().pinned == 0


CHOICES: list[tuple[dict[str, Any], set[tuple[str, str]]]] = [
    ({"scope": "alice"}, {("bob", "1"), ("bob", "2")}),
    ({"thread_id": "1"}, {("alice", "2"), ("bob", "2")}),
    ({"scope": "alice", "thread_id": "1"}, {("alice", "2"), ("bob", "1"), ("bob", "2")}),
    ({}, set()),
    ({"scope": "carol"}, {("alice", "1"), ("alice", "2"), ("bob", "1"), ("bob", "2")}),
]


@pytest.mark.parametrize(("chosen", "left"), CHOICES)
async def test_by_scope_and_by_thread(
    house: House, chosen: dict[str, Any], left: set[tuple[str, str]]
) -> None:
    def scope() -> str:
        raise AssertionError

    mode = ScopedFactory(house.build, scope=scope, shares=[house])
    registration = RegistrationBuilder("chat").isolation(mode).build()
    for who in ("alice", "bob"):
        for thread in ("1", "2"):
            async with registration.lease(who, thread):
                pass
    assert registration.invalidate(**chosen) == 4 - len(left)
    await until(lambda: registration.statistics().live == len(left))
    assert {chat.key for chat in house.chats if not chat.closings} == left
    await registration.aclose()


@pytest.mark.parametrize("leased", [True, False])
async def test_from_a_thread_without_an_event_loop(house: House, leased: bool) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    if not leased:
        await holder.end()
    thread = threading.Thread(target=pool.invalidate, args=[everything])
    thread.start()
    await asyncio.to_thread(thread.join)
    await holder.end()
    await until(lambda: house.closings == [1])
    await until(lambda: not pool.statistics().live)
    assert_empty(pool)


async def test_releasing_in_a_thread_without_an_event_loop(house: House) -> None:
    pool = pool_of(house.build, max_instances=1)
    lease = pool.lease(("alice", "1"), "alice")
    await lease.__aenter__()
    waiting = asyncio.create_task(use(pool, "bob"))
    await until(lambda: pool.statistics().seeking)
    await asyncio.to_thread(lease.release)
    await waiting
    assert house.closings == [1, 0]
