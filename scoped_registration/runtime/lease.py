"""A lease: the right to use one instance, taken and given back exactly once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar, cast

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.slot import Key, Slot, State

__all__ = ["Lease"]

T = TypeVar("T")
C = TypeVar("C")


class Source(Protocol[T]):
    """What a lease is taken from: the pool."""

    @property
    def name(self) -> str:
        """The registration's name."""
        ...

    @property
    def exclusive(self) -> bool:
        """Whether leases of one key exclude each other."""
        ...

    def take(self, slot: Slot[T], scope: object, /) -> bool:
        """Take a warm, free instance at once."""
        ...

    async def wait(self, key: Key, scope: object) -> Slot[T]:
        """Take the instance of a key as soon as it may be taken."""
        ...

    def release(self, slot: Slot[T], /) -> None:
        """Give one lease back."""
        ...

    def retire(self, slot: Slot[T]) -> None:
        """Give no more leases of an instance."""
        ...

    def pin(self, slot: Slot[T], pending: bool) -> None:
        """Say whether a human's answer is pending."""
        ...


# The innermost lease of this task and of those that started it, one that waits included: a build
# runs in the context of the caller who waits for it. A lease of a key that is already held here
# would wait for itself, so it is refused at once. One that has ended is passed over by the next.
_innermost: ContextVar[Lease[Any] | None] = ContextVar("scoped_registration_lease", default=None)


@contextmanager
def own_context() -> Generator[None, None, None]:
    """Forget, for the length of a request, the leases of whoever started its context.

    A server may start a request in the context of the one before it on the same connection,
    whose lease ends without it.
    """
    outer = _innermost.get()
    _innermost.set(None)
    try:
        yield
    finally:
        _innermost.set(outer)


class Lease(Generic[T]):
    """An async context manager that yields the target itself, for one use.

    Leaving it twice is harmless; entering it again is refused (``lease_spent``).

    Args:
        pool: Where the instance is from.
        key: The key of the instance.
        scope: The value that `ScopeContext.current` is to have.
        slot: What stands for the key at this moment, if it may be taken without waiting.
    """

    __slots__ = ("_key", "_open", "_outer", "_pool", "_scope", "_slot", "_spent")

    def __init__(
        self, pool: Source[T], key: Key, scope: object, slot: Slot[T] | None = None
    ) -> None:
        self._pool = pool
        self._key = key
        self._scope = scope
        self._slot = slot
        self._spent = False
        self._open = False  # holds the instance, or waits for it
        self._outer: Lease[Any] | None = None

    @property
    def place(self) -> tuple[int, Key]:
        """Which key of which pool this is a lease of."""
        return id(self._pool), self._key

    async def __aenter__(self) -> T:
        outer = _innermost.get()
        if self._spent or outer is not None:
            self._outer = self._check(outer)
        pool, slot = self._pool, self._slot
        self._spent = self._open = True
        _innermost.set(self)
        if slot is None or not pool.take(slot, self._scope):
            self._slot = None
            try:
                slot = self._slot = await pool.wait(self._key, self._scope)
            except BaseException:
                self._open = False
                _innermost.set(self._outer)
                raise
        return slot.target

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """Give the instance back. Synchronous, so cancellation cannot interrupt it."""
        slot = self._slot
        if slot is None or not self._open:
            return
        self._slot = None
        self._open = False
        if _innermost.get() is self:
            _innermost.set(self._outer)
        self._pool.release(slot)

    def pin(self, pending: bool) -> None:
        """Say whether a human's answer is pending: a pinned instance is not evicted."""
        if self._open and self._slot is not None:
            self._pool.pin(self._slot, pending)

    def retire(self) -> None:
        """Let the next lease of this key begin with a new instance."""
        if self._open and self._slot is not None:
            self._pool.retire(self._slot)

    @property
    def ended(self) -> bool:
        """Whether the instance was closed under its user."""
        return self._slot is None or self._slot.state is not State.READY

    def companion(self, make: Callable[[T], C]) -> C:
        """Return what an integration keeps beside the instance; it ends with the instance."""
        slot = self._slot
        if slot is None or not self._open:
            raise RuntimeError("the lease is not held")
        if slot.companion is None:
            slot.companion = make(slot.target)
        return cast(C, slot.companion)  # one registration makes companions of one kind

    def _check(self, outer: Lease[Any] | None) -> Lease[Any] | None:
        """Refuse what may not be entered; return the innermost lease that is still open."""
        if self._spent:
            raise lease_spent(self._pool.name)
        while outer is not None and not outer._open:
            outer = outer._outer
        lease = outer
        while lease is not None:
            if lease._pool is self._pool and lease._key == self._key and self._pool.exclusive:
                raise RegistrationError(
                    ReasonCode.REENTRANT_LEASE,
                    "this key is already leased, or waited for, in the same context, "
                    "and a second lease would wait for the first",
                    instead="pass the instance on that is leased already",
                    registration=self._pool.name,
                )
            while lease._outer is not None and not lease._outer._open:
                lease._outer = lease._outer._outer  # so that no chain of ended ones is kept
            lease = lease._outer
        return outer


def lease_spent(registration: str) -> RegistrationError:
    """Return the refusal of a lease that is entered a second time."""
    return RegistrationError(
        ReasonCode.LEASE_SPENT,
        "this lease was entered before",
        instead="call lease() again for each use",
        registration=registration,
    )
