"""AG-UI: refused requests leave nothing behind; two applications share nothing (P2, P6, P7)."""

from __future__ import annotations

import asyncio

import anyio
import attrs
import httpx
import pytest

from tests.faults.http_support import LIMIT, assert_free
from tests.faults.test_http_agui import LAYERS, AGUIStage, Layer, tasks_of_the_loop
from tests.faults.test_http_refusals import CASES, Case, census, held, refuse
from tests.faults.test_http_two_servers import two_servers
from tests.integrations.agent_framework.kit import Client
from tests.unit.runtime.support import keeper_of, pool_in

MANY = 200  # of each kind


def stage_of(case: Case, layer: Layer = "plain") -> AGUIStage:
    return AGUIStage(layer, "reject" if case.reject else "queue", max_waiting=0)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_p7_refused_requests_leave_nothing_behind(case: Case) -> None:
    tasks = await tasks_of_the_loop()
    stage = stage_of(case)
    slots = keeper_of(pool_in(stage.registration)).slots
    in_use = 1 if case.held else 0
    async with stage.app.router.lifespan_context(stage.app):
        async with held(case, stage):
            await refuse(case, stage, range(10))  # what is made once is there now
            figures = stage.registration.statistics()
            before, open_tasks = census(), len(tasks.more)
            await refuse(case, stage, range(10, 10 + MANY))
            assert census() == before
            assert len(slots) == in_use
            assert len(tasks.more) == open_tasks
            after = stage.registration.statistics()
            assert after.rejected == figures.rejected + MANY * in_use
            assert attrs.evolve(after, rejected=figures.rejected) == figures
            assert (after.leased, after.waiting) == (in_use, 0)
            assert stage.bodies == in_use, "no refused request reached a model"
        assert_free(stage.registration)
        await stage.assert_served()
    assert stage.closed == stage.opened
    assert len(stage.opened) == (2 if case.drains else 1)
    await tasks.are_back()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("layer", LAYERS[1:])
async def test_p6_a_refusal_is_one_whole_answer_behind_every_layer(
    layer: Layer, case: Case
) -> None:
    tasks = await tasks_of_the_loop()
    stage = stage_of(case, layer)
    async with stage.app.router.lifespan_context(stage.app), held(case, stage):
        await refuse(case, stage, range(5))
        assert stage.bodies == (1 if case.held else 0)
    assert_free(stage.registration)
    await tasks.are_back()


async def test_p2_two_applications_with_one_name_share_nothing() -> None:
    stages = AGUIStage(), AGUIStage()
    with two_servers(stages[0].app, stages[1].app) as servers, anyio.fail_after(LIMIT):
        async with (
            httpx.AsyncClient(base_url=servers[0].url, timeout=LIMIT) as one,
            httpx.AsyncClient(base_url=servers[1].url, timeout=LIMIT) as two,
        ):
            clients = Client(one), Client(two)

            async def talk(which: int) -> None:
                for number in range(10):
                    text = f"said to {which}: {number}"
                    answer = await clients[which].say("alice", "t1", text, "/agent")
                    assert answer.types[-1] == "RUN_FINISHED", answer.body

            await asyncio.gather(talk(0), talk(1))
            for which, stage in enumerate(stages):
                calls = stage.model.calls
                assert len(calls) == 10
                assert calls[-1].holds(f"said to {which}: 0"), "control: it keeps its own"
                assert not any(call.holds(f"said to {1 - which}") for call in calls)
                assert len(stage.opened) == 1
            servers[0].stop()
            assert (len(stages[0].closed), len(stages[1].closed)) == (1, 0)
            answer = await clients[1].say("alice", "t1", "still there?", "/agent")
            assert answer.types[-1] == "RUN_FINISHED", answer.body
            assert stages[1].model.calls[-1].holds("said to 1: 0")
    for stage in stages:
        assert stage.closed == stage.opened
        assert_free(stage.registration)
        assert stage.registration.statistics().dropped == 0
