"""The instances of a pool: each method is one step of one, under a mutex.

It is a mutex, because event loops in different threads may share a registration.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.claims import announce, disclaim
from scoped_registration.runtime.eviction import Room
from scoped_registration.runtime.idle import Idle
from scoped_registration.runtime.life import Life, LoopEndedError
from scoped_registration.runtime.options import Bounds
from scoped_registration.runtime.refusals import BUSY, build_refusal, refusal
from scoped_registration.runtime.report import log, report_failure
from scoped_registration.runtime.seeking import Seekers
from scoped_registration.runtime.slot import Key, Slot, State, Waiter
from scoped_registration.runtime.statistics import Counters
from scoped_registration.runtime.sweeper import Sweeper
from scoped_registration.runtime.tasks import Owner
from scoped_registration.scope import Share

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
        self.slots: dict[Key, Slot[T]] = {}
        self.room: Room = Room(bounds)
        self.seekers: Seekers[T] = Seekers(self.room, evict=self._evict_one, build=self._begin)
        self.sweeper: Sweeper = Sweeper(name, self.sweep, clock)
        self.idle: Idle[T] = Idle(bounds, self.seekers, self.sweeper, clock, settle=self._settle)
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
        free = self.idle.remove(slot)
        if slot.state is State.SEEKING:
            self.seekers.seek(slot)
        elif slot.state is not State.READY:
            self._reap(slot)
        elif free:
            if self.idle.stale(slot):
                self._evict(slot)
            elif not self._grant(slot):
                self.idle.slots[slot] = slot
        elif not (self._exclusive or slot.retired or slot.orphaned):
            self._grant(slot)

    def leave(self, waiter: Waiter) -> None:
        """Let a caller go who was cancelled, timed out or refused: no trace of it stays."""
        slot = waiter.slot
        slot.leave(waiter)
        if slot.state is State.SEEKING and not slot.waiters:
            self.forget(slot)
        elif slot.state is State.BUILDING and (owner := slot.owner) and not owner.has_deadline:
            owner.set_deadline(self._patience, lambda: self._give_up(slot, owner))

    def close(self, slot: Slot[T]) -> bool:
        """Begin to close an instance; False if the next event loop that is seen must do it."""
        slot.state = State.CLOSING
        if not self._life.end(slot, self):
            slot.state = State.READY
            slot.retired = True
            return False
        if slot.state is State.CLOSING and (owner := slot.owner):
            self._set_deadline(slot, owner)
        return True

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
                if slot not in self.idle.slots:
                    self._reap(slot)
                elif self.idle.stale(slot):
                    self.advance(slot)
                else:
                    due = min(due, slot.due)
            self.sweeper.plan(due)
            self.seekers.serve()

    def _begin(self, slot: Slot[T]) -> None:
        context = slot.begin(self._name)
        self.room.enter(slot.share)
        self._life.begin(slot, context, self)

    def _settle(self, slot: Slot[T]) -> None:
        """Do what somebody wants of an instance that was put back."""
        with self.mutex:
            self.advance(slot)
            if slot in self.idle.slots:
                self.sweeper.plan(slot.due)
            self.seekers.serve()

    def _grant(self, slot: Slot[T]) -> bool:
        """Lease an instance that was taken out, or is shared, to the first who waits."""
        granted = False
        while slot.waiters and not (granted and self._exclusive):
            waiter = slot.waiters.popleft()
            slot.trim()
            before, slot.current.scope = slot.current.scope, waiter.scope
            slot.reused += 1  # before it is granted, which lets another thread go on at once
            if waiter.grant():
                granted = True
                slot.overlapping += not self._exclusive
            else:
                slot.reused -= 1
                slot.current.scope = before
        return granted

    def _evict_one(self, share: Share | None) -> Slot[T] | None:
        """Evict the instance that was used least recently, of one scope or of any."""
        if (slot := self.idle.remove_oldest(share)) is not None:
            self._evict(slot)
        return slot

    def _evict(self, slot: Slot[T]) -> None:
        """Close an instance that was taken out."""
        if not (slot.retired or slot.orphaned):
            self.counters.evicted += 1
        if not self.close(slot):
            self.idle.slots[slot] = slot

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
        """End a slot; those who still wait do so in a new one."""
        self.room.leave(slot.share)
        self.counters.reused += slot.reused
        disclaim(slot, self)
        heir = slot.end()
        if heir.waiters and self.refusing is None:
            self.slots[slot.key] = heir
            self.seekers.add(heir)
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
            if self._bounds.max_age is not None:
                slot.ages_at = self._clock() + self._bounds.max_age
            self.counters.built += 1
            slot.current.scope = None
            if slot.retired:
                self._evict(slot)
                return True
            slot.reused = -1  # the first lease of an instance reuses nothing
            if not self._grant(slot):
                slot.reused = 0
                self.idle.put(slot)
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
            if slot.state is State.READY and not self.idle.remove(slot):
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
