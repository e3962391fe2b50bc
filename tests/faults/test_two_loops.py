"""P3, P6, P8: two event loops in two threads share one registration."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.slot import Key
from tests.faults.inn import Inn
from tests.faults.support import registration_of, stay, visit
from tests.unit.runtime.support import assert_empty, code_of, pool_in

T = TypeVar("T")

PATIENCE = 60  # seconds until a deadlock between threads is a failure


class Loops:
    """Event loops in threads of their own."""

    def __init__(self, debug: bool) -> None:
        self.loops = [asyncio.new_event_loop() for _ in range(2)]
        self.threads = [threading.Thread(target=self._run, args=[loop]) for loop in self.loops]
        for loop, thread in zip(self.loops, self.threads, strict=True):
            loop.set_debug(debug)
            thread.start()

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.get_loop().run_forever()

    def do(self, number: int, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loops[number])

    def stop(self) -> None:
        for loop, thread in zip(self.loops, self.threads, strict=True):
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


@pytest.fixture
def loops(debug: bool) -> Iterator[Loops]:
    loops = Loops(debug)
    yield loops
    loops.stop()


async def polled(holds: Callable[[], bool]) -> None:
    """Wait, however long it takes, for what another thread brings about."""
    while not holds():  # noqa: ASYNC110  # no event of asyncio's may be set from there
        await asyncio.sleep(0)


async def together(work: Callable[[], Coroutine[Any, Any, Any]], times: int) -> list[Any]:
    return await asyncio.gather(*(work() for _ in range(times)), return_exceptions=True)


def test_two_loops_on_a_cold_key_whose_build_fails_once(inn: Inn, loops: Loops) -> None:
    begun, go_on = threading.Event(), threading.Event()
    fail = True

    async def build(key: Key) -> None:
        begun.set()
        await polled(go_on.is_set)
        if fail:
            raise ValueError

    async def waiting(count: int) -> None:
        await polled(lambda: registration.statistics().waiting == count)

    inn.on_building = build
    registration = registration_of(inn)
    crowds = [loops.do(number, together(lambda: visit(registration), 50)) for number in range(2)]
    assert begun.wait(PATIENCE)
    loops.do(0, waiting(100)).result(PATIENCE)
    go_on.set()
    errors = [error for crowd in crowds for error in crowd.result(PATIENCE)]
    assert {type(error) for error in errors} == {RegistrationError}
    assert len(set(map(id, errors))) == 100
    assert_empty(pool_in(registration))
    fail = False
    crowds = [loops.do(number, together(lambda: visit(registration), 50)) for number in range(2)]
    guests = [guest for crowd in crowds for guest in crowd.result(PATIENCE)]
    assert len(set(map(id, guests))) == 1
    assert inn.calls["alice", "1"] == 2
    loops.do(1, registration.aclose()).result(PATIENCE)
    inn.check()


@pytest.mark.parametrize("seed", range(2))
def test_two_loops_with_every_fault_between_them(
    inn: Inn, loops: Loops, debug: bool, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "scoped_registration")
    registration = registration_of(inn, max_instances=4, max_per_scope=3)
    ends: Counter[str] = Counter()

    async def build(key: Key) -> None:
        await asyncio.sleep(0)
        if inn.calls[key] % 5 == 4:
            raise ValueError

    async def live(chance: random.Random) -> None:
        for _ in range(20 if debug else 60):
            running = asyncio.create_task(
                visit(registration, chance.choice("abc"), chance.choice("12"))
            )
            if chance.random() < 0.2:
                await asyncio.sleep(0)
                running.cancel()
            (outcome,) = await asyncio.gather(running, return_exceptions=True)
            ends[type(outcome).__name__] += 1
            if chance.random() < 0.1:
                registration.invalidate(scope=chance.choice("abc"))

    inn.on_building = build
    lives = [
        loops.do(number % 2, live(random.Random(10 * seed + number)))  # noqa: S311
        for number in range(8)
    ]
    for life in lives:
        life.result(PATIENCE)
    assert set(ends) == {"PlainGuest" if not inn.managed else "Guest", "RegistrationError"} | {
        "CancelledError"
    }
    loops.do(seed, registration.aclose()).result(PATIENCE)
    assert_empty(pool_in(registration))
    assert (registration.statistics().dropped, registration.statistics().close_failures) == (0, 0)
    inn.check()


def test_a_shutdown_in_one_loop_waits_for_the_run_in_the_other(inn: Inn, loops: Loops) -> None:
    registration = registration_of(inn)
    holder = loops.do(1, stay(registration)).result(PATIENCE)
    ending = loops.do(0, registration.shutdown())

    async def refused() -> ReasonCode | None:
        while True:
            code = await code_of(visit(registration, "bob"))
            if code is not None:
                return code

    assert loops.do(1, refused()).result(PATIENCE) is ReasonCode.DRAINING
    assert inn.guests[0].closings == 0
    assert not ending.done()
    loops.do(1, holder.end()).result(PATIENCE)
    ending.result(PATIENCE)
    assert_empty(pool_in(registration))
    inn.check()
