"""A pool's figures at one moment."""

from __future__ import annotations

import attrs

__all__ = ["PoolStatistics"]


@attrs.frozen(kw_only=True)
class PoolStatistics:
    """What a registration holds now, and what it has done since it was built.

    Attributes:
        live: Instances that exist, those being built or closed included.
        leased: Instances in use.
        building: Factories running.
        closing: Instances being closed.
        pinned: Instances kept for a pending human request.
        waiting: Callers waiting for a busy key, a build or room.
        seeking: Keys waiting for room in the pool.
        scopes: Scopes with at least one live instance.
        built: Builds that ended in an instance.
        build_failures: Builds that did not.
        reused: Leases of an instance that existed already.
        evicted: Instances closed to make room or because their time was up.
        closed: Instances that ended, for whatever reason; dropped ones included.
        close_failures: Closings that raised, were cancelled or overran `close_timeout`.
        dropped: Instances lost with the event loop that owned them.
        rejected: Callers refused: busy, full, too late or draining.
    """

    live: int
    leased: int
    building: int
    closing: int
    pinned: int
    waiting: int
    seeking: int
    scopes: int
    built: int
    build_failures: int
    reused: int
    evicted: int
    closed: int
    close_failures: int
    dropped: int
    rejected: int


@attrs.define
class Counters:
    """The running totals behind `PoolStatistics`."""

    built: int = 0
    build_failures: int = 0
    reused: int = 0
    evicted: int = 0
    closed: int = 0
    close_failures: int = 0
    dropped: int = 0
    rejected: int = 0
