"""The store that needs no engine: documents in this process, lost when it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import attrs
from typing_extensions import override

from scoped_registration.stores.protocol import Stored, StoreLease, lease_lost, store_busy

__all__ = ["MemoryStore"]


@attrs.frozen(kw_only=True)
class _Entry:
    """What is kept of a key. It is replaced as a whole, so a fork never sees half of a step."""

    version: int = 0
    document: bytes | None = None  # None: nothing was committed, or it was deleted
    writer: str | None = None
    owner: str | None = None
    expires: float = 0.0


_NOTHING = _Entry()


class MemoryStore:
    """Keeps documents in this process, for as long as the object lives.

    Each instance is a store of its own. It may be used from several threads, each with an
    event loop of its own.

    Args:
        clock: Seconds that only grow; leases are timed by it.

    Example:
        ```python
        store = MemoryStore()
        lease = await store.acquire(context.storage_key, owner=uuid4().hex, ttl=15.0)
        ```
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        # One lock for each process: a fork may happen while another thread holds it.
        self._locks: dict[int, threading.Lock] = {}

    @override
    def __repr__(self) -> str:
        return "MemoryStore()"

    @property
    def per_process(self) -> bool:
        """True: other processes do not see what this store keeps."""
        return True

    async def open(self) -> None:
        """Do nothing: there is nothing to open."""

    async def aclose(self) -> None:
        """Do nothing: there is no connection, and the documents are kept."""

    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        """As `ThreadStore.acquire`."""
        with self._lock():
            entry = self._entries.get(key, _NOTHING)
            if entry.owner != owner and self._is_leased(entry):
                return None
            self._entries[key] = attrs.evolve(entry, owner=owner, expires=self._clock() + ttl)
        document = None if entry.version == if_version else entry.document
        return StoreLease(
            key=key, owner=owner, version=entry.version, writer=entry.writer, document=document
        )

    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        """As `ThreadStore.renew`."""
        with self._lock():
            entry = self._entries.get(lease.key, _NOTHING)
            if not self._holds(lease, entry):
                return False
            self._entries[lease.key] = attrs.evolve(entry, expires=self._clock() + ttl)
            return True

    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        """As `ThreadStore.commit`."""
        with self._lock():
            entry = self._entries.get(lease.key, _NOTHING)
            version = lease.version + 1
            if self._holds(lease, entry) and entry.version == lease.version:
                written = bytes(document)
                self._entries[lease.key] = attrs.evolve(
                    entry, version=version, document=written, writer=lease.owner
                )
            elif (entry.version, entry.writer) != (version, lease.owner):
                raise lease_lost()
            if release:
                self._release(lease)
            return version

    async def release(self, lease: StoreLease) -> None:
        """As `ThreadStore.release`."""
        with self._lock():
            self._release(lease)

    async def load(self, key: str) -> Stored | None:
        """As `ThreadStore.load`."""
        entry = self._entries.get(key, _NOTHING)
        return None if entry.document is None else Stored(entry.document, entry.version)

    async def delete(self, key: str) -> bool:
        """As `ThreadStore.delete`."""
        with self._lock():
            entry = self._entries.get(key, _NOTHING)
            if self._is_leased(entry):
                raise store_busy()
            if entry.document is None:
                return False
            # The number stays: whoever has an instance of a deleted version must not meet
            # the same version again.
            self._entries[key] = _Entry(version=entry.version + 1)
            return True

    def _lock(self) -> threading.Lock:
        process = os.getpid()
        return self._locks.get(process) or self._locks.setdefault(process, threading.Lock())

    def _is_leased(self, entry: _Entry) -> bool:
        return entry.owner is not None and self._clock() < entry.expires

    def _holds(self, lease: StoreLease, entry: _Entry) -> bool:
        return entry.owner == lease.owner and self._is_leased(entry)

    def _release(self, lease: StoreLease) -> None:
        entry = self._entries.get(lease.key, _NOTHING)
        if entry.owner != lease.owner:
            return
        if entry.version:
            self._entries[lease.key] = attrs.evolve(entry, owner=None)
        else:
            del self._entries[lease.key]  # nothing was ever committed
