"""What may be done to a pool, as steps in any order."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from scoped_registration.runtime.slot import Key
from tests.faults.held import FaultError
from tests.faults.model import (
    CLOSE,
    IDLE_TTL,
    PIN_TTL,
    SCOPES,
    THREADS,
    WAIT,
    Run,
)
from tests.faults.promises import Promises
from tests.unit.runtime.support import keeper_of

keys = st.tuples(st.sampled_from(SCOPES), st.sampled_from(THREADS))
which = st.integers(0, 7)
# None: until nothing is left to do. A number: so many steps of the loop, so that the next
# rule meets the pool in the midst of something.
pace = st.one_of(st.none(), st.none(), st.integers(0, 4))


class PoolMachine(Promises):
    """Callers, a factory, closers, time and shutdowns, in any order."""

    # Callers

    @rule(key=keys, steps=pace)
    def lease(self, key: Key, steps: int | None) -> None:
        self.runs.append(Run(self, key))
        self.go(steps)

    @rule(some=st.lists(keys, min_size=2, max_size=6), steps=pace)
    def lease_at_once(self, some: list[Key], steps: int | None) -> None:
        self.runs += [Run(self, key) for key in some]
        self.go(steps)

    @precondition(lambda self: bool(self.holding))
    @rule(n=which, fails=st.booleans(), steps=pace)
    def end_a_run(self, n: int, fails: bool, steps: int | None) -> None:
        run = self.holding[n % len(self.holding)]
        if not run.over.done():
            if fails:
                run.over.set_exception(FaultError())
            else:
                run.over.set_result(None)
        self.go(steps)

    @precondition(lambda self: bool(self.runs))
    @rule(n=which, steps=pace)
    def cancel_a_caller(self, n: int, steps: int | None) -> None:
        self.runs[n % len(self.runs)].task.cancel()
        self.go(steps)

    @precondition(lambda self: bool(self.holding))
    @rule(n=which, pending=st.booleans())
    def pin_or_unpin(self, n: int, pending: bool) -> None:
        run = self.holding[n % len(self.holding)]
        assert run.guest is not None
        run.lease.pin(pending)
        self.pinned.pop(run.guest, None)
        if pending and run.guest not in self.retired:
            self.pinned[run.guest] = self.loop.time()

    @precondition(lambda self: bool(self.holding))
    @rule(n=which, steps=pace)
    def end_a_run_and_wait_for_an_answer(self, n: int, steps: int | None) -> None:
        self.pin_or_unpin(n, True)
        self.end_a_run(n, False, steps)

    @precondition(lambda self: self.drain is None)
    @rule(key=keys, seconds=st.sampled_from([IDLE_TTL, PIN_TTL, 1000.0]), steps=pace)
    def come_late(self, key: Key, seconds: float, steps: int | None) -> None:
        """Ask for an instance that is due already, before the sweep has been."""
        self.last_jump = self.next_moment()
        self.loop.clock.advance(seconds)
        self.runs.append(Run(self, key))
        self.go(steps)

    # The factory and the closers

    @rule(builds=st.booleans(), closings=st.booleans())
    def be_slow_from_now_on(self, builds: bool, closings: bool) -> None:
        self.slow_builds, self.slow_closings = builds, closings

    @precondition(lambda self: bool(self.builds))
    @rule(n=which, how=st.sampled_from(["well", "fails", "is cancelled"]), steps=pace)
    def end_a_build(self, n: int, how: str, steps: int | None) -> None:
        self.builds[n % len(self.builds)].finish(how)
        self.go(steps)

    @precondition(lambda self: bool(self.closings))
    @rule(n=which, how=st.sampled_from(["well", "well", "fails", "is cancelled"]), steps=pace)
    def end_a_closing(self, n: int, how: str, steps: int | None) -> None:
        self.closings[n % len(self.closings)].finish(how)
        self.go(steps)

    # Time, logout and shutdown

    # A shutdown that has waited closes instances under their users: that is another test's.
    @precondition(lambda self: self.drain is None or (self.settled and not self.holding))
    @rule(seconds=st.sampled_from([1.0, CLOSE, WAIT, IDLE_TTL, PIN_TTL, 1000.0]), steps=pace)
    def let_time_pass(self, seconds: float, steps: int | None) -> None:
        self.last_jump = self.next_moment()
        self.loop.clock.advance(seconds)
        self.go(steps)

    @rule(key=keys, all_threads=st.booleans(), steps=pace)
    def invalidate(self, key: Key, all_threads: bool, steps: int | None) -> None:
        def chosen(other: Key) -> bool:
            return key == other or (all_threads and key[0] == other[0])

        self.do(lambda: self.retire(self.pool.invalidate(chosen), chosen), steps)

    @rule(steps=pace)
    def sweep(self, steps: int | None) -> None:
        self.do(keeper_of(self.pool).sweep, steps)

    @precondition(lambda self: self.drain is None)
    @rule(steps=pace)
    def shut_down(self, steps: int | None) -> None:
        self.drain = self.loop.create_task(self.drained(final=False))
        self.go(steps)


class DebugPoolMachine(PoolMachine):
    """The same in asyncio's debug mode."""

    debug = True
