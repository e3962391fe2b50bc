"""Stores with one fault each, for the suite to find: what a commit writes, and for whom."""

from __future__ import annotations

import anyio.lowlevel
import attrs
from typing_extensions import override

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import StoreLease, lease_lost
from tests.stores.broken_leases import ReleasesForAnybody


class Unfenced(MemoryStore):
    """It compares versions, and not who writes."""

    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        held = self._entries.get(lease.key)
        if held is not None and held.version == lease.version:
            await super().release(attrs.evolve(lease, owner=held.owner or ""))
            await super().acquire(lease.key, owner=lease.owner, ttl=1e9)
        return await super().commit(lease, document, release=release)


class FencedByACounter(MemoryStore):
    """It numbers the holders of a key, and begins again when nobody holds it."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        lease = await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)
        if lease is not None:
            self._last[key] = self._numbers[owner] = self._last.get(key, 0) + 1
        return lease

    @override
    async def release(self, lease: StoreLease) -> None:
        await super().release(lease)
        self._last.pop(lease.key, None)

    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        held = self._entries.get(lease.key)
        if held is None or not self._is_leased(held):
            raise lease_lost()
        if self._numbers.get(lease.owner) == self._last.get(lease.key):
            self._entries[lease.key] = attrs.evolve(held, owner=lease.owner)
        return await super().commit(lease, document, release=release)


class NeedsTheLeaseToRepeat(MemoryStore):
    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        held = self._entries.get(lease.key)
        if held is None or not self._holds(lease, held):
            raise lease_lost()
        return await super().commit(lease, document, release=release)


class WritesAnyVersion(MemoryStore):
    """It replaces what is there, whatever the caller has seen of it."""

    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        held = self._entries.get(lease.key)
        if held is not None and self._holds(lease, held):
            lease = attrs.evolve(lease, version=held.version)
        return await super().commit(lease, document, release=release)


class CommitsInTwoSteps(MemoryStore):
    """It reads the version, waits, and writes."""

    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        held = self._entries.get(lease.key)
        await anyio.lowlevel.checkpoint()
        if held is None or not self._holds(lease, held) or held.version != lease.version:
            return await super().commit(lease, document, release=release)
        now = self._entries[lease.key]
        lease = attrs.evolve(lease, version=now.version)
        return await super().commit(lease, document, release=release)


class KeepsWhatItShouldRelease(MemoryStore):
    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        return await super().commit(lease, document, release=False)


class ReleasesAnyLeaseWhenItCommits(ReleasesForAnybody):
    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        version = await super().commit(lease, document, release=False)
        if release:
            await self.release(lease)
        return version


class AlwaysReleases(MemoryStore):
    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        return await super().commit(lease, document, release=True)


class RepeatsWithoutReleasing(MemoryStore):
    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        held = self._entries.get(lease.key)
        repeated = held is not None and held.version != lease.version
        return await super().commit(lease, document, release=release and not repeated)
