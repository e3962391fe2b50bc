"""Event loops that come and go, one after the other."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest

from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import (
    Clock,
    Factory,
    Holder,
    Plain,
    assert_empty,
    code_of,
    keeper_of,
    pool_of,
    until,
    use,
)

abandoned: list[asyncio.Task[Any]] = []


def run_and_abandon(work: Coroutine[Any, Any, Any]) -> None:
    """Run on a loop that is then closed without a word to its tasks."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _, context: None)  # tasks that were pending
    loop.run_until_complete(work)
    for _ in range(5):
        loop.run_until_complete(asyncio.sleep(0))  # whoever was begun has taken a step
    loop.close()


def test_plain_products_survive_their_loop(debug: bool) -> None:
    factory = Factory()
    pool = pool_of(factory)
    first = asyncio.run(use(pool), debug=debug)
    second = asyncio.run(use(pool), debug=debug)
    assert first is second
    asyncio.run(pool.drain(final=True), debug=debug)
    assert factory.closings == [1]
    assert pool.statistics().dropped == 0
    assert_empty(pool)


@pytest.mark.parametrize("run", [asyncio.run, run_and_abandon])
def test_managed_products_are_dropped_with_it_built_anew_counted_and_logged(
    run: Callable[[Coroutine[Any, Any, Any]], object], caplog: pytest.LogCaptureFixture
) -> None:
    factory = Factory(managed=True)
    pool = pool_of(factory)
    run(use(pool, "scope-canary"))
    run(use(pool, "scope-canary"))
    assert len(factory.built) == 2
    asyncio.run(pool.drain(final=True))
    assert pool.statistics().dropped == 2
    assert_empty(pool)
    assert "lost with its event loop" in caplog.text
    assert "canary" not in caplog.text


def test_what_an_ended_loop_left_makes_room_when_the_next_one_is_seen() -> None:
    factory = Factory(managed=True)
    pool = pool_of(factory, max_instances=2)

    async def begin_a_build_that_never_ends() -> None:
        await use(pool, "alice")
        factory.manage = hanging  # type: ignore[method-assign]
        abandoned.append(asyncio.create_task(code_of(use(pool, "bob"))))
        await until(lambda: pool.statistics().building)
        abandoned.append(asyncio.create_task(code_of(use(pool, "carol"))))
        await asyncio.sleep(0)

    @contextlib.asynccontextmanager
    async def hanging() -> AsyncGenerator[Plain, None]:
        await asyncio.get_running_loop().create_future()
        yield Plain()

    run_and_abandon(begin_a_build_that_never_ends())
    assert pool.statistics().live == 2
    del factory.manage
    asyncio.run(use(pool, "dave"))
    asyncio.run(use(pool, "bob"))
    asyncio.run(pool.drain(final=True))
    assert_empty(pool)


def test_a_key_whose_build_was_lost_is_built_anew() -> None:
    hangs = True
    begun: list[int] = []

    async def build(context: ScopeContext[Any]) -> Plain:
        begun.append(1)
        if hangs:
            await asyncio.get_running_loop().create_future()
        return Plain()

    pool = pool_of(build)

    async def abandon() -> None:
        abandoned.append(asyncio.create_task(code_of(use(pool))))
        await until(lambda: begun)

    run_and_abandon(abandon())
    hangs = False
    assert isinstance(asyncio.run(use(pool)), Plain)


def test_without_a_loop_a_plain_product_is_retired_and_closed_in_the_next() -> None:
    factory = Factory()
    pool = pool_of(factory)
    asyncio.run(use(pool))
    assert pool.invalidate(lambda _: True) == 1
    assert factory.closings == [0]

    async def next_loop() -> None:
        await use(pool, "bob")
        await until(lambda: factory.closings[0])
        assert (await use(pool)) is not factory.built[0]

    asyncio.run(next_loop())
    assert factory.closings == [1, 0, 0]
    assert pool.statistics().dropped == 0
    asyncio.run(pool.drain(final=True))
    assert factory.closings == [1, 1, 1]


def test_the_timer_follows_the_loop_that_runs(debug: bool) -> None:
    clock = Clock()
    pool = pool_of(Factory(), clock, idle_ttl=10)

    async def planned() -> bool:
        await use(pool)
        timer = keeper_of(pool).sweeper.timer
        return timer is not None and keeper_of(pool).sweeper.loop is asyncio.get_running_loop()

    assert asyncio.run(planned(), debug=debug)
    first = keeper_of(pool).sweeper.due
    clock.advance(1)
    assert asyncio.run(planned(), debug=debug)
    assert keeper_of(pool).sweeper.due == first  # what was due before is still swept in time


def test_who_waits_in_an_ended_loop_is_passed_over() -> None:
    pool = pool_of(Factory())

    async def leave_a_waiter_behind(holder: list[Holder]) -> None:
        holder.append(Holder(pool))
        await holder[0].held.wait()
        abandoned.append(asyncio.create_task(code_of(use(pool))))
        await until(lambda: pool.statistics().waiting == 1)

    holders: list[Holder] = []
    run_and_abandon(leave_a_waiter_behind(holders))
    slot = keeper_of(pool).slots["alice", "1"]
    assert pool.statistics().leased == 1
    pool.release(slot)  # as the abandoned task does when it is collected
    assert pool.statistics().leased == 0
    asyncio.run(use(pool))
    assert pool.statistics().waiting == 0
