"""No cancel scope of a request cancels the giving back or the closing of an instance (P4, P8)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio
import pytest
from anyio.lowlevel import checkpoint

from tests.faults.http_support import (
    LAYERS,
    LIMIT,
    Call,
    Layer,
    Stage,
    Tasks,
    assert_free,
    unclosed,
    until,
)

pytestmark = unclosed

OFTEN = 20

# Where a request is when its scope is cancelled: what is held back there, and what shows it.
PLACES: dict[str, tuple[str, Callable[[Stage, Call], bool]]] = {
    "in the endpoint": ("may_answer", lambda stage, call: stage.entered.is_set()),
    "before the first byte": ("may_begin", lambda stage, call: stage.bodies > 0),
    "in the body": ("goes_on", lambda stage, call: call.got_body.is_set()),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("layer", LAYERS)
async def test_p8_an_instance_survives_the_cancellation_of_requests_that_use_it(
    layer: Layer, place: str
) -> None:
    tasks = Tasks()
    stage = Stage(layer, "reject")
    held_back, arrived = PLACES[place]
    async with stage.app.router.lifespan_context(stage.app):
        for _ in range(OFTEN):
            stage.bodies = 0
            stage.entered.clear()
            getattr(stage, held_back).clear()
            call = stage.call("stream")
            async with anyio.create_task_group() as group:
                group.start_soon(call.run)
                await until(partial(arrived, stage, call))
                assert stage.registration.statistics().leased == 1
                group.cancel_scope.cancel()
            assert_free(stage.registration)
            await stage.assert_served()
        stage.may_answer.set()
        stage.may_begin.set()
        await stage.assert_released_once()
        figures = stage.registration.statistics()
        assert (figures.live, figures.built, figures.closed) == (1, 1, 0)
    assert stage.instances.closed == [1]
    assert stage.registration.statistics().close_failures == 0
    await tasks.are_back()


@pytest.mark.parametrize("layer", LAYERS)
async def test_p8_a_closing_that_a_cancelled_request_sets_off_goes_to_its_end(
    layer: Layer,
) -> None:
    tasks = Tasks()
    stage = Stage(layer, "reject")
    async with stage.app.router.lifespan_context(stage.app):
        stage.instances.door.clear()
        call = stage.call("stream")
        async with anyio.create_task_group() as group:
            group.start_soon(call.run)
            with anyio.fail_after(LIMIT):
                await call.got_body.wait()
            assert stage.registration.invalidate(scope="alice") == 1
            assert not stage.instances.closing.is_set(), "an instance in use is not closed"
            group.cancel_scope.cancel()
        with anyio.fail_after(LIMIT):
            await stage.instances.closing.wait()
        assert stage.registration.statistics().closing == 1
        assert stage.instances.closed == [0]
        stage.instances.door.set()
        await until(lambda: stage.registration.statistics().live == 0)
        assert stage.instances.closed == [1]
        await stage.assert_served()
    assert stage.instances.closed == [1, 1]
    assert stage.registration.statistics().close_failures == 0
    await tasks.are_back()


@pytest.mark.parametrize("layer", LAYERS)
async def test_p8_requests_that_wait_for_a_closing_and_are_cancelled_leave_it_alone(
    layer: Layer,
) -> None:
    tasks = Tasks()
    stage = Stage(layer)
    async with stage.app.router.lifespan_context(stage.app):
        await stage.assert_served()
        stage.instances.door.clear()
        assert stage.registration.invalidate(scope="alice") == 1
        with anyio.fail_after(LIMIT):
            await stage.instances.closing.wait()
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(stage.call().run)
            await until(lambda: stage.registration.statistics().waiting == 3)
            group.cancel_scope.cancel()
        assert stage.registration.statistics().waiting == 0
        assert stage.registration.statistics().closing == 1
        assert stage.instances.closed == [0]
        stage.instances.door.set()
        await stage.assert_served()  # it waits for the closing, and has an instance of its own
        assert stage.instances.closed == [1, 0]
    assert stage.instances.closed == [1, 1]
    assert stage.registration.statistics().close_failures == 0
    await tasks.are_back()


async def test_p8_a_lifespan_that_is_cancelled_while_it_closes_closes_once() -> None:
    tasks = Tasks()
    stage = Stage()
    stop = anyio.Event()

    async def live() -> None:
        async with stage.app.router.lifespan_context(stage.app):
            await stop.wait()

    async with anyio.create_task_group() as group:
        group.start_soon(live)
        for thread in ("t1", "t2"):
            await stage.assert_served(thread)
        stage.instances.door.clear()
        stop.set()
        await until(lambda: stage.registration.statistics().closing == 2)
        group.cancel_scope.cancel()
    for _ in range(10):  # a closing that had been cancelled would end now
        await checkpoint()
    assert stage.registration.statistics().closing == 2
    assert stage.instances.closed == [0, 0]
    stage.instances.door.set()
    await until(lambda: stage.registration.statistics().live == 0)
    assert stage.instances.closed == [1, 1]
    assert stage.registration.statistics().close_failures == 0
    await tasks.are_back()
