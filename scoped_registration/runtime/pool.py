"""The pool: one slot per key, one build per slot, one run at a time, and a bound.

Whoever wants a key waits in its slot's queue, so no lock or future outlives the slot.
All changes are synchronous sections under one mutex: a mutex, because event loops in
different threads may share a registration.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.eviction import Bounds, Room, expiry, least_recently_used
from scoped_registration.runtime.lease import Lease
from scoped_registration.runtime.life import Life, LoopEnded
from scoped_registration.runtime.refusals import BUSY, build_refusal, refusal
from scoped_registration.runtime.report import log, report_failure
from scoped_registration.runtime.single_flight import ATOMS
from scoped_registration.runtime.slot import (
    Key,
    Owner,
    Policy,
    Slot,
    State,
    Waiter,
    running_loop,
)
from scoped_registration.runtime.statistics import Counters, PoolStatistics
from scoped_registration.scope import ScopeContext, set_current

__all__ = ["Pool"]

T = TypeVar("T")


class Pool(Generic[T]):
    """Instances of one registration, built on demand and leased one run at a time.

    Args:
        name: The registration's name, for errors and logs.
        life: How an instance is built and closed.
        bounds: How many live, and for how long.
        policy: What a busy key answers; None lets runs of one key overlap.
        clock: Monotonic seconds; tests inject one.
    """

    def __init__(
        self,
        name: str,
        life: Life[T],
        *,
        bounds: Bounds,
        policy: Policy | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.exclusive = policy is not None
        self._life = life
        self._bounds = bounds
        self._policy = policy or Policy()
        self._clock = clock
        self._mutex = threading.RLock()
        self._slots: OrderedDict[Key, Slot[T]] = OrderedDict()  # by last use, oldest first
        self._seeking: dict[Slot[T], None] = {}  # in the order of their arrival
        self._room = Room(bounds)
        self._refusing: ReasonCode | None = None
        self._emptied: list[Waiter] = []
        self._failures: list[Exception] = []
        self._sweep: asyncio.TimerHandle | None = None
        self._sweep_at = math.inf
        self._sweep_loop: asyncio.AbstractEventLoop | None = None
        self.loop: asyncio.AbstractEventLoop | None = None  # the last one seen
        self._counters = Counters()

    # Leasing

    def lease(self, key: Key, scope: object) -> Lease[T]:
        """Return the right to use the instance of a key; nothing happens until it is entered."""
        return Lease(self, key, scope)

    def take(self, key: Key) -> Slot[T] | None:
        """Take a warm, free instance at once; None if there is anything to wait for."""
        with self._mutex:
            slot = self._slots.get(key)
            if (
                slot is None
                or slot.state is not State.READY
                or self._refusing is not None
                or (slot.leases and self.exclusive)
                or slot.waiters
                or self._stale(slot)
            ):
                return None
            slot.leases += 1
            self._counters.reused += 1
            return slot

    async def wait(self, key: Key, scope: object) -> Slot[T]:
        """Take the instance of a key, after its build, its queue and the pool's bound.

        Raises:
            RegistrationError: ``thread_busy``, ``queue_full``, ``pool_full``,
                ``wait_timeout``, ``draining``, ``registration_closed`` or what the
                build was refused with (``factory_failed``, ...).
        """
        waiter = Waiter(scope)
        with self._mutex:
            self.loop = waiter.loop
            slot = self._slot_to_wait_in(key)
            slot.enqueue(waiter)
            self._advance(slot)
            if slot.state is State.SEEKING and self._crowded(slot):
                self._give_up(slot, waiter)
                raise self._refusal(ReasonCode.POOL_FULL)
        try:
            await waiter.wait(self._policy.wait_timeout)
        except BaseException as error:
            with self._mutex:
                seeking = slot.state is State.SEEKING
                self._give_up(slot, waiter)
                if isinstance(error, TimeoutError):
                    raise self._refusal(
                        ReasonCode.POOL_FULL if seeking else ReasonCode.WAIT_TIMEOUT
                    ) from None
            raise
        return slot

    def release(self, slot: Slot[T]) -> None:
        """Give one lease back."""
        with self._mutex:
            slot.leases -= 1
            if slot.leases:
                return
            if slot.state is State.READY:
                slot.idle_since = self._clock()
                self._slots.move_to_end(slot.key)
                self._advance(slot)
                if slot.idle:
                    self._rest(slot)
                if self._seeking:
                    self._serve_seekers()

    def pin(self, slot: Slot[T], pending: bool) -> None:
        """Keep an instance for a human's answer, until `pin_ttl`, or let it go again."""
        with self._mutex:
            slot.pinned_since = self._clock() if pending else None

    # Ending

    def invalidate(self, chosen: Callable[[Key], bool]) -> int:
        """Retire instances: no new lease of them, closed when idle. Returns how many."""
        with self._mutex:
            found = [
                slot
                for slot in self._slots.values()
                if chosen(slot.key) and slot.state in (State.BUILDING, State.READY)
            ]
            for slot in found:
                slot.retired = True
                slot.pinned_since = None
                self._advance(slot)
            return len(found)

    def sweep(self) -> None:
        """Close the idle instances whose time is up. The pool calls it by its own timer."""
        with self._mutex:
            self._unschedule_sweep()
            for slot in [slot for slot in self._slots.values() if slot.idle]:
                if self._stale(slot):
                    self._evict(slot)
            for slot in self._slots.values():
                if slot.idle:
                    self._schedule_sweep(slot)
            self._serve_seekers()

    async def drain(self, *, final: bool) -> None:
        """Refuse new leases, wait for the running ones up to `close_timeout`, close all.

        Args:
            final: Refuse for ever, or begin anew, empty, once everything is closed.

        Raises:
            ExceptionGroup: Closings that failed or took too long.
        """
        with self._mutex:
            self._refusing = (
                ReasonCode.REGISTRATION_CLOSED
                if final or self._refusing is ReasonCode.REGISTRATION_CLOSED
                else ReasonCode.DRAINING
            )
            for slot in list(self._slots.values()):
                self._turn_away(slot)
                slot.retired = True
                slot.pinned_since = None
                if slot.state is State.BUILDING and slot.owner is not None:
                    slot.owner.cancel()
                else:
                    self._advance(slot)
        if not await self._emptied_within(self._bounds.close_timeout):
            with self._mutex:  # leases that do not end: their instances are closed under them
                for slot in list(self._slots.values()):
                    if slot.state is State.READY:
                        self._begin_close(slot)
            await self._emptied_within(self._bounds.close_timeout * 2)
        with self._mutex:
            failures, self._failures = self._failures, []
            if self._refusing is ReasonCode.DRAINING:
                self._refusing = None
            self._unschedule_sweep()
        if failures:
            raise ExceptionGroup(f"closing instances of registration {self.name!r}", failures)

    def statistics(self) -> PoolStatistics:
        """Return the figures of this moment."""
        with self._mutex:
            slots = list(self._slots.values())
            return PoolStatistics(
                live=self._room.live,
                leased=sum(1 for slot in slots if slot.leases),
                building=sum(1 for slot in slots if slot.state is State.BUILDING),
                closing=sum(1 for slot in slots if slot.state is State.CLOSING),
                pinned=sum(1 for slot in slots if slot.pinned_since is not None),
                waiting=sum(len(slot.waiters) for slot in slots),
                seeking=len(self._seeking),
                scopes=self._room.scopes,
                **attrs.asdict(self._counters),
            )

    # What an instance's life reports

    def built(self, slot: Slot[T], target: T, owner: Owner | None) -> None:
        """Serve a new instance to whoever waits for it."""
        with self._mutex:
            slot.target = target
            slot.owner = owner
            slot.state = State.READY
            slot.built_at = slot.idle_since = self._clock()
            self._counters.built += 1
            self._advance(slot)
            if slot.leases:
                self._counters.reused -= 1  # the first lease of an instance reuses nothing
            elif slot.idle:
                self._rest(slot)

    def failed(self, slot: Slot[T], error: BaseException) -> None:
        """Give each caller who waits an error of its own, and keep nothing."""
        with self._mutex:
            self._counters.build_failures += 1
            waiters = slot.turn_away()
            if slot.owner is not None:
                slot.owner.end()
            self._vacate(slot)
            self._serve_seekers()
        if not (isinstance(error, asyncio.CancelledError) and not waiters):
            report_failure("an instance could not be built", self.name, error)
        for waiter in waiters:
            waiter.wake(build_refusal(self.name, error))

    def closed(self, slot: Slot[T], owner: Owner | None, error: BaseException | None) -> None:
        """Free the slot of an instance that has ended, wanted or not."""
        with self._mutex:
            if slot.owner is not owner:  # it was given up when its closing took too long
                return
            if owner is not None:
                owner.end()
            lost = isinstance(error, LoopEnded) or (
                slot.state is State.READY and isinstance(error, asyncio.CancelledError)
            )
            if lost:
                self._counters.dropped += 1
                log.warning("registration %r: an instance was lost with its event loop", self.name)
            elif isinstance(error, Exception):
                self._close_failed(error)
            if slot.state is State.READY and slot.leases:
                slot.retired = True  # it ended under its user; the slot is freed at release
                return
            self._counters.closed += 1
            self._vacate(slot)
            self._serve_seekers()

    def refuse_shared(self, slot: Slot[T], product: object) -> None:
        """Refuse a product that is another key's instance (promise P9)."""
        if isinstance(product, ATOMS):
            return
        with self._mutex:
            for other in self._slots.values():
                if other is not slot and getattr(other, "target", None) is product:
                    raise self._refusal(ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE)

    # The slots, under the mutex

    def _slot_to_wait_in(self, key: Key) -> Slot[T]:
        if self._refusing is not None:
            raise self._refusal(self._refusing)
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = Slot(key)
        elif self.exclusive and (slot.leases or slot.waiters):
            if self._policy.mode == "reject":
                raise self._refusal(ReasonCode.THREAD_BUSY)
            behind = len(slot.waiters) - (0 if slot.leases else 1)
            if behind >= self._policy.max_waiting:
                raise self._refusal(ReasonCode.QUEUE_FULL)
        return slot

    def _advance(self, slot: Slot[T]) -> None:
        """Do what the state of a slot permits now."""
        if slot.state is State.SEEKING:
            self._seeking.setdefault(slot)
            self._serve_seekers()
        elif slot.state is State.READY and not (slot.leases and self.exclusive):
            if not self._stale(slot):
                self._grant(slot)
            elif not slot.leases:
                self._begin_close(slot)

    def _grant(self, slot: Slot[T]) -> None:
        slot.trim()
        while slot.waiters and not (slot.leases and self.exclusive):
            waiter = slot.waiters.popleft()
            waiter.granted = True
            slot.leases += 1
            self._counters.reused += 1
            waiter.wake()
            slot.trim()

    def _give_up(self, slot: Slot[T], waiter: Waiter) -> None:
        """A caller was cancelled, timed out or refused: it must leave no trace."""
        if waiter.granted:
            self.release(slot)
            return
        slot.leave(waiter)
        if slot.state is State.SEEKING and not slot.waiters:
            self._forget(slot)

    def _stale(self, slot: Slot[T]) -> bool:
        if slot.retired or (slot.owner is not None and slot.owner.loop.is_closed()):
            return True
        return slot.leases == 0 and self._clock() >= expiry(slot, self._bounds)

    def _rest(self, slot: Slot[T]) -> None:
        if slot.context is not None:
            set_current(slot.context, None)
        self._schedule_sweep(slot)

    def _forget(self, slot: Slot[T]) -> None:
        self._seeking.pop(slot, None)
        if self._slots.get(slot.key) is slot:
            del self._slots[slot.key]
        if not self._slots:
            for waiter in self._emptied:
                waiter.wake()
            self._emptied.clear()

    # Room, under the mutex

    def _serve_seekers(self) -> None:
        for slot in list(self._seeking):
            if self._find_room(slot):
                del self._seeking[slot]
                self._begin_build(slot)

    def _find_room(self, slot: Slot[T]) -> bool:
        if self._room.for_one_more(slot.share):
            return True
        if slot.victim is not None and slot.victim.state is State.CLOSING:
            return False  # the room is being made
        share = slot.share if self._room.share_is_full(slot.share) else None
        slot.victim = least_recently_used(self._slots.values(), share=share)
        if slot.victim is None:
            return False
        self._evict(slot.victim)
        return self._room.for_one_more(slot.share)

    def _crowded(self, slot: Slot[T]) -> bool:
        """Whether too many keys wait for room already: in all, or of this scope."""
        of_scope = sum(1 for other in self._seeking if other.share == slot.share)
        return of_scope > self._policy.max_waiting or self._room.seekers_exceed(len(self._seeking))

    def _begin_build(self, slot: Slot[T]) -> None:
        slot.state = State.BUILDING
        slot.victim = None
        self._room.enter(slot.share)
        scope_text, thread_id = slot.key
        scope = slot.waiters[0].scope
        context: ScopeContext[Any] = ScopeContext(self.name, scope, thread_id, scope_text)
        set_current(context, scope)
        slot.context = context
        self._life.begin(slot, context, self)

    def _evict(self, slot: Slot[T]) -> None:
        self._counters.evicted += 1
        self._begin_close(slot)

    def _begin_close(self, slot: Slot[T]) -> None:
        slot.state = State.CLOSING
        self._life.end(slot, self)
        owner = slot.owner
        if slot.state is State.CLOSING and owner is not None:
            owner.set_deadline(self._bounds.close_timeout, lambda: self._overdue(slot, owner))

    def _overdue(self, slot: Slot[T], owner: Owner) -> None:
        with self._mutex:
            if slot.owner is not owner:
                return
            self._close_failed(TimeoutError("closing an instance overran close_timeout"))
            self._counters.closed += 1
            owner.end()
            self._vacate(slot)
            self._serve_seekers()
        owner.cancel()

    def _close_failed(self, error: Exception) -> None:
        self._counters.close_failures += 1
        report_failure("an instance did not close properly", self.name, error)
        if self._refusing is not None:
            self._failures.append(error)

    def _vacate(self, slot: Slot[T]) -> None:
        """Take the instance out of its slot; keep the slot for those who still wait."""
        self._room.leave(slot.share)
        slot.clear()
        if slot.waiters and self._refusing is None:
            self._seeking[slot] = None
        else:
            self._forget(slot)

    # Time

    def _schedule_sweep(self, slot: Slot[T]) -> None:
        due = expiry(slot, self._bounds)
        loop = running_loop()
        if loop is None or (due >= self._sweep_at and self._sweep_loop is loop):
            return
        self._unschedule_sweep()
        if due < math.inf:
            self._sweep_at, self._sweep_loop = due, loop
            self._sweep = loop.call_later(
                max(0.0, due - self._clock()), self.sweep, context=contextvars.Context()
            )

    def _unschedule_sweep(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        self._sweep, self._sweep_at, self._sweep_loop = None, math.inf, None

    async def _emptied_within(self, seconds: float) -> bool:
        waiter = Waiter(None)
        with self._mutex:
            if not self._slots:
                return True
            self._emptied.append(waiter)
        try:
            await waiter.wait(seconds)
        except TimeoutError:
            return False
        return True

    def _turn_away(self, slot: Slot[T]) -> None:
        for waiter in slot.waiters:
            waiter.wake(self._refusal(self._refusing or ReasonCode.DRAINING))
        slot.turn_away()
        if slot.state is State.SEEKING:
            self._forget(slot)

    def _refusal(self, code: ReasonCode) -> RegistrationError:
        if code in BUSY:
            self._counters.rejected += 1
        return refusal(code, self.name)
