"""What the fault tests do to a pool or a registration: lease, visit, stay, and count what is kept.

The doubles of tests/unit/runtime/support.py test one step; these watch thousands.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal

from scoped_registration import RegistrationBuilder, ScopedFactory
from scoped_registration.registration import ScopedRegistration
from scoped_registration.runtime.lease import Lease
from scoped_registration.runtime.pool import Pool
from scoped_registration.runtime.slot import Slot, Waiter
from scoped_registration.runtime.tasks import Owner
from scoped_registration.scope import ScopeContext
from tests.faults.inn import Guest, Inn


def somebody() -> str:
    """Return the scope of a request: there are none here."""
    raise AssertionError


def registration_of(
    factory: Callable[[ScopeContext[Any]], object],
    *,
    mode: Literal["queue", "reject"] = "queue",
    max_waiting: int = 1000,
    wait_timeout: float = 30.0,
    **bounds: Any,  # the options of .pool()
) -> ScopedRegistration[Any, str]:
    return (
        RegistrationBuilder("chat")
        .isolation(ScopedFactory(factory, scope=somebody, shares=[Inn]))
        .pool(**bounds)
        .concurrency(mode, max_waiting=max_waiting, wait_timeout=wait_timeout)
        .build()
    )


Source = Pool[Any] | ScopedRegistration[Any, Any]


def lease_of(source: Source, scope: str, thread: str) -> AbstractAsyncContextManager[Any]:
    if isinstance(source, Pool):
        return source.lease((scope, thread), scope)
    return source.lease(scope, thread)


async def visit(source: Source, scope: str = "alice", thread: str = "1") -> Guest:
    """Lease a guest and use it, over a step of the event loop."""
    async with lease_of(source, scope, thread) as guest:
        assert isinstance(guest, Guest)
        with guest.used():
            await asyncio.sleep(0)
        return guest


class Stay:
    """A run that lasts until it is told to end."""

    def __init__(self, source: Source, scope: str = "alice", thread: str = "1") -> None:
        self.begun = asyncio.Event()
        self.over = asyncio.Event()
        self.task = asyncio.create_task(self._stay(lease_of(source, scope, thread)))

    async def _stay(self, lease: AbstractAsyncContextManager[Any]) -> None:
        async with lease as guest:
            assert isinstance(guest, Guest)
            with guest.used():
                self.begun.set()
                await self.over.wait()

    async def end(self) -> None:
        self.over.set()
        await self.task


async def stay(source: Source, scope: str = "alice", thread: str = "1") -> Stay:
    run = Stay(source, scope, thread)
    await run.begun.wait()
    return run


def kept(kinds: Iterable[type] = (Lease, Owner, Slot, Waiter)) -> Counter[str]:
    """Count what a pool allocates for its callers and keys, in the whole process."""
    gc.collect()
    wanted = set(kinds)
    return Counter(type(thing).__qualname__ for thing in gc.get_objects() if type(thing) in wanted)
