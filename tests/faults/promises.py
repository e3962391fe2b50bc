"""P2 to P4 and P6 to P8, as what must hold of the model after each step."""

from __future__ import annotations

from collections import Counter

from hypothesis.stateful import invariant, precondition

from scoped_registration.scope import Share
from tests.faults.model import SCOPES, THREADS, WAIT, WAITING, PoolModel
from tests.unit.runtime.support import keeper_of


class Promises(PoolModel):
    """What holds whatever was done."""

    @invariant()
    def a_step_is_counted(self) -> None:
        type(self).steps += 1

    @invariant()
    def nothing_that_a_guest_sees_is_broken(self) -> None:
        assert self.inn.broken == []
        assert self.unhandled == []

    @invariant()
    def one_instance_and_one_run_for_each_key(self) -> None:
        assert max(Counter(guest.key for guest in self.open).values(), default=0) <= 1
        assert max(Counter(run.key for run in self.holding).values(), default=0) <= 1

    @invariant()
    def bounds_hold(self) -> None:
        figures = self.pool.statistics()
        assert figures.live <= self.max_instances
        assert figures.scopes <= len(SCOPES)
        assert len(keeper_of(self.pool).slots) <= len(SCOPES) * len(THREADS)
        if self.settled:
            assert self.inn.present.total() <= self.max_instances
            assert max(self.inn.present.values(), default=0) <= self.max_per_scope

    @precondition(lambda self: self.settled)
    @invariant()
    def figures_are_those_of_the_model(self) -> None:
        figures = self.pool.statistics()
        here = self.open
        assert figures.live == self.inn.present.total()
        assert figures.scopes == sum(1 for count in self.inn.present.values() if count)
        assert figures.leased == len(self.holding)
        assert figures.building == len(self.builds)
        assert figures.closing == len(self.closings)
        assert figures.waiting == len(self.waiting)
        assert figures.built == len(self.inn.guests)
        assert figures.closed == len(self.inn.guests) - len(here) - len(self.closings)
        assert figures.build_failures >= self.failed_builds  # some are cancelled before they begin
        assert figures.close_failures == self.failed_closings
        # Who is cancelled in the very step in which it is refused does not hear of it.
        assert self.rejected <= figures.rejected <= self.rejected + self.cancelled
        assert figures.pinned >= sum(1 for guest in here if guest in self.pinned)
        assert figures.dropped == 0

    @precondition(lambda self: self.settled)
    @invariant()
    def nobody_waits_without_a_reason(self) -> None:
        busy = {run.key for run in self.holding} | {held.key for held in self.builds}
        busy |= {held.key for held in self.closings}
        for run in self.waiting:
            assert self.drain is None
            assert self.loop.time() < run.asked_at + WAIT
            if run.key not in busy:
                self.check_that_there_is_no_room(run.key[0])

    def check_that_there_is_no_room(self, scope: Share) -> None:
        share_is_full = self.inn.present[scope] >= self.max_per_scope
        assert share_is_full or self.inn.present.total() >= self.max_instances
        if not self.closings:  # which make room
            for guest in self.idle:
                assert guest in self.pinned or (share_is_full and guest.key[0] != scope)

    @precondition(lambda self: self.settled)
    @invariant()
    def no_shutdown_waits_without_a_reason(self) -> None:
        assert self.drain is None or self.holding or self.closings

    @precondition(lambda self: self.settled)
    @invariant()
    def who_is_due_has_left(self) -> None:
        now = self.loop.time()
        idle = set(self.idle)
        for number, guest in enumerate(self.inn.guests):
            if guest in idle:
                assert guest not in self.retired
                assert number not in self.born_retired
                assert now < self.expiry(guest)

    @precondition(lambda self: self.settled)
    @invariant()
    def no_build_goes_on_for_long_when_nobody_waits_for_it(self) -> None:
        now = self.loop.time()
        wanted = {run.key for run in self.waiting}
        for build in self.builds:
            if build.key in wanted:
                build.alone_since = None
            elif build.alone_since is None:
                build.alone_since = now
            assert build.alone_since is None or now < build.alone_since + WAIT

    @precondition(lambda self: self.settled)
    @invariant()
    def queues_are_bounded(self) -> None:
        held = {run.key for run in self.holding}
        for key, waiting in Counter(run.key for run in self.waiting).items():
            assert waiting <= WAITING + (key not in held)
