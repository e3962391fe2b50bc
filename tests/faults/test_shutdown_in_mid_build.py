"""P3, P8: a shutdown meets a build that a hundred callers wait for."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.slot import Key
from tests.faults.clock_loop import loop_clock, on_the_clock
from tests.faults.cold_key import (
    COLD,
    Bystanders,
    Fault,
    check_aftermath,
    crowd,
    errors_of,
)
from tests.faults.inn import Inn
from tests.faults.support import registration_of, visit
from tests.unit.runtime.support import assert_empty, code_of, pool_in, until

anyio_backend = on_the_clock


@pytest.mark.parametrize("final", [False, True], ids=["shutdown", "aclose"])
async def test_shutdown_in_mid_build_refuses_its_callers_and_lets_a_run_end(
    inn: Inn, final: bool
) -> None:
    fault, registration = Fault(inn), registration_of(inn)
    bystanders = Bystanders(registration)
    callers = await crowd(registration)
    await until(lambda: fault.tasks)
    ending = asyncio.create_task(registration.aclose() if final else registration.shutdown())
    code = ReasonCode.REGISTRATION_CLOSED if final else ReasonCode.DRAINING
    assert {error.code for error in await errors_of(callers)} == {code}
    assert not bystanders.run.task.done()
    await bystanders.end()
    await ending
    assert_empty(pool_in(registration))
    assert len(inn.guests) == 1  # bob's; nobody was built for the callers
    fault.gate.set()
    if final:
        assert await code_of(visit(registration)) is code
        inn.check()
    else:
        await check_aftermath(registration, inn, calls=2)


async def test_a_build_that_ignores_the_shutdown_is_given_up_and_its_product_closed(
    inn: Inn,
) -> None:
    go_on = asyncio.Event()

    async def stubborn(key: Key) -> None:
        while key == COLD and not go_on.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await go_on.wait()

    inn.on_building = stubborn
    registration = registration_of(inn, close_timeout=5.0)
    clock = loop_clock()
    callers = await crowd(registration)
    begun = clock.now
    await until(lambda: inn.calls[COLD])
    await asyncio.sleep(0)
    await registration.shutdown()
    assert clock.now == begun + 5.0
    await errors_of(callers)
    assert_empty(pool_in(registration))
    assert inn.guests == []
    later = asyncio.create_task(visit(registration))
    await until(lambda: inn.calls[COLD] == 2)
    go_on.set()  # both builds end now, and only the second one is wanted
    guest = await later
    await until(lambda: len(inn.guests) == 2)
    await until(lambda: sum(other.closings for other in inn.guests) == 1)
    assert guest.closings == 0
    await check_aftermath(registration, inn, calls=2)
