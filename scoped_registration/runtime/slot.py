"""One key of a pool: its instance, its queue, and the callers who wait in it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any, Generic, Literal, TypeVar

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError, caller
from scoped_registration.runtime.eviction import invalid_option, is_seconds
from scoped_registration.scope import ScopeContext

__all__ = ["Key", "Owner", "Policy", "Slot", "State", "Waiter", "running_loop"]

T = TypeVar("T")

Key = tuple[str, str]
"""The canonical text of the scope, and the thread id."""


@attrs.frozen(kw_only=True)
class Policy:
    """What happens to a second run of a key that is busy (promise P6)."""

    mode: Literal["queue", "reject"] = "queue"
    max_waiting: int = 16
    wait_timeout: float = 30.0

    def __attrs_post_init__(self) -> None:
        if self.mode not in ("queue", "reject"):
            raise RegistrationError(
                ReasonCode.OPTION_INVALID,
                'the concurrency policy must be "queue" or "reject"',
                declared_at=caller(),
            )
        waiting: object = self.max_waiting
        if isinstance(waiting, bool) or not isinstance(waiting, int) or waiting < 0:
            raise invalid_option("max_waiting", "an int, zero or more")
        if not is_seconds(self.wait_timeout):
            raise invalid_option("wait_timeout", "a positive number of seconds")


class State(Enum):
    """Where a slot stands."""

    SEEKING = "seeking"  # waits for room in the pool
    BUILDING = "building"  # its factory runs in a task of its own
    READY = "ready"  # holds an instance, leased or idle
    CLOSING = "closing"  # is giving its instance up


class Waiter:
    """One caller in a slot's queue. Whether it is granted is decided under the mutex.

    It carries its own context: a build that another caller's release sets off must not
    run among that caller's context variables.
    """

    __slots__ = ("_future", "context", "granted", "loop", "scope")

    def __init__(self, scope: object) -> None:
        self.scope = scope
        self.context = contextvars.copy_context()
        self.loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self.loop.create_future()
        self.granted = False

    async def wait(self, seconds: float) -> None:
        """Wait to be woken.

        Raises:
            TimeoutError: Nobody woke this caller in time.
        """
        async with asyncio.timeout(seconds):
            await self._future

    def wake(self, error: RegistrationError | None = None) -> None:
        """Wake the caller, from whichever thread, with an error of its own or without."""
        with contextlib.suppress(RuntimeError):  # its loop has just ended
            self.loop.call_soon_threadsafe(self._settle, error)

    def _settle(self, error: RegistrationError | None) -> None:
        if self._future.done():
            return
        if error is None:
            self._future.set_result(None)
        else:
            self._future.set_exception(error)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, or None outside of one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Owner:
    """The one task that builds an instance, keeps it open and closes it."""

    __slots__ = ("_task", "_timer", "ended", "loop", "stop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.stop = asyncio.Event()
        self.ended = False
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def run(self, work: Coroutine[Any, Any, None], context: contextvars.Context) -> None:
        """Run the task on the owner's loop, from whichever thread, in a given context."""

        def start() -> None:
            self._task = self.loop.create_task(work, context=context)

        self._on_loop(start)

    def request_stop(self) -> None:
        """Let the task close what it keeps open."""
        self._on_loop(self.stop.set)

    def cancel(self) -> None:
        """Cancel the task."""
        self._on_loop(lambda: self._task is not None and self._task.cancel())

    def set_deadline(self, seconds: float, overdue: Callable[[], None]) -> None:
        """Call `overdue` unless `end` comes first."""

        def arm() -> None:
            if not self.ended:
                self._timer = self.loop.call_later(seconds, overdue, context=contextvars.Context())

        self._on_loop(arm)

    def end(self) -> None:
        """Say that there is nothing to close any more."""
        self.ended = True
        if self._timer is not None:
            self._timer.cancel()

    def _on_loop(self, action: Callable[[], object]) -> None:
        if running_loop() is self.loop:
            action()
            return
        with contextlib.suppress(RuntimeError):  # its loop has just ended
            self.loop.call_soon_threadsafe(action)


class Slot(Generic[T]):
    """One key and, while it is `READY`, its instance."""

    __slots__ = (
        "built_at",
        "companion",
        "context",
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

    target: T

    def __init__(self, key: Key) -> None:
        self.key = key
        self.context: ScopeContext[Any] | None = None
        self.companion: object = None  # what an integration keeps beside the instance
        self.state = State.SEEKING
        self.leases = 0
        self.retired = False  # no new lease: closed as soon as it is idle
        self.built_at = 0.0
        self.idle_since = 0.0
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

    def turn_away(self) -> list[Waiter]:
        """Empty the queue and return who stood in it."""
        waiters, self.waiters = list(self.waiters), _NOBODY
        return waiters

    def clear(self) -> None:
        """Forget the instance; the key and its queue stay."""
        if hasattr(self, "target"):
            del self.target
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


_NOBODY: deque[Waiter] = deque(maxlen=0)
