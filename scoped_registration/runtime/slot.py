"""One key of a pool: its instance, its queue, and the callers who wait in it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections import deque
from enum import Enum
from typing import Any, Generic, TypeVar, cast

from scoped_registration.errors import RegistrationError
from scoped_registration.runtime.tasks import Owner, on_loop
from scoped_registration.scope import ScopeContext, set_current

__all__ = ["READY", "Key", "Slot", "State", "Waiter"]

T = TypeVar("T")

Key = tuple[str, str]
"""The canonical text of the scope, and the thread id."""


class State(Enum):
    """Where a slot stands."""

    SEEKING = "seeking"  # waits for room in the pool
    BUILDING = "building"  # its factory runs in a task of its own
    READY = "ready"  # holds an instance, leased or idle
    CLOSING = "closing"  # is giving its instance up


READY = State.READY  # a warm lease looks at it three times, and a member is found slowly


class Waiter:
    """One caller in a slot's queue. Whether it is granted is decided under the mutex.

    It carries its own context: a build that another caller's release sets off must not
    run among that caller's context variables.
    """

    __slots__ = ("_future", "context", "error", "granted", "loop", "scope")

    def __init__(self, scope: object) -> None:
        self.scope: object = scope
        self.context: contextvars.Context = contextvars.copy_context()
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self.loop.create_future()
        self.granted: bool = False
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
    """One key and, while it is `READY`, its instance."""

    __slots__ = (
        "built_at",
        "companion",
        "context",
        "due",
        "idle_since",
        "key",
        "leases",
        "owner",
        "pinned_since",
        "retired",
        "state",
        "target",
        "victim",
        "waiters",
    )

    def __init__(self, key: Key) -> None:
        self.key: Key = key
        self.target: T = cast(T, _NOTHING)  # until it is `READY`
        self.context: ScopeContext[Any] | None = None
        self.companion: object = None  # what an integration keeps beside the instance
        self.state: State = State.SEEKING
        self.leases: int = 0
        self.retired: bool = False  # no new lease: closed as soon as it is idle
        self.built_at: float = 0.0
        self.idle_since: float = 0.0
        self.due: float = 0.0  # when it is to be closed, while it is idle
        self.pinned_since: float | None = None
        self.waiters: deque[Waiter] = _NOBODY
        self.owner: Owner | None = None
        self.victim: Slot[T] | None = None  # whose closing makes room for this one

    @property
    def share(self) -> str:
        """The scope that this slot counts for."""
        return self.key[0]

    @property
    def idle(self) -> bool:
        """Whether the slot holds an instance that nobody uses."""
        return self.state is State.READY and self.leases == 0

    @property
    def orphaned(self) -> bool:
        """Whether the event loop that the slot's task needs has ended."""
        return self.owner is not None and self.owner.loop.is_closed()

    def begin(self, registration: str) -> ScopeContext[Any]:
        """Enter `BUILDING` for the first who waits, and return what the factory is told."""
        scope: Any = self.waiters[0].scope
        scope_text, thread_id = self.key
        self.state = State.BUILDING
        self.victim = None
        self.context = ScopeContext[Any](registration, scope, thread_id, scope_text)
        self.show(scope)
        return self.context

    def show(self, scope: object) -> None:
        """Let `ScopeContext.current` answer with the scope of the lease that now begins."""
        if self.context is not None:
            set_current(self.context, scope)

    def holds(self, product: object) -> bool:
        """Whether an object is this key's instance, or came out of its factory on the way."""
        made = self.owner is not None and self.owner.made(product)
        return made or self.target is product

    def enqueue(self, waiter: Waiter) -> None:
        """Put a caller at the end of the queue."""
        if self.waiters is _NOBODY:
            self.waiters = deque()
        self.waiters.append(waiter)

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

    def clear(self) -> None:
        """Forget the instance; the key and its queue stay."""
        self.target = cast(T, _NOTHING)
        self.companion = None
        self.state = State.SEEKING
        self.context = None
        self.owner = None
        self.victim = None
        self.pinned_since = None
        self.retired = False
        self.trim()

    def trim(self) -> None:
        """Forget callers whose loop has ended, and an empty queue: a warm key needs none."""
        while self.waiters and self.waiters[0].loop.is_closed():
            self.waiters.popleft()
        if not self.waiters:
            self.waiters = _NOBODY


_NOTHING = object()
_NOBODY: deque[Waiter] = deque(maxlen=0)
