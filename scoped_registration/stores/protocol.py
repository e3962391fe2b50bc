"""What a store is: a lease and a document for each key, in one engine (promise P11).

Whoever holds the lease may write the document, and the engine checks that in the same step
as it writes: a holder that was stopped, cut off or declared dead cannot overwrite what its
successor has written. The fence is a random owner id, drawn for each acquisition. A counter
is none: an engine that was emptied would count from the beginning again.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError

__all__ = [
    "LeaseLostError",
    "StoreLease",
    "StoreUnavailableError",
    "Stored",
    "ThreadStore",
    "lease_lost",
    "store_busy",
    "store_unavailable",
]


@attrs.frozen
class Stored:
    """A document as it was last committed.

    Attributes:
        document: The bytes that were committed.
        version: 1 for the first commit of a key, and one more for each further one.
    """

    document: bytes
    version: int


@attrs.frozen(kw_only=True)
class StoreLease:
    """The right to commit the next version of one key, until its time is up.

    Attributes:
        key: The `ScopeContext.storage_key` of a thread.
        owner: The random id of this holder.
        version: The version that the next commit replaces; 0 if there is none.
        writer: The owner who committed that version. An engine that has lost its documents
            counts anew: equal versions of two writers are different documents.
        document: What was committed last; None if there is nothing, or if the caller's
            `if_version` is current.
    """

    key: str
    owner: str
    version: int
    writer: str | None = attrs.field(default=None, eq=False, repr=False)
    document: bytes | None = attrs.field(default=None, repr=False)


class LeaseLostError(RegistrationError):
    """The lease has expired or belongs to another: nothing was written (``lease_lost``)."""


class StoreUnavailableError(RegistrationError):
    """The engine did not answer, or not in time (``store_unavailable``)."""


@runtime_checkable
class ThreadStore(Protocol):
    """Documents of threads, each written by one holder at a time.

    `scoped_registration.testing.store_suite` tests an implementation of your own.

    Every call ends within the store's own deadline, with `StoreUnavailableError` if the
    engine does not answer. Each may be repeated after that: `acquire` and `commit` are
    idempotent for one owner. Times are the engine's; a store does not trust the clock of a
    worker. A lease whose time is up is lost, whether or not another holder has come. No
    method empties a store. A store makes no connection before its first call, and may be
    used from several event loops, one after another, and after a fork.
    """

    @property
    def per_process(self) -> bool:
        """Whether other processes do not see what this store keeps."""
        ...

    async def open(self) -> None:
        """Make sure that the store can be used: the application's start-up calls it.

        Raises:
            RegistrationError: ``store_not_ready`` if its schema is missing or of another
                version, or a setting of the engine would lose documents.
            StoreUnavailableError: The engine did not answer.
        """
        ...

    async def aclose(self) -> None:
        """Give the connections back. The next call makes new ones."""
        ...

    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        """Take the lease of a key, or take it again for the same owner.

        Args:
            key: Names a thread: at most 200 characters.
            owner: A random id, drawn for this acquisition.
            ttl: Seconds, by the engine's clock, until the lease is lost unless renewed.
            if_version: The version that the caller has already: the document is left out
                if it is current.

        Returns:
            The lease, or None if another owner holds it.
        """
        ...

    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        """Let the time of a lease begin anew; False if the lease is lost."""
        ...

    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        """Write the next version of the document.

        A repeated call, after a reply that did not come, writes nothing a second time and
        returns the same version, also if the first one released the lease.

        Args:
            lease: The lease; its `version` is the one that is replaced.
            document: Any bytes.
            release: Whether the lease ends in the same step.

        Returns:
            The new version: the caller's next commit needs a lease that holds it.

        Raises:
            LeaseLostError: The lease is lost, or its version is not the last one.
        """
        ...

    async def release(self, lease: StoreLease) -> None:
        """End a lease without writing; harmless if it is lost."""
        ...

    async def load(self, key: str) -> Stored | None:
        """Return the document of a key, whoever holds its lease."""
        ...

    async def delete(self, key: str) -> bool:
        """Delete the document of a key that nobody has leased; False if there is none.

        Raises:
            RegistrationError: ``thread_busy`` while the key is leased.
        """
        ...


def lease_lost(registration: str | None = None) -> LeaseLostError:
    """Return the error for a write without a lease."""
    return LeaseLostError(
        ReasonCode.LEASE_LOST,
        "the lease of this thread has expired, or another worker has taken it over; "
        "nothing was written",
        instead="run the turn again: it begins with what was committed last",
        registration=registration,
    )


def store_busy() -> RegistrationError:
    """Return the error for a key that may not be deleted now."""
    return RegistrationError(
        ReasonCode.THREAD_BUSY,
        "a thread cannot be deleted while it is leased",
        instead="delete it when its run has ended",
    )


def store_unavailable(engine: str, error: BaseException | None = None) -> StoreUnavailableError:
    """Return the error for an engine that did not answer, without the text of the driver.

    That text may hold an address, a user or a password.
    """
    why = "did not answer in time" if error is None else f"failed with {type(error).__qualname__}"
    return StoreUnavailableError(
        ReasonCode.STORE_UNAVAILABLE,
        f"the {engine} store {why}",
        instead="see whether the engine runs and is reachable; the call may be repeated",
    )
