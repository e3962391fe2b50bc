"""One key of a pool: its instance, its queue, and the callers who wait in it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
from collections import deque
from enum import Enum
from typing import Any, Generic, TypeVar, cast

from scoped_registration.errors import RegistrationError
from scoped_registration.runtime.tasks import Owner, on_loop
from scoped_registration.scope import Current, ScopeContext, Share, share_text

__all__ = ["Key", "Slot", "State", "Waiter"]

T = TypeVar("T")

Key = tuple[Share, str]
"""What stands for the scope, and the thread id."""


class State(Enum):
    """Where a slot stands."""

    SEEKING = "seeking"  # waits for room in the pool
    BUILDING = "building"  # its factory runs in a task of its own
    READY = "ready"  # holds an instance, leased or idle
    CLOSING = "closing"  # is giving its instance up
    ENDED = "ended"  # another slot stands for its key, if any does


class Waiter:
    """One caller in a slot's queue. Whether it is granted is decided under the mutex.

    It carries its own context: a build that another caller's release sets off must not
    run among that caller's context variables.
    """

    __slots__ = ("_future", "context", "error", "granted", "loop", "scope", "slot")

    def __init__(self, scope: object) -> None:
        self.scope: object = scope
        self.context: contextvars.Context = contextvars.copy_context()
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self.loop.create_future()
        self.granted: bool = False
        self.slot: Slot[Any]  # in whose queue it stands, or stood last
        self.error: RegistrationError | None = None  # what it was turned away with

    async def wait(self, seconds: float) -> None:
        """Wait to be woken.

        Raises:
            TimeoutError: Nobody woke this caller in time.
        """
        async with asyncio.timeout(seconds):
            await self._future

    def grant(self) -> bool:
        """Let the caller have the instance; False if its event loop has ended."""
        self.granted = on_loop(self.loop, lambda: self._settle(None))
        return self.granted

    def wake(self, error: RegistrationError | None = None) -> None:
        """Wake the caller, from whichever thread, with an error of its own or without."""
        self.error = error
        on_loop(self.loop, lambda: self._settle(error))

    def _settle(self, error: RegistrationError | None) -> None:
        if self._future.done():
            return
        if error is None:
            self._future.set_result(None)
        else:
            self._future.set_exception(error)


class Slot(Generic[T]):
    """One key for the life of one instance, which it holds while it is `READY`."""

    __slots__ = (
        "ages_at",
        "companion",
        "current",
        "due",
        "key",
        "overlapping",
        "owner",
        "pinned_since",
        "retired",
        "reused",
        "state",
        "target",
        "victim",
        "waiters",
    )

    def __init__(self, key: Key) -> None:
        self.key: Key = key
        self.target: T = cast(T, _NOTHING)  # until it is `READY`
        self.current: Current = Current()
        self.companion: object = None  # what an integration keeps beside the instance
        self.state: State = State.SEEKING
        self.overlapping: int = 0  # leases at this moment, where they do not exclude each other
        self.reused: int = 0  # leases of the instance when it existed already
        self.retired: bool = False  # no new lease: closed as soon as it is idle
        self.ages_at: float = math.inf  # when it is too old, if it may be
        self.due: float = 0.0  # when it is to be closed, while it is idle
        self.pinned_since: float | None = None
        self.waiters: deque[Waiter] = _NOBODY
        self.owner: Owner | None = None
        self.victim: Slot[T] | None = None  # whose closing makes room for this one

    @property
    def share(self) -> Share:
        """The scope that this slot counts for."""
        return self.key[0]

    @property
    def orphaned(self) -> bool:
        """Whether the event loop that the slot's task needs has ended."""
        return self.owner is not None and self.owner.loop.is_closed()

    def begin(self, registration: str) -> ScopeContext[Any]:
        """Enter `BUILDING` for the first who waits, and return what the factory is told."""
        scope: Any = self.waiters[0].scope
        share, thread_id = self.key
        self.state = State.BUILDING
        self.victim = None
        self.current.scope = scope
        text = share_text(share)
        return ScopeContext[Any](registration, scope, thread_id, text, self.current)

    def holds(self, product: object) -> bool:
        """Whether an object is this key's instance, or came out of its factory on the way."""
        made = self.owner is not None and self.owner.made(product)
        return made or self.target is product

    def enqueue(self, waiter: Waiter) -> None:
        """Put a caller at the end of the queue."""
        if self.waiters is _NOBODY:
            self.waiters = deque()
        self.waiters.append(waiter)
        waiter.slot = self

    def leave(self, waiter: Waiter) -> None:
        """Take a caller out of the queue, wherever it stands."""
        with contextlib.suppress(ValueError):
            self.waiters.remove(waiter)
        self.trim()

    def turn_away(self, loop: asyncio.AbstractEventLoop | None = None) -> list[Waiter]:
        """Take callers out of the queue, all or those of one loop, and return them."""
        leaving = [waiter for waiter in self.waiters if loop in (None, waiter.loop)]
        for waiter in leaving:
            self.leave(waiter)
        return leaving

    def end(self) -> Slot[T]:
        """Forget the instance, and return a new slot for the key and those who wait."""
        heir = Slot[T](self.key)
        self.trim()
        for waiter in self.waiters:
            heir.enqueue(waiter)
        self.waiters = _NOBODY
        self.target = cast(T, _NOTHING)
        self.companion = None
        self.state = State.ENDED
        self.current.scope = None
        self.owner = None
        self.victim = None
        self.pinned_since = None
        self.retired = True  # a lease that outlived it may still put it back
        return heir

    def trim(self) -> None:
        """Forget callers whose loop has ended, and an empty queue: a warm key needs none."""
        while self.waiters and self.waiters[0].loop.is_closed():
            self.waiters.popleft()
        if not self.waiters:
            self.waiters = _NOBODY


_NOTHING = object()
_NOBODY: deque[Waiter] = deque(maxlen=0)
