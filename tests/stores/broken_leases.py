"""Stores with one fault each, for the suite to find: who holds a key, and for how long."""

from __future__ import annotations

import anyio.lowlevel
import attrs
from typing_extensions import override

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import StoreLease


class HeldByEverybody(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        held = self._entries.get(key)
        if held is not None:
            self._entries[key] = attrs.evolve(held, owner=None)
        return await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)


class LooksAndThenTakes(HeldByEverybody):
    """It waits between looking and taking, as two statements without a transaction do."""

    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        held = self._entries.get(key)
        await anyio.lowlevel.checkpoint()
        if held is not None and held.owner not in (None, owner):
            return None
        return await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)


class OneLeaseForAllKeys(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        if any(entry.owner is not None for name, entry in self._entries.items() if name != key):
            return None
        return await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)


class RefusesItsOwnHolder(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        held = self._entries.get(key)
        if held is not None and held.owner == owner:
            return None
        return await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)


class BeginsAtOne(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        lease = await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)
        return lease and attrs.evolve(lease, version=lease.version or 1)


class ComparesVersionsByOrder(MemoryStore):
    """A caller that has a later version, of a document that was deleted, is told it is current."""

    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        lease = await super().acquire(key, owner=owner, ttl=ttl)
        if lease is not None and if_version is not None and if_version >= lease.version:
            return attrs.evolve(lease, document=None)
        return lease


class NeverExpires(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        return await super().acquire(key, owner=owner, ttl=1e9, if_version=if_version)


class CountsMilliseconds(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        return await super().acquire(key, owner=owner, ttl=ttl / 1000, if_version=if_version)


class LastsUntilSomebodyComes(MemoryStore):
    """A holder whose time is up goes on until another one takes the lease."""

    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        held = self._entries.get(lease.key)
        if held is not None and held.owner == lease.owner:
            self._entries[lease.key] = attrs.evolve(held, expires=self._clock() + 1)
        return await super().commit(lease, document, release=release)


class RenewsNothing(MemoryStore):
    @override
    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        return self._holds_now(lease)

    def _holds_now(self, lease: StoreLease) -> bool:
        held = self._entries.get(lease.key)
        return held is not None and self._holds(lease, held)


class AddsTimeWhenItRenews(RenewsNothing):
    @override
    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        held = self._entries.get(lease.key)
        if held is None or not self._holds_now(lease):
            return False
        self._entries[lease.key] = attrs.evolve(held, expires=held.expires + ttl)
        return True


class RenewsForAnybody(MemoryStore):
    @override
    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        held = self._entries.get(lease.key)
        return held is not None and self._is_leased(held)


class ReleasesForAnybody(MemoryStore):
    @override
    async def release(self, lease: StoreLease) -> None:
        held = self._entries.get(lease.key)
        if held is not None:
            self._entries[lease.key] = attrs.evolve(held, owner=None)


class ReleasesNothing(MemoryStore):
    @override
    async def release(self, lease: StoreLease) -> None:
        pass
