"""P8: two applications, one registration of two, and starting again."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from fastapi import FastAPI

from scoped_registration.errors import ReasonCode
from scoped_registration.integrations.fastapi import attach
from scoped_registration.runtime.slot import Key
from tests.faults.clock_loop import on_the_clock
from tests.faults.inn import Inn
from tests.faults.support import registration_of, stay, visit
from tests.unit.runtime.support import assert_empty, code_of, pool_in

anyio_backend = on_the_clock


def an_app(inn: Inn) -> tuple[FastAPI, Any]:
    app, registration = FastAPI(), registration_of(inn)
    attach(app, registration)
    return app, registration


async def test_two_applications_with_registrations_of_one_name_know_nothing_of_each_other() -> None:
    inns = Inn(), Inn()
    (one, ours), (two, theirs) = (an_app(inn) for inn in inns)
    async with two.router.lifespan_context(two):
        for _ in range(3):
            async with one.router.lifespan_context(one):
                first, second = await visit(ours), await visit(theirs)
                assert first is not second
                assert ours.invalidate(scope="alice") == 1
                assert await visit(theirs) is second
                holder = await stay(theirs)
            assert_empty(pool_in(ours))
            inns[0].check()
            await holder.end()
            assert await visit(theirs) is second
    assert [inn.calls.total() for inn in inns] == [3, 1]
    for inn in inns:
        inn.check()


async def test_one_registration_of_two_applications_is_closed_by_the_last_that_stops() -> None:
    inn = Inn()
    one, registration = an_app(inn)
    two = FastAPI()
    attach(two, registration)
    async with one.router.lifespan_context(one):
        async with two.router.lifespan_context(two):
            guest = await visit(registration)
        assert await visit(registration) is guest
    assert_empty(pool_in(registration))
    inn.check()


async def test_a_registration_is_started_stopped_and_started_again() -> None:
    inn = Inn()
    app, registration = an_app(inn)
    for start in range(1, 4):
        async with app.router.lifespan_context(app):
            await asyncio.gather(*(visit(registration) for _ in range(20)))
            assert inn.calls["alice", "1"] == start
        assert_empty(pool_in(registration))
        inn.check()
    async with app.router.lifespan_context(app):
        await registration.aclose()
        assert await code_of(visit(registration)) is ReasonCode.REGISTRATION_CLOSED
    async with app.router.lifespan_context(app):  # aclose() is final
        assert await code_of(visit(registration)) is ReasonCode.REGISTRATION_CLOSED


@pytest.mark.parametrize("managed", [False, True], ids=["closed", "managed"])
def test_a_registration_is_started_again_in_another_loop_after_faults(
    managed: bool, debug: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "scoped_registration")
    inn = Inn(managed)
    app, registration = an_app(inn)

    async def close(key: Key) -> None:
        raise ValueError

    async def serve() -> None:
        async with app.router.lifespan_context(app):
            await visit(registration)
            await visit(registration, "bob")

    inn.on_closing = close
    for start in range(1, 4):
        asyncio.run(serve(), debug=debug)
        assert_empty(pool_in(registration))
        assert registration.statistics().close_failures == 2 * start
    assert registration.statistics().dropped == 0
    inn.check()
