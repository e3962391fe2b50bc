"""Keys that wait for room in a pool, in the order of their arrival (promise P7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from scoped_registration.runtime.eviction import Room
from scoped_registration.runtime.slot import Slot, State
from scoped_registration.scope import Share

__all__ = ["Seekers"]

T = TypeVar("T")


class Seekers(Generic[T]):
    """The queue for room. An idle instance leaves for each key that finds none.

    Args:
        room: How much of the bounds is used.
        evict: Begins to close an idle instance, of one scope or of any, and may end that at
            once. Returns its slot; None if nobody is idle.
        build: Begins to build; it takes the room.
    """

    def __init__(
        self,
        room: Room,
        *,
        evict: Callable[[Share | None], Slot[T] | None],
        build: Callable[[Slot[T]], None],
    ) -> None:
        self._room = room
        self._evict = evict
        self._build = build
        self.waiting: dict[Slot[T], None] = {}
        self._serving = False

    def __len__(self) -> int:
        return len(self.waiting)

    def add(self, slot: Slot[T]) -> None:
        """Put a key at the end, unless it waits already."""
        self.waiting.setdefault(slot)

    def discard(self, slot: Slot[T]) -> None:
        """Take a key out: nobody wants it any more."""
        self.waiting.pop(slot, None)

    def crowd(self, slot: Slot[T], max_waiting: int) -> bool:
        """Whether too many keys wait, of this key's scope or in all.

        Keys that wait for their own scope's share do not count against other scopes, nor
        do keys for which room is being made.
        """
        of_scope = sum(1 for other in self.waiting if other.share == slot.share)
        if of_scope > max(1, max_waiting):
            return True
        if self._room.share_is_full(slot.share):
            return False
        for_any = sum(
            1
            for other in self.waiting
            if other.victim is None and not self._room.share_is_full(other.share)
        )
        return self._room.seekers_exceed(for_any)

    def seek(self, slot: Slot[T]) -> None:
        """Begin the build of a key, or put it at the end of the queue.

        Its arrival makes no room, so whoever waits already is not looked at again.
        """
        self.add(slot)
        self._serve([slot])

    def serve(self) -> None:
        """Begin builds while there is room or somebody idle who can make it."""
        self._serve(list(self.waiting))

    def _serve(self, seeking: list[Slot[T]]) -> None:
        if self._serving:  # an eviction that ends at once comes back here
            return
        self._serving = True
        try:
            full_shares: set[Share] = set()  # of which nobody is idle
            for slot in seeking:
                slot.trim()
                if not slot.waiters or slot.share in full_shares:
                    continue
                if self._find_room(slot):
                    del self.waiting[slot]
                    self._build(slot)
                elif slot.victim is None:
                    if not self._room.share_is_full(slot.share):
                        break  # the pool is full, and nobody at all is idle
                    full_shares.add(slot.share)
        finally:
            self._serving = False

    def _find_room(self, slot: Slot[T]) -> bool:
        if self._room.for_one_more(slot.share):
            return True
        if slot.victim is not None and slot.victim.state is State.CLOSING:
            return False  # the room is being made
        share = slot.share if self._room.share_is_full(slot.share) else None
        slot.victim = self._evict(share)
        return slot.victim is not None and self._room.for_one_more(slot.share)
