"""One run's hold on a thread: a store's lease, renewed until the run commits or gives up."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.options import Policy
from scoped_registration.runtime.refusals import refusal
from scoped_registration.runtime.report import log
from scoped_registration.stores.protocol import (
    LeaseLostError,
    StoreLease,
    StoreUnavailableError,
    ThreadStore,
    lease_lost,
)

# Any: what a coroutine yields to its event loop.

__all__ = ["Turn", "begin", "in_background"]

T = TypeVar("T")

_LONGEST_PAUSE = 0.25  # between two looks at a thread that another worker holds


class Turn:
    """A thread that is this run's to write.

    Args:
        store: Where the thread is kept.
        lease: What the store gave for it.
        ttl: Seconds for which the lease lasts unless it is renewed.
        until: When it ends, by the event loop's clock.
        registration: The registration's name.
    """

    def __init__(
        self, store: ThreadStore, lease: StoreLease, *, ttl: float, until: float, registration: str
    ) -> None:
        self._store = store
        self._lease = lease
        self._ttl = ttl
        self._until = until
        self._registration = registration
        self._loop = asyncio.get_running_loop()
        self._when_lost: Callable[[], object] | None = None
        self.lost: bool = False
        self._renewal: asyncio.Task[None] = self._loop.create_task(self._renew())

    @property
    def document(self) -> bytes | None:
        """What the thread was committed with last; None if nothing, or as the caller knows it."""
        return self._lease.document

    @property
    def version(self) -> int:
        """The version of the last commit; 0 if there was none."""
        return self._lease.version

    @property
    def writer(self) -> str | None:
        """Who made that commit."""
        return self._lease.writer

    def when_lost(self, callback: Callable[[], object]) -> None:
        """Have something called as soon as the thread is another's: the run has to end."""
        self._when_lost = callback
        if self.lost:
            callback()

    async def commit(self, document: bytes) -> int:
        """Write what the next run begins with, and end the lease.

        Returns:
            The version of the document.

        Raises:
            RegistrationError: ``lease_lost``, ``store_unavailable``; nothing was written, or,
                of the second, perhaps.
        """
        if self.lost:
            raise lease_lost()
        self._renewal.cancel()  # it would find that the lease has ended
        try:
            try:
                version = await self._store.commit(self._lease, document, release=True)
            except StoreUnavailableError:  # it may have been done; a second time does no harm
                version = await self._store.commit(self._lease, document, release=True)
        except LeaseLostError:
            self._lose()
            raise
        self._lease = attrs.evolve(
            self._lease, version=version, writer=self._lease.owner, document=None
        )
        return version

    async def give_up(self) -> None:
        """End the lease without writing."""
        self._renewal.cancel()
        if not self.lost:  # a caller who is cancelled leaves while it goes on
            await asyncio.shield(in_background(_release(self._store, self._lease)))

    async def _renew(self) -> None:
        """Keep the lease alive. By the clock here it ends no later than by the engine's."""
        while True:
            await asyncio.sleep(self._ttl / 3)
            asked = self._loop.time()
            try:
                async with asyncio.timeout_at(self._until):
                    kept = await self._store.renew(self._lease, ttl=self._ttl)
            except (StoreUnavailableError, TimeoutError):
                kept = self._loop.time() < self._until
            else:
                self._until = asked + self._ttl
            if not kept:
                self._lose()
                return

    def _lose(self) -> None:
        self._renewal.cancel()
        if self.lost:
            return
        self.lost = True
        log.warning(
            "registration %r: a run has lost its thread to another worker, and ends",
            self._registration,
        )
        if self._when_lost is not None:
            self._when_lost()


async def begin(
    store: ThreadStore,
    key: str,
    *,
    ttl: float,
    if_version: int | None,
    policy: Policy,
    registration: str,
) -> Turn:
    """Take a thread as soon as no other worker holds it.

    Raises:
        RegistrationError: ``thread_busy``, ``wait_timeout``, ``store_unavailable``.
    """
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + policy.wait_timeout
    owner = uuid.uuid4().hex
    pause = 0.005
    while True:
        asked = loop.time()
        asking = in_background(store.acquire(key, owner=owner, ttl=ttl, if_version=if_version))
        try:
            lease = await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(lambda done: _give_back(store, done))
            raise
        except StoreUnavailableError:  # it may have been done: nobody else would end that lease
            taken = StoreLease(key=key, owner=owner, version=0)
            _ = in_background(_release(store, taken))
            raise
        if lease is not None:
            return Turn(store, lease, ttl=ttl, until=asked + ttl, registration=registration)
        if policy.mode == "reject":
            raise refusal(ReasonCode.THREAD_BUSY, registration)
        if loop.time() + pause >= give_up_at:
            raise refusal(ReasonCode.WAIT_TIMEOUT, registration)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def in_background(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Run something in a task of its own, which goes on if nobody waits for it any more."""
    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


_running: set[asyncio.Task[Any]] = set()


def _give_back(store: ThreadStore, asked: asyncio.Task[StoreLease | None]) -> None:
    """End a lease that came after its caller had gone."""
    if not asked.cancelled() and asked.exception() is None:
        lease = asked.result()
        if lease is not None:
            _ = in_background(_release(store, lease))


async def _release(store: ThreadStore, lease: StoreLease) -> None:
    try:
        await store.release(lease)
    except RegistrationError as error:  # the lease ends when its time is up
        log.warning("a lease could not be given back: %s", error.code)
