"""The pool: one slot per key, one build per slot, one run at a time, and a bound.

This is the callers' side. Whoever wants a key waits in its slot's queue, so no lock or
future outlives the slot. The instances' side is `keeper`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import attrs

from scoped_registration.errors import ReasonCode
from scoped_registration.runtime.keeper import Keeper
from scoped_registration.runtime.lease import Lease
from scoped_registration.runtime.life import Life
from scoped_registration.runtime.options import Bounds, Policy
from scoped_registration.runtime.slot import Key, Slot, State, Waiter
from scoped_registration.runtime.statistics import PoolStatistics

__all__ = ["Pool"]

T = TypeVar("T")


class Pool(Generic[T]):
    """Instances of one registration, built on demand and leased one run at a time.

    Args:
        name: The registration's name, for errors and logs.
        life: How an instance is built and closed.
        bounds: How many live, and for how long.
        policy: What a busy key answers; None lets runs of one key overlap.
        before_closing: Called when leases did not end in time, before their instances are closed.
        clock: Monotonic seconds; tests inject one.
    """

    def __init__(
        self,
        name: str,
        life: Life[T],
        *,
        bounds: Bounds,
        policy: Policy | None,
        before_closing: Iterable[Callable[[], None]] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.exclusive: bool = policy is not None
        self._policy = policy or Policy()
        self._bounds = bounds
        self._clock = clock
        self._life = life
        self._keeper = Keeper(
            name,
            life,
            bounds=bounds,
            exclusive=self.exclusive,
            patience=self._policy.wait_timeout,
            clock=clock,
        )
        self._mutex = self._keeper.mutex
        self.slots: dict[Key, Slot[T]] = self._keeper.slots
        self.take: Callable[[Slot[T], object], bool] = self._keeper.idle.take
        self.release: Callable[[Slot[T]], None] = (
            self._keeper.idle.put if self.exclusive else self._release_one
        )
        self._drains = 0
        self._before_closing = before_closing

    # Leasing

    def lease(self, key: Key, scope: object) -> Lease[T]:
        """Return the right to use the instance of a key; nothing happens until it is entered."""
        return Lease(self, key, scope, self.slots.get(key) if self.exclusive else None)

    async def wait(self, key: Key, scope: object) -> Slot[T]:
        """Take the instance of a key, after its build, its queue and the pool's bound.

        Raises:
            RegistrationError: ``thread_busy``, ``queue_full``, ``pool_full``,
                ``wait_timeout``, ``draining``, ``registration_closed`` or what the
                build was refused with (``factory_failed``, ...).
        """
        keeper = self._keeper
        waiter = Waiter(scope)
        with self._mutex:
            last, keeper.loop = keeper.loop, waiter.loop
            if last is not None and last.is_closed():
                keeper.sweep()
            slot = self._slot_to_wait_in(key)
            slot.enqueue(waiter)
            keeper.advance(slot)
            if waiter.granted:
                return waiter.slot
            slot = waiter.slot
            if slot.state is State.SEEKING and keeper.seekers.crowd(slot, self._policy.max_waiting):
                keeper.leave(waiter)
                raise keeper.refusal(ReasonCode.POOL_FULL)
        try:
            await waiter.wait(self._policy.wait_timeout)
        except TimeoutError:
            with self._mutex:
                if waiter.error is not None:  # turned away in the very moment
                    raise waiter.error from None
                if not waiter.granted:
                    full = waiter.slot.state is State.SEEKING
                    keeper.leave(waiter)
                    code = ReasonCode.POOL_FULL if full else ReasonCode.WAIT_TIMEOUT
                    raise keeper.refusal(code) from None
        except BaseException:
            with self._mutex:
                if waiter.granted:
                    self.release(waiter.slot)
                else:
                    keeper.leave(waiter)
            raise
        return waiter.slot

    def _release_one(self, slot: Slot[T]) -> None:
        """Give back one of the leases that may overlap."""
        with self._mutex:
            slot.overlapping -= 1
            if not slot.overlapping:
                self._keeper.idle.put(slot)

    def retire(self, slot: Slot[T]) -> None:
        """Give no more leases of an instance; it is closed when it is idle."""
        with self._mutex:
            self._retire(slot)

    def pin(self, slot: Slot[T], pending: bool) -> None:
        """Keep an instance for a human's answer, until `pin_ttl`, or let it go again."""
        with self._mutex:
            slot.pinned_since = self._clock() if pending else None

    def _slot_to_wait_in(self, key: Key) -> Slot[T]:
        keeper = self._keeper
        if keeper.refusing is not None:
            raise keeper.refusal(keeper.refusing)
        slot = self.slots.get(key)
        if slot is None:
            slot = self.slots[key] = Slot(key)
        elif self.exclusive and (slot.waiters or keeper.idle.lacks(slot)):
            if self._policy.mode == "reject":
                raise keeper.refusal(ReasonCode.THREAD_BUSY)
            behind = len(slot.waiters) - (0 if keeper.idle.lacks(slot) else 1)
            if behind >= self._policy.max_waiting:
                raise keeper.refusal(ReasonCode.QUEUE_FULL)
        return slot

    # Ending

    def invalidate(self, chosen: Callable[[Key], bool]) -> int:
        """Retire instances: no new lease of them, closed when idle. Returns how many."""
        with self._mutex:
            found = [
                slot
                for slot in self.slots.values()
                if chosen(slot.key) and slot.state in (State.BUILDING, State.READY)
            ]
            for slot in found:
                self._retire(slot)
            return len(found)

    async def drain(self, *, final: bool) -> None:
        """Refuse new leases, wait for the running ones up to `close_timeout`, close all.

        Args:
            final: Refuse for ever, or begin anew, empty, once everything is closed.

        Raises:
            ExceptionGroup: Closings that failed or took too long.
        """
        keeper = self._keeper
        with self._mutex:
            self._drains += 1
            if final:
                keeper.refusing = ReasonCode.REGISTRATION_CLOSED
            refusing = keeper.refusing = keeper.refusing or ReasonCode.DRAINING
            for slot in list(self.slots.values()):
                for waiter in slot.turn_away():
                    waiter.wake(keeper.refusal(refusing))
                if slot.state is State.SEEKING:
                    keeper.forget(slot)
            for slot in list(self.slots.values()):
                self._retire(slot)
                if slot.state is State.BUILDING:
                    keeper.cancel_build(slot)
        try:
            if not await self._emptied(self._bounds.close_timeout):
                await self._close_leased()
                await self._emptied(self._bounds.close_timeout * 2)
        finally:
            with self._mutex:
                self._drains -= 1
                if not self._drains and keeper.refusing is ReasonCode.DRAINING:
                    keeper.refusing = None
                keeper.sweeper.cancel()
                self._life.reset()
                failures, keeper.failures = keeper.failures, []
        if failures:
            raise ExceptionGroup(f"closing instances of registration {self.name!r}", failures)

    async def _close_leased(self) -> None:
        """Close the instances whose leases do not end, under their users."""
        for callback in self._before_closing:
            callback()
        if self._before_closing:  # what they have ended gives its leases back
            await self._emptied(self._bounds.close_timeout)
        with self._mutex:
            for slot in list(self.slots.values()):
                if slot.state is State.READY:
                    self._keeper.close(slot)

    def _retire(self, slot: Slot[T]) -> None:
        slot.retired = True
        slot.pinned_since = None
        self._keeper.advance(slot)

    async def _emptied(self, seconds: float) -> bool:
        """Wait until no slot is left."""
        waiter = Waiter(None)
        with self._mutex:
            if not self.slots:
                return True
            self._keeper.emptied.append(waiter)
        try:
            await waiter.wait(seconds)
        except TimeoutError:
            return False
        finally:
            with self._mutex:
                if waiter in self._keeper.emptied:
                    self._keeper.emptied.remove(waiter)
        return True

    def statistics(self) -> PoolStatistics:
        """Return the figures of this moment."""
        with self._mutex:
            slots = list(self.slots.values())
            totals = attrs.asdict(self._keeper.counters)
            totals["reused"] += sum(slot.reused for slot in slots)
            return PoolStatistics(
                live=self._keeper.room.live,
                leased=sum(1 for slot in slots if self._keeper.idle.lacks(slot)),
                building=sum(1 for slot in slots if slot.state is State.BUILDING),
                closing=sum(1 for slot in slots if slot.state is State.CLOSING),
                pinned=sum(1 for slot in slots if slot.pinned_since is not None),
                waiting=sum(len(slot.waiters) for slot in slots),
                seeking=len(self._keeper.seekers),
                scopes=self._keeper.room.scopes,
                **totals,
            )
