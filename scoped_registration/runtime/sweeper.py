"""The one timer of a pool: it fires when the first idle instance is due to leave."""

from __future__ import annotations

import asyncio
import contextvars
import math
from collections.abc import Callable

from scoped_registration.runtime.tasks import on_loop, running_loop

__all__ = ["Sweeper"]


class Sweeper:
    """Calls `sweep` when it is due, on a loop that runs.

    Args:
        sweep: Closes what is due, and plans the next time.
        clock: Monotonic seconds.
    """

    def __init__(self, sweep: Callable[[], None], clock: Callable[[], float]) -> None:
        self._sweep = sweep
        self._clock = clock
        self.due: float = math.inf
        self.loop: asyncio.AbstractEventLoop | None = None
        self.timer: asyncio.TimerHandle | None = None

    def plan(self, due: float) -> None:
        """Sweep at a moment, unless an earlier sweep is planned on a loop that runs."""
        if due >= self.due and self.loop is not None and self.loop.is_running():
            return
        loop = running_loop()
        if loop is None:
            return
        due = min(due, self.due)
        self.cancel()
        if due < math.inf:
            self.due, self.loop = due, loop
            delay = max(0.0, due - self._clock())
            self.timer = loop.call_later(delay, self._sweep, context=contextvars.Context())

    def cancel(self) -> None:
        """Plan nothing any more."""
        if self.loop is not None and self.timer is not None:
            on_loop(self.loop, self.timer.cancel)
        self.due, self.loop, self.timer = math.inf, None, None
