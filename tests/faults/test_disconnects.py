"""A client that is gone at any moment costs nobody their thread, however often (P5, P6)."""

from __future__ import annotations

import anyio
import pytest

from tests.faults.http_support import (
    LAYERS,
    LIMIT,
    MOMENTS,
    Layer,
    Moment,
    Stage,
    Tasks,
    assert_free,
    unclosed,
    until,
)

pytestmark = unclosed

OFTEN: dict[Layer, int] = {"plain": 200, "middleware": 25, "mounted": 25, "router": 25}


async def leave(stage: Stage, moment: Moment, *, raises: bool) -> None:
    """Open a stream that goes on for ever, and be gone at a moment."""
    stage.entered.clear()
    if raises:  # a body that waits for ever would not find out
        stage.goes_on.set()
    call = stage.call("stream", leaves=moment, raises=raises)
    if moment != "in the endpoint":
        await call.run_to_its_end()
        return
    stage.may_answer.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call.run_to_its_end)
        with anyio.fail_after(LIMIT):
            await stage.entered.wait()
        assert stage.registration.statistics().leased == 1
        call.gone.set()
        stage.may_answer.set()


@pytest.mark.parametrize("raises", [False, True], ids=["told by receive", "told by send"])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("layer", LAYERS)
async def test_p5_clients_that_leave_cost_nothing(
    layer: Layer, moment: Moment, raises: bool
) -> None:
    tasks = Tasks()
    stage = Stage(layer)
    async with stage.app.router.lifespan_context(stage.app):
        for _ in range(OFTEN[layer]):
            await leave(stage, moment, raises=raises)
            assert_free(stage.registration)
            await stage.assert_served()
        figures = stage.registration.statistics()
        assert (figures.live, figures.built, figures.rejected) == (1, 1, 0)
        await tasks.are_back(and_of_instances=1)
    assert stage.instances.closed == [1]
    assert stage.registration.statistics().live == 0
    await tasks.are_back()


async def test_control_a_client_that_stays_holds_its_lease_and_its_task() -> None:
    tasks = Tasks()
    stage = Stage()
    call = stage.call("stream")
    async with stage.app.router.lifespan_context(stage.app), anyio.create_task_group() as group:
        group.start_soon(call.run)
        with anyio.fail_after(LIMIT):
            await call.got_body.wait()
        assert stage.registration.statistics().leased == 1
        assert len(tasks.more) > 1
        stage.goes_on.set()
    assert call.body == b"firstlast"
    await tasks.are_back()


@pytest.mark.parametrize("layer", LAYERS)
async def test_p6_clients_that_leave_the_queue_let_those_behind_them_pass(layer: Layer) -> None:
    tasks = Tasks()
    stage = Stage(layer, max_waiting=100)
    first = stage.call("stream")
    leaving = [stage.call("stream") for _ in range(20)]
    staying = [stage.call() for _ in range(20)]
    in_turn = [call for pair in zip(leaving, staying, strict=True) for call in pair]
    async with stage.app.router.lifespan_context(stage.app), anyio.create_task_group() as group:
        group.start_soon(first.run)
        with anyio.fail_after(LIMIT):
            await first.got_body.wait()
        for call in in_turn:
            group.start_soon(call.run_to_its_end)
        await until(lambda: stage.registration.statistics().waiting == len(in_turn))
        for call in leaving:
            call.gone.set()
        stage.goes_on.set()
    assert [call.status for call in staying] == [200] * len(staying)
    assert first.body == b"firstlast"
    assert stage.registration.statistics().built == 1
    assert stage.instances.closed == [1]
    await tasks.are_back()
