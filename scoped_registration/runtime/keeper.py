"""The instances of a pool: each method is one step of one, under a mutex.

It is a mutex, because event loops in different threads may share a registration.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.claims import announce, disclaim
from scoped_registration.runtime.eviction import Room, expiry
from scoped_registration.runtime.life import Life, LoopEndedError
from scoped_registration.runtime.options import Bounds
from scoped_registration.runtime.refusals import BUSY, build_refusal, refusal
from scoped_registration.runtime.report import log, report_failure
from scoped_registration.runtime.seeking import Seekers
from scoped_registration.runtime.slot import READY, Key, Slot, State, Waiter
from scoped_registration.runtime.statistics import Counters
from scoped_registration.runtime.sweeper import Sweeper
from scoped_registration.runtime.tasks import Owner

__all__ = ["Keeper"]

T = TypeVar("T")


class Keeper(Generic[T]):
    """Moves slots from one state to the next; the pool, which has the same options, says when."""

    def __init__(
        self,
        name: str,
        life: Life[T],
        *,
        bounds: Bounds,
        exclusive: bool,
        patience: float,
        clock: Callable[[], float],
    ) -> None:
        self._name = name
        self._life = life
        self.core: Callable[[object], object] = life.core
        self.given: object = life.given
        self._bounds = bounds
        self._exclusive = exclusive
        self._patience = patience
        self._clock = clock
        self.mutex: threading.RLock = threading.RLock()
        self.slots: OrderedDict[Key, Slot[T]] = OrderedDict()  # by last use, oldest first
        self.room: Room = Room(bounds)
        self.seekers: Seekers[T] = Seekers(
            self.room, self.slots.values, evict=self._evict, build=self._begin_build
        )
        self.sweeper: Sweeper = Sweeper(name, self.sweep, clock)
        self.counters: Counters = Counters()
        self.refusing: ReasonCode | None = None
        self.failures: list[Exception] = []  # of closings, while the pool drains
        self.emptied: list[Waiter] = []  # who waits for the last slot to go
        self.loop: asyncio.AbstractEventLoop | None = None  # the last one that a caller waited in
        announce(self)

    def refusal(self, code: ReasonCode) -> RegistrationError:
        """Return a refusal, and count it if it lies in the load."""
        self.counters.rejected += code in BUSY
        return refusal(code, self._name)

    # From state to state

    def advance(self, slot: Slot[T]) -> None:
        """Do what the state of a slot permits now."""
        if slot.state is State.SEEKING:
            self.seekers.seek(slot)
        elif slot.state is not State.READY:
            self._reap(slot)
        elif not (slot.leases and self._exclusive):
            if not self.stale(slot):
                self._grant(slot)
            elif not slot.leases:
                self._evict(slot)

    def stale(self, slot: Slot[T]) -> bool:
        """Whether an instance must not be leased any more."""
        if slot.retired or (slot.owner is not None and slot.orphaned):
            return True
        return slot.leases == 0 and self._clock() >= slot.due

    def release(self, slot: Slot[T]) -> None:
        """Take one lease back."""
        slot.leases -= 1
        if slot.leases or slot.state is not READY:
            return
        slot.show(None)
        self._rest(slot)
        if slot.waiters or slot.retired or slot.owner is not None or slot.due <= slot.idle_since:
            self.advance(slot)
        if self.seekers:
            self.seekers.serve()

    def leave(self, slot: Slot[T], waiter: Waiter) -> None:
        """Let a caller go who was cancelled, timed out or refused: no trace of it stays."""
        if waiter.granted:
            self.release(slot)
            return
        slot.leave(waiter)
        if slot.state is State.SEEKING and not slot.waiters:
            self.forget(slot)
        elif slot.state is State.BUILDING and (owner := slot.owner) and not owner.has_deadline:
            owner.set_deadline(self._patience, lambda: self._give_up(slot, owner))

    def close(self, slot: Slot[T]) -> None:
        """Begin to close an instance."""
        slot.state = State.CLOSING
        if not self._life.end(slot, self):
            slot.state = State.READY  # the next event loop that is seen closes it
            slot.retired = True
            return
        if slot.state is State.CLOSING and (owner := slot.owner):
            self._set_deadline(slot, owner)

    def cancel_build(self, slot: Slot[T]) -> None:
        """Cancel a running build. One that ignores it is given up."""
        if owner := slot.owner:
            owner.cancel()
            self._set_deadline(slot, owner)

    def forget(self, slot: Slot[T]) -> None:
        """Drop a slot without an instance."""
        self.seekers.discard(slot)
        if self.slots.get(slot.key) is slot:
            del self.slots[slot.key]
        if not self.slots:
            for waiter in self.emptied:
                waiter.wake()
            self.emptied.clear()

    def sweep(self) -> None:
        """Close the idle instances whose time is up, and drop those of ended loops."""
        with self.mutex:
            self.sweeper.cancel()
            due = math.inf
            for slot in list(self.slots.values()):
                if not slot.idle:
                    self._reap(slot)
                elif self.stale(slot):
                    self._evict(slot)
                else:
                    due = min(due, slot.due)
            self.sweeper.plan(due)
            self.seekers.serve()

    def _begin_build(self, slot: Slot[T]) -> None:
        context = slot.begin(self._name)
        self.room.enter(slot.share)
        self._life.begin(slot, context, self)

    def _grant(self, slot: Slot[T]) -> None:
        while slot.waiters and not (slot.leases and self._exclusive):
            waiter = slot.waiters.popleft()
            slot.trim()
            if waiter.grant():
                slot.leases += 1
                self.counters.reused += 1
                slot.show(waiter.scope)

    def _rest(self, slot: Slot[T]) -> None:
        """Let the time of an instance that nobody uses begin to run."""
        slot.idle_since = self._clock()
        slot.due = expiry(slot, self._bounds)
        self.slots.move_to_end(slot.key)
        self.sweeper.plan(slot.due)

    def _evict(self, slot: Slot[T]) -> None:
        if not (slot.retired or slot.orphaned):
            self.counters.evicted += 1
        self.close(slot)

    def _reap(self, slot: Slot[T]) -> None:
        """Drop what ended event loops have left: callers, a build, a closing."""
        slot.trim()
        if slot.state is State.SEEKING and not slot.waiters:
            self.forget(slot)
        elif slot.state in (State.BUILDING, State.CLOSING) and slot.orphaned:
            self.ended(slot, slot.owner, LoopEndedError())

    def _give_up(self, slot: Slot[T], owner: Owner, *, last: bool = False) -> None:
        """Cancel a build `patience` seconds after a caller left, as late again if others wait."""
        with self.mutex:
            if slot.waiters and not last:
                owner.set_deadline(self._patience, lambda: self._give_up(slot, owner, last=True))
            elif slot.owner is owner and slot.state is State.BUILDING:
                log.warning("registration %r: a build that takes too long ends", self._name)
                self.cancel_build(slot)

    def _set_deadline(self, slot: Slot[T], owner: Owner) -> None:
        def overdue() -> None:
            self.ended(slot, owner, TimeoutError("closing an instance overran close_timeout"))
            owner.cancel()

        owner.set_deadline(self._bounds.close_timeout, overdue)

    def _vacate(self, slot: Slot[T]) -> None:
        """Take the instance out of its slot; keep the slot for those who still wait."""
        self.room.leave(slot.share)
        disclaim(slot, self)
        slot.clear()
        if slot.waiters and self.refusing is None:
            self.seekers.add(slot)
        else:
            self.forget(slot)
        self.seekers.serve()

    # What an instance's life reports

    def built(self, slot: Slot[T], owner: Owner | None, target: T, *, stays_open: bool) -> bool:
        """Serve a new instance to whoever waits for it; False if it came too late."""
        with self.mutex:
            if slot.owner is not owner:
                return False
            if owner is not None:
                owner.disarm()
            slot.target = target
            slot.owner = owner if stays_open else None
            slot.state = State.READY
            slot.built_at = self._clock()
            self.counters.built += 1
            slot.show(None)
            if slot.retired:
                self.close(slot)
                return True
            self._grant(slot)
            if slot.leases:
                self.counters.reused -= 1  # the first lease of an instance reuses nothing
            else:
                self._rest(slot)
                self.seekers.serve()
            return True

    def ended(
        self,
        slot: Slot[T],
        owner: Owner | None,
        error: BaseException | None,
        *,
        refused: bool = False,
    ) -> None:
        """Free the slot of an instance that has ended or did not come to be."""
        with self.mutex:
            if slot.owner is not owner:  # it was given up when it took too long
                return
            if owner is not None:
                owner.end()
            if slot.state is State.BUILDING:
                self._build_failed(slot, owner, error or RuntimeError(), refused=refused)
                return
            if isinstance(error, LoopEndedError) or (
                slot.state is State.READY and isinstance(error, asyncio.CancelledError)
            ):
                self.counters.dropped += 1
                log.warning("registration %r: an instance was lost with its event loop", self._name)
            elif error is not None:
                self._close_failed(error)
            if slot.state is State.READY and slot.leases:
                slot.retired = True  # it ended under its user; the slot is freed at release
                return
            self.counters.closed += 1
            self._vacate(slot)

    def _build_failed(
        self, slot: Slot[T], owner: Owner | None, error: BaseException, *, refused: bool
    ) -> None:
        """Give each caller who waits an error of its own, and keep nothing.

        A build may be cancelled with its event loop: callers in others wait on, and one builds.
        """
        self.counters.build_failures += 1
        cancelled = isinstance(error, asyncio.CancelledError | LoopEndedError)
        # What was given up is built anew for whoever waits by now.
        given_up = owner is not None and owner.cancelled
        loop = owner.loop if cancelled and owner is not None else None
        turned_away = [] if given_up else slot.turn_away(loop)
        if turned_away or not cancelled:
            report_failure("an instance could not be built", self._name, error)
        self._vacate(slot)
        for waiter in turned_away:
            waiter.wake(build_refusal(self._name, error, refused=refused))

    def _close_failed(self, error: BaseException) -> None:
        self.counters.close_failures += 1
        report_failure("an instance did not close properly", self._name, error)
        if self.refusing is not None:
            if not isinstance(error, Exception):
                error = RuntimeError(f"closing an instance ended with {type(error).__qualname__}")
            self.failures.append(error)
