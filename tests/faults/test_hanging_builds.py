"""P3, P7: a build that hangs fails its callers in time, ends when nobody waits, keeps no room."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.slot import Key
from tests.faults.clock_loop import loop_clock, on_the_clock
from tests.faults.cold_key import (
    CALLERS,
    COLD,
    Bystanders,
    Fault,
    check_aftermath,
    crowd,
    errors_of,
)
from tests.faults.inn import Inn
from tests.faults.support import kept, registration_of, visit
from tests.unit.runtime.support import assert_empty, code_of, pool_in, pool_of, until

anyio_backend = on_the_clock
pytestmark = pytest.mark.usefixtures("small_heap")

PATIENCE = 20.0


async def test_a_hanging_build_fails_a_hundred_callers_in_time_and_ends_after_them(
    inn: Inn,
) -> None:
    clock, fault = loop_clock(), Fault(inn)
    registration = registration_of(inn, wait_timeout=PATIENCE)
    before = kept()
    bystanders = Bystanders(registration)
    begun = clock.now
    callers = await crowd(registration)
    await bystanders.pass_by()
    assert {error.code for error in await errors_of(callers)} == {ReasonCode.WAIT_TIMEOUT}
    callers.clear()
    assert clock.now == begun + PATIENCE
    assert registration.statistics().building == 1  # somebody may come who still wants it
    await bystanders.end()
    registration.invalidate(scope="bob")
    registration.invalidate(scope="alice", thread_id="2")
    await asyncio.sleep(PATIENCE - 1)
    assert registration.statistics().building == 1
    await asyncio.sleep(1)
    await until(lambda: not registration.statistics().live)
    assert_empty(pool_in(registration))
    assert fault.tasks[0] is not None
    assert fault.tasks[0].done()
    assert registration.statistics().build_failures == inn.calls[COLD] == 1
    fault.tasks.clear()
    inn.check()
    inn.guests.clear()
    del bystanders
    await asyncio.sleep(0)
    assert kept() - before == {}


async def test_each_crowd_at_a_key_that_always_hangs_has_one_build_and_leaves_nothing(
    inn: Inn,
) -> None:
    fault, registration = Fault(inn), registration_of(inn, wait_timeout=PATIENCE, max_instances=1)
    for attempt in range(1, 4):
        assert len(await errors_of(await crowd(registration))) == CALLERS
        assert inn.calls[COLD] == attempt
        await asyncio.sleep(PATIENCE)
        await until(lambda: not registration.statistics().live)
        assert_empty(pool_in(registration))
    fault.gate.set()
    await check_aftermath(registration, inn, calls=4)


async def test_who_comes_before_a_hanging_build_is_given_up_keeps_it(inn: Inn) -> None:
    fault, registration = Fault(inn), registration_of(inn, wait_timeout=PATIENCE)
    await errors_of(await crowd(registration))
    await asyncio.sleep(PATIENCE - 1)
    callers = [asyncio.create_task(visit(registration)) for _ in range(CALLERS)]
    await asyncio.sleep(PATIENCE - 1)  # past the moment at which it would have ended
    fault.gate.set()
    assert len({id(guest) for guest in await asyncio.gather(*callers)}) == 1
    await asyncio.sleep(2 * PATIENCE)
    assert registration.statistics().live == 1  # its instance is not given up with it
    await check_aftermath(registration, inn, calls=1)


@pytest.mark.parametrize("obeys", [True, False], ids=["obeys", "takes its time"])
async def test_who_comes_while_a_hanging_build_is_given_up_gets_a_new_one(
    inn: Inn, obeys: bool
) -> None:
    go_on, cancelled = asyncio.Event(), asyncio.Event()

    async def hang_once(key: Key) -> None:
        if inn.calls[key] > 1:
            return
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
            if not obeys:
                with contextlib.suppress(asyncio.CancelledError):
                    await go_on.wait()

    inn.on_building = hang_once
    registration = registration_of(
        inn, wait_timeout=PATIENCE, close_timeout=PATIENCE / 2, max_instances=1
    )
    clock = loop_clock()
    await errors_of(await crowd(registration))
    given_up = clock.now + PATIENCE
    asyncio.get_running_loop().call_at(given_up, lambda: None)
    await cancelled.wait()
    assert clock.now == given_up
    callers = [asyncio.create_task(visit(registration)) for _ in range(CALLERS)]
    guests = await asyncio.gather(*callers)
    assert len({id(guest) for guest in guests}) == 1
    assert clock.now == given_up + (0.0 if obeys else PATIENCE / 2)
    assert registration.statistics().build_failures == 1
    go_on.set()
    await check_aftermath(registration, inn, calls=2)


async def test_a_hundred_hanging_builds_hold_a_full_pool_for_no_longer_than_they_may(
    inn: Inn,
) -> None:
    async def hang(key: Key) -> None:
        if key[0] == "alice":
            await asyncio.Event().wait()

    inn.on_building = hang
    pool = pool_of(inn, loop_clock(), max_instances=CALLERS, wait_timeout=PATIENCE)
    clock = loop_clock()
    begun = clock.now
    asks = [asyncio.create_task(visit(pool, "alice", str(n))) for n in range(CALLERS)]
    await until(lambda: pool.statistics().building == CALLERS)
    assert await code_of(visit(pool, "bob")) is ReasonCode.POOL_FULL
    assert {await code_of(ask) for ask in asks} == {ReasonCode.WAIT_TIMEOUT}
    await asyncio.sleep(1)
    await visit(pool, "bob")  # waits until the builds have ended
    assert clock.now == begun + 2 * PATIENCE
    assert pool.statistics().live == 1
    assert pool.statistics().build_failures == CALLERS
    assert inn.most == CALLERS
    await pool.drain(final=True)
    assert_empty(pool)
    inn.check()


async def test_a_build_that_ends_when_nobody_waits_for_it_makes_room_for_who_does(
    inn: Inn,
) -> None:
    fault = Fault(inn)
    pool = pool_of(inn, loop_clock(), max_instances=1, wait_timeout=PATIENCE)
    first = asyncio.create_task(visit(pool, *COLD))
    await until(lambda: fault.tasks)
    first.cancel()
    waiting = asyncio.create_task(visit(pool, "bob"))
    await until(lambda: pool.statistics().seeking)
    fault.gate.set()
    clock = loop_clock()
    begun = clock.now
    assert (await waiting).key == ("bob", "1")
    assert clock.now == begun
    assert first.cancelled()
    await pool.drain(final=True)
    assert_empty(pool)
    inn.check()
