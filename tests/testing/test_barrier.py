"""The barrier: nobody goes on alone, and nobody waits for what cannot come. The gate: one waits."""

from __future__ import annotations

import anyio
import pytest

from scoped_registration.testing.barrier import Barrier, Gate, Point

HANG = 20.0
"""Seconds after which a test that waits has failed."""


async def test_each_waits_for_all_again_and_again() -> None:
    barrier = Barrier("ab", timeout=HANG)
    steps: list[str] = []

    async def go(who: str) -> None:
        for point in (Point.BODY, Point.MODEL, Point.ANSWER):
            await barrier.hold(who, point)
            steps.append(f"{who} {point}")
        barrier.leave(who)

    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as group:
            group.start_soon(go, "a")
            group.start_soon(go, "b")
    assert [set(steps[i : i + 2]) for i in (0, 2, 4)] == [
        {f"a {point}", f"b {point}"} for point in (Point.BODY, Point.MODEL, Point.ANSWER)
    ]
    assert barrier.together() == (2, Point.MODEL)


async def test_nobody_waits_for_one_that_has_ended() -> None:
    barrier = Barrier("abc", timeout=1000.0)
    barrier.leave("c")
    went_on: list[str] = []

    async def go() -> None:
        await barrier.hold("a", Point.ANSWER)
        went_on.append("a")

    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as group:
            group.start_soon(go)
            await anyio.wait_all_tasks_blocked()
            assert went_on == [], "control: it waits"
            barrier.leave("b")
    assert went_on == ["a"]


async def test_held_at_different_points_they_go_on_and_are_counted_apart() -> None:
    barrier = Barrier("abc", timeout=1000.0)
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as group:
            for who, point in (("a", Point.MODEL), ("b", Point.ANSWER), ("c", Point.ANSWER)):
                group.start_soon(barrier.hold, who, point)
    assert barrier.together() == (1, Point.MODEL)


async def test_it_opens_for_good_when_waiting_was_in_vain() -> None:
    barrier = Barrier("ab", timeout=0.01)
    with anyio.fail_after(HANG):
        await barrier.hold("a", Point.BODY)
    barrier = Barrier("ab", timeout=0.01)
    with anyio.fail_after(HANG):
        for _ in range(1000):  # one wait, and not a thousand
            await barrier.hold("a", Point.ANSWER)
    assert barrier.together() == (1, Point.ANSWER)


async def test_starting_to_answer_is_not_answering() -> None:
    barrier = Barrier("ab", timeout=1000.0)
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as group:
            group.start_soon(barrier.hold, "a", Point.START)
            group.start_soon(barrier.hold, "b", Point.START)
    assert barrier.together() == (0, Point.ANSWER)


async def test_strangers_are_not_held() -> None:
    barrier = Barrier("ab", timeout=1000.0)
    with anyio.fail_after(HANG):
        await barrier.hold("c", Point.MODEL)


async def test_at_the_end_of_an_answer_is_answering_as_well() -> None:
    barrier = Barrier("ab", timeout=1000.0)
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as group:
            group.start_soon(barrier.hold, "a", Point.END)
            group.start_soon(barrier.hold, "b", Point.END)
    assert barrier.together() == (2, Point.ANSWER)


@pytest.mark.parametrize("at", [Point.MODEL, Point.ANSWER])
async def test_a_gate_holds_one_request_until_it_opens(at: Point) -> None:
    gate = Gate("a", at)
    went_on: list[str] = []

    async def go(who: str) -> None:
        for point in (Point.BODY, Point.START, Point.ANSWER, at, Point.END):
            await gate.hold(who, point)
        went_on.append(who)

    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as group:
            group.start_soon(go, "a")
            await gate.settled()
            await go("b")
            assert (gate.held, went_on) == (True, ["b"])
            gate.open()
    assert went_on == ["b", "a"]


async def test_a_gate_does_not_hold_who_has_nothing_left_to_do() -> None:
    gate = Gate("a", Point.ANSWER)
    with anyio.fail_after(HANG):
        for point in (Point.BODY, Point.START, Point.ANSWER, Point.END):
            await gate.hold("a", point)
        gate.leave("b")
        gate.leave("a")
        await gate.settled()
    assert not gate.held


async def test_a_gate_that_is_open_holds_nobody() -> None:
    gate = Gate("a", Point.MODEL)
    gate.open()
    with anyio.fail_after(HANG):
        await gate.hold("a", Point.MODEL)
    assert not gate.held
