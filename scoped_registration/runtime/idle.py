"""Instances that nobody uses, and how one changes hands: who takes it out of here has it.

A dict gives an entry to one caller only, whichever threads ask, so a warm lease needs no
mutex. One rule makes that enough: an instance is leased, granted or closed only by who took
it out, and who is done with it puts it back.

Whoever wants something of an instance (a caller who queues, an invalidation, a shutdown) says
so *before* trying to take it out, and under the keeper's mutex. Who puts it back looks *after*
that whether somebody said so, and who takes it out looks too. So one of the two sees the
other: nobody is forgotten, and no newcomer overtakes a queue.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, TypeVar

from scoped_registration.runtime.options import Bounds
from scoped_registration.runtime.seeking import Seekers
from scoped_registration.runtime.slot import Slot, State
from scoped_registration.runtime.sweeper import Sweeper
from scoped_registration.scope import Share

__all__ = ["Idle"]

T = TypeVar("T")


class Idle(Generic[T]):
    """The idle instances of a pool, by their release, the oldest first.

    Args:
        bounds: How long an instance lives.
        seekers: Keys that wait for room.
        sweeper: The timer that closes what is due.
        clock: Monotonic seconds.
        settle: Does, under the mutex, what somebody wants of a slot that was put back.
    """

    def __init__(
        self,
        bounds: Bounds,
        seekers: Seekers[T],
        sweeper: Sweeper,
        clock: Callable[[], float],
        *,
        settle: Callable[[Slot[T]], None],
    ) -> None:
        self._idle_ttl = math.inf if bounds.idle_ttl is None else bounds.idle_ttl
        self._pin_ttl = bounds.pin_ttl
        self._seekers = seekers
        self._sweeper = sweeper
        self._clock = clock
        self.settle = settle
        self.slots: dict[Slot[T], Slot[T]] = {}

    def take(self, slot: Slot[T], scope: object) -> bool:
        """Lease an instance at once; False if there is anything to wait for."""
        if self.slots.pop(slot, None) is None:
            return False
        if (
            slot.waiters
            or slot.retired
            or self._clock() >= slot.due
            or (slot.owner is not None and slot.orphaned)
        ):
            self.slots[slot] = slot
            self.settle(slot)
            return False
        slot.reused += 1
        slot.current.scope = scope
        return True

    def lacks(self, slot: Slot[T]) -> bool:
        """Whether somebody uses the instance of a slot."""
        return slot.state is State.READY and slot not in self.slots

    def stale(self, slot: Slot[T]) -> bool:
        """Whether an instance that nobody uses must not be leased any more."""
        return slot.retired or slot.orphaned or self._clock() >= slot.due

    def remove_oldest(self, share: Share | None) -> Slot[T] | None:
        """Take out the instance that was used least recently, of one scope or of any.

        One that is pinned by a pending request stays (promise P4).
        """
        for slot in list(self.slots):  # others may take and put meanwhile
            if slot.pinned_since is None and share in (None, slot.share) and self.remove(slot):
                return slot
        return None

    def remove(self, slot: Slot[T]) -> bool:
        """Take an instance out to do something else with it; False if somebody uses it."""
        return self.slots.pop(slot, None) is not None

    def put(self, slot: Slot[T]) -> None:
        """Put an instance back after use: its idle time begins."""
        slot.current.scope = None
        now = self._clock()
        if slot.pinned_since is None:
            due = now + self._idle_ttl
            if due > slot.ages_at:  # noqa: PLR1730  # `min` takes ten times as long
                due = slot.ages_at
        else:  # it outlives both, and leaves at `pin_ttl`
            due = slot.pinned_since + self._pin_ttl
        slot.due = due
        self.slots[slot] = slot
        sweeper = self._sweeper
        loop = sweeper.loop
        if (
            slot.waiters
            or slot.retired
            or (slot.owner is not None and slot.orphaned)
            or self._seekers.waiting
            or due <= now
            or due < sweeper.due
            or loop is None
            or not loop.is_running()
        ):
            self.settle(slot)
