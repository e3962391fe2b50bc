"""A lease of an instance whose state is loaded before its run, and committed after it."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, TypeVar

from scoped_registration.persistence import codec as codecs
from scoped_registration.persistence.codec import TargetCodec
from scoped_registration.persistence.hold import Hold, Persistence, take
from scoped_registration.persistence.turn import in_background
from scoped_registration.runtime.lease import Lease, lease_spent
from scoped_registration.stores.protocol import LeaseLostError, lease_lost

# Any: what a task returns makes no difference here.

__all__ = ["CodecState", "PersistedLease"]

T = TypeVar("T")


class CodecState(Generic[T]):
    """The state of a target that a codec writes."""

    def __init__(self, target: T, codec: TargetCodec[T], registration: str) -> None:
        self.version: int | None = None
        self.writer: str | None = None
        self._target = target
        self._codec = codec
        self._registration = registration

    async def load(self, document: bytes | None) -> None:
        """Restore the target."""
        if document is not None:
            codecs.restore(self._codec, self._target, document, self._registration)

    def dump(self) -> bytes:
        """Return the document of now."""
        return codecs.dump(self._codec, self._target, self._registration)


class PersistedLease(Generic[T]):
    """An async context manager like `Lease`, whose run begins where the last one has ended.

    A run that fails, is cancelled or loses its thread leaves the document as it was. What it
    has made of the instance is not used again.

    Args:
        new_lease: Makes a lease of the instance.
        persistence: The registration's.
    """

    def __init__(self, new_lease: Callable[[], Lease[T]], persistence: Persistence) -> None:
        self._new_lease = new_lease
        self._persistence = persistence
        self._hold: Hold[T] | None = None
        self._spent = False
        # Weak: a task that failed keeps what it ran, and a generator that nobody reads any more
        # would never be closed.
        self._task: weakref.ref[asyncio.Task[Any]] | None = None
        self._before = 0  # cancellations of that task which are others'
        self._cancelled = False

    @property
    def place(self) -> object:
        """Which key of which pool this is a lease of."""
        return self._new_lease().place

    async def __aenter__(self) -> T:
        if self._spent:
            raise lease_spent(self._persistence.registration)
        self._spent = True
        hold = self._hold = await take(self._new_lease, self._persistence)
        task = asyncio.current_task()
        if task is not None:
            self._task, self._before = weakref.ref(task), task.cancelling()
        hold.turn.when_lost(self._cancel)
        return hold.target

    def _cancel(self) -> None:
        task = None if self._task is None else self._task()
        if task is not None:
            self._cancelled = True
            task.cancel()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        hold, self._hold = self._hold, None
        if hold is None:
            return False
        # Cancelled because the thread was lost, the run ends with that as its reason. A generator
        # may be closed by another task than the one that it ran in.
        task = None if self._task is None else self._task()
        self._task = None  # who has left is cancelled no more
        swallowed = False
        if self._cancelled and task is not None and task is asyncio.current_task():
            others = task.uncancel() > self._before
            swallowed = isinstance(exc, asyncio.CancelledError) and not others
        if hold.turn.lost and (exc is None or swallowed):
            exc = lease_lost(self._persistence.registration)
        # Nobody can cancel this: who is cancelled now leaves while it goes on.
        await asyncio.shield(in_background(_end(hold, failed=exc is not None)))
        if isinstance(exc, LeaseLostError):
            raise exc from None
        return False


async def _end(hold: Hold[T], *, failed: bool) -> None:
    try:
        if not failed:
            await hold.commit()
    finally:
        await hold.end()
