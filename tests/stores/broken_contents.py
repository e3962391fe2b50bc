"""Stores with one fault each, for the suite to find: documents, names and connections."""

from __future__ import annotations

import asyncio
import logging
import pickle

import anyio.lowlevel
import attrs
from typing_extensions import override

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import Stored, StoreLease

SECRET = "correct-horse"
_log = logging.getLogger(__name__)


class LoadsNothingThatIsLeased(MemoryStore):
    @override
    async def load(self, key: str) -> Stored | None:
        held = self._entries.get(key)
        return None if held is None or self._is_leased(held) else await super().load(key)


class DeletesWhatIsLeased(MemoryStore):
    @override
    async def delete(self, key: str) -> bool:
        held = self._entries.get(key)
        if held is not None:
            self._entries[key] = attrs.evolve(held, owner=None)
        return await super().delete(key)


class DeletesAgain(MemoryStore):
    @override
    async def delete(self, key: str) -> bool:
        await super().delete(key)
        return True


class ForgetsTheVersion(MemoryStore):
    """It deletes all that it has of a key, so that its versions begin again."""

    @override
    async def delete(self, key: str) -> bool:
        deleted = await super().delete(key)
        if deleted:
            del self._entries[key]
        return deleted


class EmptyIsNothing(MemoryStore):
    @override
    async def load(self, key: str) -> Stored | None:
        stored = await super().load(key)
        return stored if stored is not None and stored.document else None


class LendsViews(MemoryStore):
    @override
    async def load(self, key: str) -> Stored | None:
        stored = await super().load(key)
        # What some drivers return for a column of bytes.
        return stored and attrs.evolve(stored, document=memoryview(stored.document))  # type: ignore[arg-type]


class KeepsText(MemoryStore):
    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        text = document.decode(errors="replace")
        return await super().commit(lease, text.encode(), release=release)


class Unpickles(MemoryStore):
    @override
    async def load(self, key: str) -> Stored | None:
        stored = await super().load(key)
        try:
            pickle.loads(stored.document if stored else b"")  # noqa: S301  # this is the fault
        except Exception:
            return stored
        return stored


class IgnoresCaseAndSpace(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        key = key.strip().casefold()
        return await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)


class CutsKeys(MemoryStore):
    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        return await super().acquire(key[:128], owner=owner, ttl=ttl, if_version=if_version)


class HasNoAnswer(MemoryStore):
    @property
    @override
    def per_process(self) -> bool:
        answer: bool = None  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
        return answer


class OnlySaysThatItIsShared(MemoryStore):
    @property
    @override
    def per_process(self) -> bool:
        return False


class ForgetsWhenItIsClosed(MemoryStore):
    @override
    async def aclose(self) -> None:
        self._entries.clear()


class StuckAfterACancellation(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._busy = asyncio.Lock()

    @override
    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        await self._busy.acquire()
        await anyio.lowlevel.checkpoint()
        lease = await super().acquire(key, owner=owner, ttl=ttl, if_version=if_version)
        self._busy.release()
        return lease


class BoundToItsLoop(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()

    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        assert asyncio.get_running_loop() is self._loop, "attached to a different loop"
        return await super().commit(lease, document, release=release)


class ShowsItsPassword(MemoryStore):
    @override
    def __repr__(self) -> str:
        return f"Store('redis://:{SECRET}@localhost')"


class LogsDocuments(MemoryStore):
    @override
    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        _log.debug("writing %r", document)
        return await super().commit(lease, document, release=release)
