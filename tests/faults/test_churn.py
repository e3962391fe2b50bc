"""P3 to P8 at once: thousands of runs with every fault among them, and nothing left at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections import Counter
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.pool import Pool
from scoped_registration.runtime.slot import Key
from tests.faults.clock_loop import loop_clock, on_the_clock
from tests.faults.inn import Inn, alternating
from tests.faults.support import kept, visit
from tests.unit.runtime.support import assert_empty, code_of, many, pool_of, until

anyio_backend = on_the_clock
pytestmark = pytest.mark.usefixtures("small_heap")

DAY = 86400.0


class HiccupError(Exception):
    """A fault that a test put there."""


class Mess:
    """Callers, a factory and closers who do everything that they should not, by chance."""

    def __init__(self, inn: Inn, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311
        self.ends: Counter[str] = Counter()
        self.failed_closings = 0
        inn.on_building, inn.on_closing = self.build, self.close
        self.pool: Pool[Any] = pool_of(
            alternating(inn),
            loop_clock(),
            idle_ttl=60.0,
            max_age=300.0,
            pin_ttl=90.0,
            max_instances=10,
            max_per_scope=4,
            max_waiting=8,
            wait_timeout=45.0,
            close_timeout=50.0,  # longer than any run
        )

    async def fail_at_times(self) -> None:
        if self.chance.random() < 0.1:
            raise HiccupError

    async def build(self, key: Key) -> None:
        await asyncio.sleep(self.chance.choice([0, 0, 5, 40]))
        await self.fail_at_times()

    async def close(self, key: Key) -> None:
        await asyncio.sleep(self.chance.choice([0, 0, 5]))
        try:
            await self.fail_at_times()
        except HiccupError:
            self.failed_closings += 1
            raise

    async def run(self) -> None:
        scope, thread = self.chance.choice("abcdef"), self.chance.choice("123456")
        lease = self.pool.lease((scope, thread), scope)
        async with lease as guest:
            with guest.used():
                lease.pin(self.chance.random() < 0.1)
                await asyncio.sleep(self.chance.choice([0, 1, 20]))
                await self.fail_at_times()

    async def run_or_cancel(self) -> str:
        running = asyncio.create_task(self.run())
        if self.chance.random() < 0.1:
            await asyncio.sleep(self.chance.choice([0, 0, 1, 15]))
            running.cancel()
        try:
            await running
        except HiccupError:
            return "raised"
        except asyncio.CancelledError:
            return "cancelled"
        except RegistrationError as error:
            return error.code.value
        return "well"

    def log_out(self, scope: str) -> None:
        self.pool.invalidate(lambda key: key[0] == scope)

    async def live(self, runs: int) -> None:
        for _ in range(runs):
            self.ends[await self.run_or_cancel()] += 1
            if self.chance.random() < 0.02:
                self.log_out(self.chance.choice("abcdef"))
            if self.chance.random() < 0.002:
                with contextlib.suppress(ExceptionGroup):
                    await self.pool.drain(final=False)
            await asyncio.sleep(self.chance.choice([0, 0, 3, 30]))


@pytest.mark.parametrize("seed", range(2))
async def test_every_fault_at_once(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    inn = Inn()
    caplog.set_level(logging.CRITICAL, "scoped_registration")
    before = kept()
    mess = Mess(inn, seed)
    await asyncio.gather(*(mess.live(many(2400) // 40 + 5) for _ in range(40)))
    assert mess.ends["well"] > mess.ends["raised"] > 0
    for end in ("cancelled", ReasonCode.FACTORY_FAILED.value, ReasonCode.POOL_FULL.value):
        assert mess.ends[end]
    assert inn.most <= 10
    assert inn.most_of_a_scope <= 4
    await asyncio.sleep(400.0)
    assert_empty(mess.pool)
    figures = mess.pool.statistics()
    assert figures.close_failures == mess.failed_closings > 0
    assert figures.built == figures.closed == len(inn.guests)
    assert figures.dropped == 0
    inn.check()
    del mess
    inn.guests.clear()
    inn.on_building = inn.on_closing = Inn().on_building
    await asyncio.sleep(DAY)  # asyncio keeps the timers that were cancelled until they are due
    assert kept() - before == Counter()


async def test_a_scope_that_pins_ten_thousand_threads_takes_its_share_and_nothing_of_another() -> (
    None
):
    inn = Inn()
    share, threads = 100, many(10_000)
    pool = pool_of(
        alternating(inn),
        loop_clock(),
        max_per_scope=share,
        max_instances=2 * share,
        max_waiting=16,
        pin_ttl=DAY,
    )
    codes: Counter[ReasonCode | None] = Counter()

    async def ask_and_leave(thread: str) -> None:
        lease = pool.lease(("alice", thread), "alice")
        async with lease:
            lease.pin(True)

    bob = await visit(pool, "bob")
    for batch in range(0, threads, 50):
        asks = [asyncio.create_task(ask_and_leave(str(batch + n))) for n in range(50)]
        await asyncio.sleep(0)
        assert await visit(pool, "bob") is bob  # warm, before anybody of alice's is refused
        await visit(pool, "bob", f"{batch % 3}")  # cold, at times
        codes.update([await code_of(ask) for ask in asks])
    assert codes == {None: share, ReasonCode.POOL_FULL: threads - share}
    figures = pool.statistics()
    assert figures.pinned == inn.present["alice"] == inn.most_of_a_scope == share
    assert (figures.waiting, figures.seeking, figures.scopes) == (0, 0, 2)
    assert bob.closings == 0

    first = inn.guests[1]
    assert first.key == ("alice", "0")
    assert await visit(pool, "alice", "0") is first  # the answer comes, a day is not over
    await asyncio.sleep(DAY)
    assert pool.statistics().pinned == 0
    assert await visit(pool, "alice", "0") is not first  # as for a thread that never was
    await pool.drain(final=True)
    assert_empty(pool)
    inn.check()


async def test_who_is_refused_a_pinned_share_is_served_when_one_answer_has_come(inn: Inn) -> None:
    pool = pool_of(inn, loop_clock(), max_per_scope=2, max_waiting=2)
    for thread in "12":
        lease = pool.lease(("alice", thread), "alice")
        async with lease:
            lease.pin(True)
    waiting = [asyncio.create_task(visit(pool, "alice", thread)) for thread in "34"]
    await until(lambda: pool.statistics().seeking == 2)
    assert await code_of(visit(pool, "alice", "5")) is ReasonCode.POOL_FULL
    again = pool.lease(("alice", "1"), "alice")
    async with again:
        again.pin(False)
    assert [guest.key[1] for guest in await asyncio.gather(*waiting)] == ["3", "4"]
    assert [guest.closings for guest in inn.guests] == [1, 0, 1, 0]
    assert inn.most == 2
    await pool.drain(final=True)
    inn.check()
