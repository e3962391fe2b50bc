"""An instance that is current, and its thread: a run has both, or neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import attrs

from scoped_registration.errors import ReasonCode
from scoped_registration.persistence.turn import Turn, begin
from scoped_registration.runtime.lease import Lease
from scoped_registration.runtime.options import Policy
from scoped_registration.runtime.refusals import refusal
from scoped_registration.scope import share_text, storage_key
from scoped_registration.stores.protocol import ThreadStore

# Any: a state belongs to an instance of any type.

__all__ = ["Hold", "Persistence", "State", "take"]

T = TypeVar("T")


class State(Protocol):
    """What an instance holds of its thread; it ends with the instance."""

    version: int | None
    """Of the document that the instance agrees with; None if it is not known to."""
    writer: str | None
    """Who committed it: an engine that has lost its documents counts anew."""

    async def load(self, document: bytes | None) -> None:
        """Bring a new instance up to date; None if nothing was committed.

        Raises:
            RegistrationError: ``document_unreadable``.
        """
        ...

    def dump(self) -> bytes | None:
        """Return the document of now; None if it is as it was loaded.

        Raises:
            RegistrationError: ``document_unwritable``.
        """
        ...


@attrs.frozen(kw_only=True)
class Persistence:
    """Where the state of a registration's threads is kept.

    Args:
        registration: The registration's name.
        store: The store.
        ttl: Seconds after which another worker may take over from one that has died.
        policy: What a thread that another worker holds answers.
        state: Makes the state of a new instance.
    """

    registration: str
    store: ThreadStore
    ttl: float
    policy: Policy
    state: Callable[[Any], State]


async def take(new_lease: Callable[[], Lease[T]], own: Persistence) -> Hold[T]:
    """Take an instance and its thread, and bring the instance up to date.

    Args:
        new_lease: Makes a lease of the instance.
        own: The persistence of the registration.

    Raises:
        RegistrationError: What a lease is refused with, ``store_unavailable``,
            ``document_unreadable``.
    """
    while True:
        lease = new_lease()
        target = await lease.__aenter__()
        try:
            hold = await _update(lease, target, own)
        except BaseException:
            lease.release()
            raise
        if hold is not None:
            return hold
        # The instance is not current, and a new one takes its place. Its thread was given
        # back: another caller may be the first to build, who then waits for the thread.
        lease.release()


async def _update(lease: Lease[T], target: T, own: Persistence) -> Hold[T] | None:
    """Take the thread of a leased instance; None if the instance is of no more use."""
    state = lease.companion(own.state)
    _, (share, thread_id) = lease.place
    turn = await begin(
        own.store,
        storage_key(own.registration, share_text(share), thread_id),
        ttl=own.ttl,
        if_version=state.version,
        policy=own.policy,
        registration=own.registration,
    )
    if (state.version, state.writer) == (turn.version, turn.writer):
        return Hold(lease, target, state, turn, own.registration)
    try:
        if state.version is not None:
            lease.retire()
            await turn.give_up()
            return None
        await state.load(turn.document)
        state.version, state.writer = turn.version, turn.writer
    except BaseException:
        lease.retire()  # it may have been restored in part
        await turn.give_up()
        raise
    return Hold(lease, target, state, turn, own.registration)


class Hold(Generic[T]):
    """What `take` returns: a run commits it, or not, and ends it in either case."""

    def __init__(
        self, lease: Lease[T], target: T, state: State, turn: Turn, registration: str
    ) -> None:
        self._registration = registration
        self.lease = lease
        self.target = target
        self.turn = turn
        self.state = state
        self._committed = False

    async def commit(self) -> None:
        """Write the state of the instance, if it has changed, and give the thread back.

        Raises:
            RegistrationError: ``document_unwritable``, ``lease_lost``, ``store_unavailable``.
        """
        state = self.state
        if self.lease.ended:  # what its closing has left is no state of the thread
            raise refusal(ReasonCode.DRAINING, self._registration)
        document = state.dump()
        if document is None:
            await self.turn.give_up()
        else:
            state.version = await self.turn.commit(document)
            state.writer = self.turn.writer
        self._committed = True

    async def end(self) -> None:
        """Give the instance back. One whose run was not committed is not used again."""
        try:
            if not self._committed:
                self.state.version = None
                self.lease.retire()
                await self.turn.give_up()
        finally:
            self.lease.release()
