"""Event loops, and the one task in which an instance is built, kept open and closed."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

__all__ = ["Owner", "on_loop", "running_loop"]


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, or None outside of one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def on_loop(loop: asyncio.AbstractEventLoop, action: Callable[[], object]) -> bool:
    """Do something on a loop, from whichever thread; False if the loop has ended."""
    if running_loop() is loop:
        action()
        return True
    try:
        loop.call_soon_threadsafe(action)
    except RuntimeError:
        return False
    return True


class Owner:
    """The one task that builds an instance, keeps it open and closes it."""

    __slots__ = ("_task", "_timer", "cancelled", "ended", "loop", "products", "stop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop: asyncio.AbstractEventLoop = loop
        self.stop: asyncio.Event = asyncio.Event()
        self.ended: bool = False
        self.products: tuple[object, ...] = ()  # what came out of the factory
        self.cancelled: bool = False  # by the pool
        self._task: asyncio.Task[None] | None = None
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    def run(
        self,
        work: Callable[[], Coroutine[Any, Any, None]],
        context: contextvars.Context,
        not_started: Callable[[], None],
    ) -> None:
        """Run the task on the owner's loop, from whichever thread, in a given context.

        Args:
            work: What the task does. It ends normally, even when it is cancelled.
            context: The context variables of the task.
            not_started: Called when the task was cancelled before its first step.
        """

        def done(task: asyncio.Task[None]) -> None:
            if task.cancelled() and not self.ended:
                not_started()

        def start() -> None:
            self._task = self.loop.create_task(work(), context=context)
            self._task.add_done_callback(done, context=contextvars.Context())
            if self.cancelled:
                self._task.cancel()

        on_loop(self.loop, start)

    @property
    def has_deadline(self) -> bool:
        """Whether something is to happen unless it ends before."""
        return self._timer is not None

    def made(self, product: object) -> bool:
        """Whether an object came out of the factory in this task."""
        return any(own is product for own in self.products)

    def request_stop(self) -> None:
        """Let the task close what it keeps open."""
        on_loop(self.loop, self.stop.set)

    def cancel(self) -> None:
        """Cancel the task, now or as soon as it starts."""
        self.cancelled = True
        on_loop(self.loop, lambda: self._task is not None and self._task.cancel())

    def set_deadline(self, seconds: float, overdue: Callable[[], None]) -> None:
        """Call `overdue` unless `end` or another deadline comes first."""
        loop = self.loop if self.loop.is_running() else running_loop() or self.loop

        def arm() -> None:
            self.disarm()
            if not self.ended:
                timer = loop.call_later(seconds, overdue, context=contextvars.Context())
                self._timer = loop, timer

        on_loop(loop, arm)

    def end(self) -> None:
        """Say that there is nothing to close any more."""
        self.ended = True
        self.disarm()

    def disarm(self) -> None:
        """Forget the deadline."""
        timer, self._timer = self._timer, None
        if timer is not None:
            on_loop(timer[0], timer[1].cancel)
