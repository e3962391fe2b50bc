"""P8: targets that do not let go, and closings that raise, hang or take long, among good ones."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.slot import Key
from scoped_registration.scope import ScopeContext
from tests.faults.clock_loop import loop_clock, on_the_clock
from tests.faults.inn import Inn
from tests.faults.support import Source, lease_of, registration_of, stay, visit
from tests.unit.runtime.support import (
    assert_empty,
    code_of,
    keeper_of,
    pool_in,
    pool_of,
    until,
)

anyio_backend = on_the_clock

LIMIT = 10.0


class Closings:
    """What becomes of a closing, by the thread id."""

    def __init__(self, inn: Inn) -> None:
        self.cancelled: list[str] = []
        self.go_on = asyncio.Event()
        inn.on_closing = self.close

    async def close(self, key: Key) -> None:
        kind = key[1].rstrip("0123456789")
        if kind == "raises":
            raise ValueError("s3cret")
        if kind == "is cancelled":
            raise asyncio.CancelledError
        if kind == "takes long":
            await asyncio.sleep(LIMIT - 1)
        while kind in ("hangs", "ignores") and not self.go_on.is_set():
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                self.cancelled.append(key[1])
                if kind == "hangs":
                    raise


KINDS = ("raises", "is cancelled", "takes long", "hangs", "ignores", "good")
FAILING = {
    "raises": ValueError,
    "is cancelled": RuntimeError,
    "hangs": TimeoutError,
    "ignores": TimeoutError,
}


@pytest.mark.parametrize("final", [False, True], ids=["shutdown", "aclose"])
async def test_every_instance_is_closed_whatever_its_neighbours_do(
    inn: Inn, final: bool, caplog: pytest.LogCaptureFixture
) -> None:
    closings, registration = Closings(inn), registration_of(inn, close_timeout=LIMIT)
    for number in range(3):
        for kind in KINDS:
            await visit(registration, thread=f"{kind}{number}")
    clock = loop_clock()
    begun = clock.now
    with pytest.raises(ExceptionGroup) as caught:
        await (registration.aclose() if final else registration.shutdown())
    assert clock.now == begun + LIMIT  # side by side, not one after the other
    failed = sorted(type(error).__name__ for error in caught.value.exceptions)
    assert failed == sorted(3 * [error.__name__ for error in FAILING.values()])
    assert [guest.closings for guest in inn.guests] == [1] * 18
    figures = registration.statistics()
    assert (figures.built, figures.closed, figures.close_failures) == (18, 18, 12)
    assert_empty(pool_in(registration))
    assert caplog.text.count("did not close properly") == 12
    assert "s3cret" not in caplog.text
    await until(lambda: len(closings.cancelled) == 6)
    closings.go_on.set()  # what comes too late is heard no more
    await until(lambda: not inn.present.total())
    assert registration.statistics() == figures
    if not final:
        await visit(registration)
        await registration.shutdown()
    inn.check()


async def test_one_failure_is_raised_by_one_shutdown(inn: Inn) -> None:
    Closings(inn)
    registration = registration_of(inn)
    await visit(registration, thread="raises")
    with pytest.raises(ExceptionGroup):
        await registration.shutdown()
    await visit(registration, thread="good")
    await registration.aclose()
    assert registration.statistics().close_failures == 1
    inn.check()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_closing_holds_its_room_until_it_ends_or_is_given_up(inn: Inn, kind: str) -> None:
    closings = Closings(inn)
    registration = registration_of(inn, max_instances=1, close_timeout=LIMIT)
    clock = loop_clock()
    await visit(registration, thread=kind)
    begun = clock.now
    await visit(registration, "bob")
    took = {"takes long": LIMIT - 1, "hangs": LIMIT, "ignores": LIMIT}
    assert clock.now == begun + took.get(kind, 0.0)
    assert registration.statistics().close_failures == (kind in FAILING)
    assert registration.statistics().live == 1
    closings.go_on.set()
    await registration.aclose()
    await until(lambda: not inn.present.total())
    inn.check()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_key_that_is_closing_is_built_anew_once_it_is_closed(inn: Inn, kind: str) -> None:
    closings, registration = Closings(inn), registration_of(inn, close_timeout=LIMIT)
    first = await visit(registration, thread=kind)
    registration.invalidate()
    callers = [asyncio.create_task(visit(registration, thread=kind)) for _ in range(20)]
    guests = await asyncio.gather(*callers)
    assert len(set(map(id, guests))) == 1
    assert guests[0] is not first
    assert inn.calls["alice", kind] == 2
    closings.go_on.set()
    with contextlib.suppress(ExceptionGroup):
        await registration.aclose()
    await until(lambda: not inn.present.total())
    assert_empty(pool_in(registration))
    inn.check()


class Stubborn:
    """A run that ignores being cancelled."""

    def __init__(self, source: Source) -> None:
        self.held = asyncio.Event()
        self.let_go = asyncio.Event()
        self.cancellations = 0
        self.task = asyncio.create_task(self._run(source))

    async def _run(self, source: Source) -> None:
        async with lease_of(source, "alice", "1"):
            self.held.set()
            while not self.let_go.is_set():
                try:
                    await self.let_go.wait()
                except asyncio.CancelledError:
                    self.cancellations += 1

    async def cancel(self) -> None:
        self.task.cancel()
        before = self.cancellations
        await until(lambda: self.cancellations > before)

    async def end(self) -> None:
        self.let_go.set()
        await self.task


async def test_a_run_that_ignores_its_cancellation_keeps_its_instance_until_it_ends(
    inn: Inn,
) -> None:
    pool = pool_of(inn, loop_clock(), idle_ttl=1.0, max_instances=1, wait_timeout=5.0)
    run = Stubborn(pool)
    await run.held.wait()
    for _ in range(3):
        await run.cancel()
        assert await code_of(visit(pool, "bob")) is ReasonCode.POOL_FULL  # five seconds later
        assert await code_of(visit(pool)) is ReasonCode.WAIT_TIMEOUT
    pool.invalidate(lambda _: True)
    keeper_of(pool).sweep()
    assert inn.guests[0].closings == 0
    await run.end()
    await visit(pool, "bob")
    assert [guest.closings for guest in inn.guests] == [1, 0]
    await pool.drain(final=True)
    inn.check()


async def test_a_run_that_ignores_its_cancellation_loses_its_instance_to_a_shutdown_that_waited(
    inn: Inn,
) -> None:
    clock = loop_clock()
    registration = registration_of(inn, close_timeout=LIMIT)
    run = Stubborn(registration)
    await run.held.wait()
    orderly = await stay(registration, "bob")
    begun = clock.now
    ending = asyncio.create_task(registration.shutdown())
    await run.cancel()
    clock.advance(LIMIT - 1)
    await orderly.end()
    await until(lambda: [guest.closings for guest in inn.guests] == [0, 1])
    await ending
    assert clock.now == begun + LIMIT
    assert_empty(pool_in(registration))
    await run.end()
    assert registration.statistics().leased == 0
    await visit(registration)
    await registration.aclose()
    inn.check()


class Unreachable:
    """Its very attribute fails, with what is not even an `Exception`."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    @property
    def aclose(self) -> Any:
        raise self.error


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError])
async def test_a_closer_that_cannot_even_be_read_stops_no_other(
    error: type[BaseException],
) -> None:
    inn = Inn()

    def build(context: ScopeContext[Any]) -> object:
        return Unreachable(error) if context.scope == "alice" else inn(context)

    async def lease(scope: str) -> None:
        async with registration.lease(scope, "1"):
            pass

    registration = registration_of(build, close_timeout=LIMIT)
    for scope in ("alice", "bob", "carol"):
        await lease(scope)
    with pytest.raises(ExceptionGroup) as caught:
        await registration.shutdown()
    assert len(caught.value.exceptions) == 1
    assert registration.statistics().close_failures == 1
    assert_empty(pool_in(registration))
    inn.check()
