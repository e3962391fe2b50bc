"""Whether a pool has room for one more instance, and whether a scope has.

Everything here is arithmetic. `idle` says who leaves when there is none.
"""

from __future__ import annotations

from scoped_registration.runtime.options import Bounds
from scoped_registration.scope import Share

__all__ = ["Room"]


class Room:
    """How much of the bounds is used, in all and by each scope."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._shares: dict[Share, int] = {}
        self.live: int = 0

    @property
    def scopes(self) -> int:
        """How many scopes have a live instance."""
        return len(self._shares)

    def enter(self, share: Share) -> None:
        """Count one more instance of a scope."""
        self.live += 1
        self._shares[share] = self._shares.get(share, 0) + 1

    def leave(self, share: Share) -> None:
        """Count one instance of a scope less."""
        self.live -= 1
        self._shares[share] -= 1
        if not self._shares[share]:
            del self._shares[share]

    def share_is_full(self, share: Share) -> bool:
        """Whether a scope has as many instances as one scope may have."""
        return _reached(self._shares.get(share, 0), self._bounds.max_per_scope)

    def for_one_more(self, share: Share) -> bool:
        """Whether a scope may have one more instance now."""
        return not _reached(self.live, self._bounds.max_instances) and not self.share_is_full(share)

    def seekers_exceed(self, seekers: int) -> bool:
        """Whether more keys wait for room than the whole room could hold."""
        return self._bounds.max_instances is not None and seekers > self._bounds.max_instances


def _reached(count: int, limit: int | None) -> bool:
    return limit is not None and count >= limit
