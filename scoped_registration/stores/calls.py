"""Calls to an engine that other machines share: whose turn it is, for how long, and on what.

Connections belong to the event loop and the process that made them. A call has a task of its
own, so that a cancelled caller interrupts no exchange with the engine, and waits for its end:
what was begun has happened, or has not, before the caller does anything else.
"""

from __future__ import annotations

import asyncio
import collections
import ctypes
import os
import time
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

import anyio

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.protocol import store_unavailable

# Any: what a coroutine yields to its event loop.

__all__ = ["Closable", "PerLoop", "Turns", "check_limit", "to_its_end"]

T = TypeVar("T")


class Closable(Protocol):
    """What holds connections."""

    async def aclose(self) -> None:
        """Close them."""
        ...


C = TypeVar("C", bound=Closable)


class PerLoop(Generic[C]):
    """One thing that holds connections for each event loop, made when it is first needed.

    A loop that ends in the usual way closes what belongs to it. What belonged to a loop that
    was only dropped is dropped too: nobody can close it any more. What belongs to the parent
    process is neither used, closed nor destroyed in a child: the connections are the parent's.

    Args:
        make: Makes the thing, without connecting.
    """

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._owned: dict[asyncio.AbstractEventLoop, tuple[C, AsyncGenerator[C, None]]] = {}
        _all.add(self)

    async def get(self) -> C:
        """Return what belongs to the running event loop."""
        loop = asyncio.get_running_loop()
        known = self._owned.get(loop)
        if known is not None:
            return known[0]
        for other in [other for other in self._owned if other.is_closed()]:
            self._owned.pop(other, None)
        # An event loop closes the generators that it has begun before it ends: whoever made
        # connections in it need not know when that is.
        life = self._life()
        made = await anext(life)
        self._owned[loop] = made, life
        return made

    async def aclose(self) -> None:
        """Close what belongs to the running event loop."""
        known = self._owned.pop(asyncio.get_running_loop(), None)
        if known is not None:
            await known[1].aclose()

    def abandon(self) -> None:
        """Leave to the parent what this process has a copy of.

        It is kept from being destroyed: a driver may then close the connection, and would
        take it out of the parent's event loop, which shares its descriptors.
        """
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._owned))
        self._owned = {}

    async def _life(self) -> AsyncGenerator[C, None]:
        made, process = self._make(), os.getpid()
        try:
            yield made
        finally:
            if process == os.getpid():  # else a child process ends the loop of its parent
                await made.aclose()


_all: weakref.WeakSet[PerLoop[Any]] = weakref.WeakSet()


def _abandon_all() -> None:
    for owner in list(_all):
        owner.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)


class Turns:
    """So many calls at a time; the others wait in order for as long as the engine answers.

    To wait for others is no failure of the engine. To wait while none of them is answered is.

    Args:
        engine: The name of the engine, for the error.
        limit: How many calls at a time.
        patience: Seconds without an answer.
    """

    def __init__(self, engine: str, limit: int, patience: float) -> None:
        self._engine = engine
        self._free = limit
        self._patience = patience
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()
        self._answered = 0.0

    async def take(self) -> None:
        """Wait for a turn, which `give_back` ends.

        Raises:
            StoreUnavailableError: No call was answered for as long as the patience lasts.
        """
        if self._free:
            self._free -= 1
            return
        begun = time.monotonic()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            while not turn.done():
                left = max(begun, self._answered) + self._patience - time.monotonic()
                if left <= 0:
                    raise store_unavailable(self._engine)
                await asyncio.wait([turn], timeout=left)
        except BaseException:
            if turn.done():
                self._pass_on()
            else:
                self._waiting.remove(turn)
            raise

    def give_back(self, *, answered: bool) -> None:
        """End a turn.

        Args:
            answered: Whether the engine has said anything.
        """
        if answered:
            self._answered = time.monotonic()
        self._pass_on()

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._free += 1


async def to_its_end(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Run what ends by a deadline of its own, undisturbed by the caller's cancellation.

    Returns:
        A task that is done.
    """
    task = asyncio.get_running_loop().create_task(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # nobody is there to be told
        raise
    return task


def check_limit(max_connections: int) -> int:
    """Return a store's `max_connections`, or refuse what is no number of connections.

    Raises:
        RegistrationError: ``option_invalid``.
    """
    if type(max_connections) is not int or max_connections < 1:
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            "the max_connections of a store is not a positive whole number",
            instead="max_connections=10",
        )
    return max_connections
