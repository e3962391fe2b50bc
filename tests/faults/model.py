"""A pool, what was done to it, and what the figures must therefore be.

`promises` says what must hold of it, `machine` what may be done to it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.pool import Pool
from scoped_registration.runtime.refusals import BUSY
from scoped_registration.runtime.slot import Key, Slot
from tests.faults.clock_loop import ClockLoop
from tests.faults.held import FaultError, Held
from tests.faults.inn import Guest, Inn
from tests.unit.runtime.support import assert_empty, keeper_of, pool_of

SCOPES, THREADS = "ab", "12"
IDLE_TTL, MAX_AGE, PIN_TTL = 100.0, 350.0, 200.0
WAIT, CLOSE, WAITING = 50.0, 20.0, 3


class Run:
    """A caller: waits, holds, and has ended."""

    def __init__(self, machine: PoolModel, key: Key) -> None:
        self.machine = machine
        self.key = key
        self.lease = machine.pool.lease(key, key[0])
        self.guest: Guest | None = None
        self.asked: int | None = None  # the moment, in the order of events
        self.asked_at = 0.0
        self.over: asyncio.Future[None] = machine.loop.create_future()
        self.code: ReasonCode | None = None
        self.task = machine.loop.create_task(self._run())

    async def _run(self) -> None:
        self.asked, self.asked_at = self.machine.next_moment(), self.machine.loop.time()
        try:
            async with self.lease as guest:
                assert isinstance(guest, Guest)
                with guest.used():
                    self.machine.check_lease(self, guest)
                    self.guest = guest
                    await self.over
        except RegistrationError as error:
            self.code = error.code
            self.machine.check_refusal(self, error.code)
        except FaultError:
            pass
        finally:
            self.machine.left(self)


class PoolModel(RuleBasedStateMachine):
    """The pool, what the rules did to it, and what must therefore be so."""

    debug = False
    steps: ClassVar[int] = 0  # of all examples

    @initialize(
        max_instances=st.integers(1, 3),
        max_per_scope=st.integers(1, 2),
        managed=st.booleans(),
        slow_builds=st.booleans(),
        slow_closings=st.booleans(),
    )
    def start(
        self,
        max_instances: int,
        max_per_scope: int,
        managed: bool,
        slow_builds: bool,
        slow_closings: bool,
    ) -> None:
        self.loop = ClockLoop()
        self.loop.set_debug(self.debug)
        self.unhandled: list[object] = []
        self.loop.set_exception_handler(lambda _, context: self.unhandled.append(context))
        self.inn = Inn(managed)
        self.inn.on_building, self.inn.on_closing = self.hold_build, self.hold_closing
        self.max_instances, self.max_per_scope = max_instances, max_per_scope
        self.pool: Pool[Any] = pool_of(
            self.inn,
            self.loop.clock,
            max_instances=max_instances,
            max_per_scope=max_per_scope,
            max_waiting=WAITING,
            wait_timeout=WAIT,
            close_timeout=CLOSE,
            idle_ttl=IDLE_TTL,
            max_age=MAX_AGE,
            pin_ttl=PIN_TTL,
        )
        idle = keeper_of(self.pool).idle
        self.settle, idle.settle = idle.settle, self.come_between
        self.thief_is_here = False
        self.runs: list[Run] = []
        self.builds: list[Held] = []
        self.closings: list[Held] = []
        self.slow_builds, self.slow_closings = slow_builds, slow_closings
        self.built_at: list[float] = []  # of each guest
        self.born_retired: set[int] = set()  # guests, by their number
        self.idle_since: dict[Guest, float] = {}
        self.pinned: dict[Guest, float] = {}
        self.retired: dict[Guest, int] = {}  # who asked after that moment must not have them
        self.moment = self.last_jump = 0
        self.failed_builds = self.failed_closings = self.rejected = self.cancelled = 0
        self.drain: asyncio.Task[None] | None = None
        self.settled = True
        type(self).steps -= 1  # the promises are checked once before the first step

    # What callers see

    def next_moment(self) -> int:
        self.moment += 1
        return self.moment

    def check_lease(self, run: Run, guest: Guest) -> None:
        """A caller has an instance: its key's, in its turn, and one that was still to be had."""
        assert run.asked is not None
        expect = self.inn.expect
        expect(guest.key == run.key, "another key's")
        expect(run.asked < self.retired.get(guest, math.inf), "retired")
        expect(self.inn.guests.index(guest) not in self.born_retired, "retired before it was built")
        for other in self.waiting:
            if other is not run and other.key == run.key and not other.task.done():
                expect(other.asked is None or other.asked > run.asked, "overtaken")
        if run.asked > self.last_jump:  # so it is now as when the lease was granted
            expect(self.loop.time() < self.expiry(guest), "overdue")

    def check_refusal(self, run: Run, code: ReasonCode) -> None:
        """A caller is refused: for a reason that there is, and no sooner than promised."""
        waited = self.loop.time() - run.asked_at
        others = sum(1 for other in self.runs if other.key == run.key) - 1
        reasons = {
            ReasonCode.WAIT_TIMEOUT: waited >= WAIT,
            ReasonCode.QUEUE_FULL: others > WAITING,
            ReasonCode.POOL_FULL: waited >= WAIT or len({r.key for r in self.runs}) > 1,
            ReasonCode.DRAINING: self.drain is not None,
            ReasonCode.FACTORY_FAILED: self.failed_builds > 0,
        }
        self.inn.expect(reasons.get(code, False), f"refused with {code} for no reason")

    def come_between(self, slot: Slot[Any]) -> None:
        """Let a thread come when an instance is put back, before anybody has looked after it.

        It takes the instance if it can, and gives it back at once.
        """
        if not self.thief_is_here:
            self.thief_is_here = True
            guest, due = slot.target, slot.due
            if self.pool.take(slot, slot.key[0]):
                self.inn.expect(not slot.waiters, "overtaken")
                self.inn.expect(guest not in self.retired, "retired")
                self.inn.expect(self.loop.time() < due, "overdue")
                self.pool.release(slot)
            self.thief_is_here = False
        self.settle(slot)

    def left(self, run: Run) -> None:
        for build in self.builds:
            if build.key == run.key:
                build.alone_since = None  # until now somebody waited for it
        now = self.loop.time()
        if run.guest is not None:
            self.idle_since[run.guest] = now
        elif run.code is None:  # cancelled, perhaps when the lease was granted already
            self.idle_since.update((guest, now) for guest in self.open if guest.key == run.key)

    def expiry(self, guest: Guest) -> float:
        """When an idle guest is to leave."""
        if guest in self.pinned:
            return self.pinned[guest] + PIN_TTL
        built_at = self.built_at[self.inn.guests.index(guest)]
        return min(self.idle_since.get(guest, built_at) + IDLE_TTL, built_at + MAX_AGE)

    # What the factory and the closers do

    async def hold_build(self, key: Key) -> None:
        build = Held(key)
        self.builds.append(build)
        try:
            if self.slow_builds:
                await build.end
        except BaseException:
            self.failed_builds += 1
            raise
        finally:
            self.builds.remove(build)
        if build.retired:
            self.born_retired.add(len(self.built_at))
        self.built_at.append(self.loop.time())

    async def hold_closing(self, key: Key) -> None:
        for guest in self.inn.guests:
            if guest.closings and guest in self.pinned:
                due = self.loop.time() >= self.pinned.pop(guest) + PIN_TTL
                self.inn.expect(due, "closed while an answer is pending")
        closing = Held(key)
        self.closings.append(closing)
        try:
            if self.slow_closings:
                await closing.end
        except BaseException:
            self.failed_closings += 1
            raise
        finally:
            self.closings.remove(closing)

    # Driving the loop

    def go(self, steps: int | None) -> None:
        if steps is None:
            self.loop.settle()
        for _ in range(steps or 0):
            self.loop.step()
        self.settled = steps is None
        for run in [run for run in self.runs if run.task.done()]:
            self.runs.remove(run)
            self.rejected += run.code in BUSY
            self.cancelled += run.task.cancelled()
            assert run.task.cancelled() or run.task.exception() is None
        if self.drain is not None and self.drain.done():
            self.drain.result()
            self.drain = None

    def do(self, action: Callable[[], object], steps: int | None) -> None:
        """Do something inside the loop."""
        self.loop.call_soon(action)
        self.go(steps)

    @property
    def holding(self) -> list[Run]:
        return [run for run in self.runs if run.guest is not None]

    @property
    def waiting(self) -> list[Run]:
        return [run for run in self.runs if run.guest is None]

    @property
    def open(self) -> list[Guest]:
        return [guest for guest in self.inn.guests if not guest.closings]

    @property
    def idle(self) -> list[Guest]:
        held = {run.guest for run in self.holding}
        return [guest for guest in self.open if guest not in held]

    # What steps are made of

    def retire(self, _found: int, chosen: Callable[[Key], bool]) -> None:
        """Note who is retired: what is in use now is nobody else's any more.

        Anything else may have been granted a moment ago, to somebody who asked before.
        """
        now = self.next_moment()
        in_use = {run.guest for run in self.holding if not run.task.done()}
        for build in self.builds:
            build.retired |= chosen(build.key)
        for guest in self.open:
            if chosen(guest.key):
                self.retired.setdefault(guest, 0 if guest in in_use else now)
                self.pinned.pop(guest, None)

    async def drained(self, *, final: bool) -> None:
        before = self.pool.statistics().close_failures
        failures = 0
        try:
            self.retire(0, lambda _: True)
            await self.pool.drain(final=final)
        except ExceptionGroup as group:
            failures = len(group.exceptions)
        assert failures == self.pool.statistics().close_failures - before

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        self.slow_builds = self.slow_closings = False
        for _ in range(100):
            self.go(None)
            if not self.runs and self.drain is None:
                break
            for held in self.builds + self.closings:
                held.finish("well")
            for run in self.holding:
                if not run.over.done():
                    run.over.set_result(None)
            if not self.holding:
                self.loop.clock.advance(1.0)  # who waits for pinned instances is refused in time
        assert self.runs == []
        assert self.drain is None
        self.loop.run_until_complete(self.drained(final=True))
        assert_empty(self.pool)
        self.inn.check()
        assert asyncio.all_tasks(self.loop) == set()
        assert self.unhandled == []
        self.loop.close()
