"""P3: a hundred callers on a cold key, and everything that can go wrong with its build."""

from __future__ import annotations

import asyncio

import pytest

from scoped_registration.errors import ReasonCode
from tests.faults.clock_loop import on_the_clock
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
from tests.faults.support import registration_of, visit
from tests.unit.runtime.support import code_of, until

anyio_backend = on_the_clock


async def test_a_slow_build_is_one_build_and_serves_everybody(inn: Inn) -> None:
    fault, registration = Fault(inn), registration_of(inn)
    bystanders = Bystanders(registration)
    callers = await crowd(registration)
    await bystanders.pass_by()
    fault.gate.set()
    guests = await asyncio.gather(*callers)
    assert {id(guest) for guest in guests} == {id(guests[0])}
    assert guests[0].key == COLD
    await bystanders.end()
    await check_aftermath(registration, inn, calls=1)


@pytest.mark.parametrize("moment", ["not begun", "building", "served"])
async def test_the_first_caller_is_cancelled_and_the_others_keep_the_build(
    inn: Inn, moment: str
) -> None:
    fault, registration = Fault(inn), registration_of(inn)
    callers = [asyncio.create_task(visit(registration)) for _ in range(CALLERS)]
    bystanders = Bystanders(registration)
    await asyncio.sleep(0)
    assert (registration.statistics().waiting, inn.calls[COLD]) == (CALLERS + 1, 0)
    if moment != "not begun":
        await bystanders.pass_by()
        await until(lambda: fault.tasks)
    if moment == "served":
        fault.gate.set()
        await until(lambda: registration.statistics().leased == 2)
    callers[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await callers[0]
    fault.gate.set()
    assert len({id(guest) for guest in await asyncio.gather(*callers[1:])}) == 1
    await bystanders.end()
    await check_aftermath(registration, inn, calls=1)


async def test_a_cancelled_build_fails_its_callers_and_cancels_none(inn: Inn) -> None:
    fault, registration = Fault(inn), registration_of(inn)
    bystanders = Bystanders(registration)
    callers = await crowd(registration)
    await until(lambda: fault.tasks)
    assert fault.tasks[0] is not None
    fault.tasks[0].cancel()
    for error in await errors_of(callers):
        assert error.code is ReasonCode.FACTORY_FAILED
        assert isinstance(error.__cause__, asyncio.CancelledError)
    await bystanders.pass_by()
    await bystanders.end()
    fault.gate.set()
    await check_aftermath(registration, inn, calls=2)


async def test_a_build_that_fails_once_fails_its_callers_and_the_next_crowd_builds_once(
    inn: Inn,
) -> None:
    fault, registration = Fault(inn), registration_of(inn)
    bystanders = Bystanders(registration)
    original = ValueError("s3cret")
    fault.errors = [original]
    callers = await crowd(registration)
    fault.gate.set()
    for error in await errors_of(callers):
        assert (error.code, error.__cause__) == (ReasonCode.FACTORY_FAILED, original)
        assert "s3cret" not in str(error)
    fault.gate.clear()
    callers = await crowd(registration)
    await bystanders.pass_by()
    fault.gate.set()
    assert len({id(guest) for guest in await asyncio.gather(*callers)}) == 1
    await bystanders.end()
    await check_aftermath(registration, inn, calls=2)


async def test_who_comes_while_a_build_fails_is_served_or_told_and_never_forgotten(
    inn: Inn,
) -> None:
    fault, registration = Fault(inn), registration_of(inn)
    fault.errors = [ValueError()]
    fault.gate.set()
    outcomes: list[object] = []

    async def come_after(steps: int) -> None:
        for _ in range(steps):
            await asyncio.sleep(0)
        outcomes.append(await code_of(visit(registration)))

    await asyncio.gather(*(come_after(steps) for steps in range(CALLERS)))
    assert set(outcomes) == {None, ReasonCode.FACTORY_FAILED}
    await check_aftermath(registration, inn, calls=2)


async def test_a_build_that_always_fails_is_tried_once_by_each_crowd(inn: Inn) -> None:
    fault, registration = Fault(inn), registration_of(inn)
    bystanders = Bystanders(registration)
    fault.errors = [ValueError() for _ in range(3)]
    for attempt in range(1, 4):
        fault.gate.clear()
        callers = await crowd(registration)
        await bystanders.pass_by()
        fault.gate.set()
        await errors_of(callers)
        assert inn.calls[COLD] == attempt
    await bystanders.end()
    assert registration.statistics().build_failures == 3
    await check_aftermath(registration, inn, calls=4)
