"""Who leaves a pool when room or time runs out.

Only idle instances leave: one that is leased, awaited or pinned by a pending request
stays (promise P4). Everything here is arithmetic over slots; nothing is closed here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol, TypeVar

from scoped_registration.runtime.options import Bounds

__all__ = ["Candidate", "Room", "expiry", "least_recently_used"]


class Candidate(Protocol):
    """The part of a slot that decides whether it may leave."""

    @property
    def idle(self) -> bool:
        """Whether it holds an instance that nobody uses."""
        ...

    @property
    def share(self) -> str:
        """The scope that it counts for."""
        ...

    @property
    def built_at(self) -> float:
        """When its instance was built."""
        ...

    @property
    def idle_since(self) -> float:
        """When its last lease ended."""
        ...

    @property
    def pinned_since(self) -> float | None:
        """Since when a human's answer is pending, if one is."""
        ...


CandidateT = TypeVar("CandidateT", bound=Candidate)


class Room:
    """How much of the bounds is used, in all and by each scope."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._shares: dict[str, int] = {}
        self.live: int = 0

    @property
    def scopes(self) -> int:
        """How many scopes have a live instance."""
        return len(self._shares)

    def enter(self, share: str) -> None:
        """Count one more instance of a scope."""
        self.live += 1
        self._shares[share] = self._shares.get(share, 0) + 1

    def leave(self, share: str) -> None:
        """Count one instance of a scope less."""
        self.live -= 1
        self._shares[share] -= 1
        if not self._shares[share]:
            del self._shares[share]

    def share_is_full(self, share: str) -> bool:
        """Whether a scope has as many instances as one scope may have."""
        return _reached(self._shares.get(share, 0), self._bounds.max_per_scope)

    def for_one_more(self, share: str) -> bool:
        """Whether a scope may have one more instance now."""
        return not _reached(self.live, self._bounds.max_instances) and not self.share_is_full(share)

    def seekers_exceed(self, seekers: int) -> bool:
        """Whether more keys wait for room than the whole room could hold."""
        return self._bounds.max_instances is not None and seekers > self._bounds.max_instances


def _reached(count: int, limit: int | None) -> bool:
    return limit is not None and count >= limit


def expiry(slot: Candidate, bounds: Bounds) -> float:
    """Return the moment at which an idle instance is to be closed.

    A pinned one outlives `idle_ttl` and `max_age`, and leaves at `pin_ttl`.
    """
    if slot.pinned_since is not None:
        return slot.pinned_since + bounds.pin_ttl
    by_idleness = math.inf if bounds.idle_ttl is None else slot.idle_since + bounds.idle_ttl
    by_age = math.inf if bounds.max_age is None else slot.built_at + bounds.max_age
    return min(by_idleness, by_age)


def least_recently_used(slots: Iterable[CandidateT], *, share: str | None) -> CandidateT | None:
    """Return the idle, unpinned slot that was released longest ago.

    Args:
        slots: All slots, in the order of their last use.
        share: Look only among the slots of this scope; None means all.
    """
    for slot in slots:
        if slot.idle and slot.pinned_since is None and share in (None, slot.share):
            return slot
    return None
