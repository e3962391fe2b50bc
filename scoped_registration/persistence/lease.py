"""A lease of an instance whose state is loaded before its run, and committed after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, TypeVar

import anyio
import attrs

from scoped_registration.persistence import codec as codecs
from scoped_registration.persistence.codec import TargetCodec
from scoped_registration.persistence.turn import Turn, begin, to_its_end
from scoped_registration.runtime.lease import Lease
from scoped_registration.runtime.options import Policy
from scoped_registration.stores.protocol import LeaseLostError, ThreadStore, lease_lost

# Any: a codec is tied to the target's type by the builder.

__all__ = ["PersistedLease", "Persistence", "Warm"]

T = TypeVar("T")


@attrs.define
class Warm:
    """What is known of an instance: which version of its document it holds, if any."""

    version: int | None = None


@attrs.frozen(kw_only=True)
class Persistence:
    """Where the state of a registration's threads is kept, and how it is written.

    Args:
        registration: The registration's name.
        store: The store.
        codec: Writes and restores a target.
        ttl: Seconds after which another worker may take over from one that has died.
        policy: What a thread that another worker holds answers.
    """

    registration: str
    store: ThreadStore
    codec: TargetCodec[Any]
    ttl: float
    policy: Policy


class PersistedLease(Generic[T]):
    """An async context manager like `Lease`, whose run begins where the last one has ended.

    A run that fails, is cancelled or loses its thread leaves the document as it was. What it
    has made of the instance is not used again.

    Args:
        lease: Makes a lease of the instance.
        key: The `ScopeContext.storage_key` of the thread.
        persistence: The registration's.
    """

    def __init__(self, lease: Callable[[], Lease[T]], key: str, persistence: Persistence) -> None:
        self._new_lease = lease
        self._lease = lease()
        self._key = key
        self._persistence = persistence
        self._turn: Turn | None = None
        self._target: T
        self._run = anyio.CancelScope()

    @property
    def place(self) -> object:
        """Which key of which pool this is a lease of."""
        return self._lease.place

    async def __aenter__(self) -> T:
        while True:
            target = await self._lease.__aenter__()
            try:
                turn = await self._begin(target)
            except BaseException:
                self._lease.release()
                raise
            if turn is not None:
                break
            # The instance is not current, and a new one takes its place. The thread is given
            # back meanwhile: another caller may build first, who then waits for the thread.
            self._lease.release()
            self._lease = self._new_lease()
        self._target = target
        self._turn = turn
        self._run.__enter__()
        turn.when_lost(self._run.cancel)
        return target

    async def _begin(self, target: T) -> Turn | None:
        """Take the thread and bring the instance up to date; None if it is of no more use."""
        own = self._persistence
        warm = self._lease.companion(lambda _: Warm())
        turn = await begin(
            own.store,
            self._key,
            ttl=own.ttl,
            if_version=warm.version,
            policy=own.policy,
            registration=own.registration,
        )
        if warm.version == turn.version:
            return turn
        try:
            if warm.version is not None:
                self._lease.retire()
                await turn.give_up()
                return None
            if turn.document is not None:
                codecs.restore(own.codec, target, turn.document, own.registration)
            warm.version = turn.version
        except BaseException:
            self._lease.retire()  # it may be restored in part
            await turn.give_up()
            raise
        return turn

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        turn, self._turn = self._turn, None
        if turn is None:
            return False
        # Cancelled because the thread was lost, the run ends with that as its reason.
        swallowed = bool(self._run.__exit__(exc_type, exc, traceback))
        if turn.lost and (exc is None or swallowed):
            exc = lease_lost(self._persistence.registration)
        await asyncio.shield(to_its_end(self._end(turn, failed=exc is not None)))
        if isinstance(exc, LeaseLostError):
            raise exc from None
        return False

    async def _end(self, turn: Turn, *, failed: bool) -> None:
        """Commit or give up, and give the instance back: nobody can cancel this."""
        own = self._persistence
        warm = self._lease.companion(lambda _: Warm())
        warm.version = None
        try:
            if not failed:
                document = codecs.dump(own.codec, self._target, own.registration)
                warm.version = await turn.commit(document, release=True)
        finally:
            if warm.version is None:
                self._lease.retire()  # what the run has made of it was not committed
                await turn.give_up()
            self._lease.release()
