"""The one timer of a pool: it fires when the first idle instance is due to leave."""

from __future__ import annotations

import asyncio
import contextvars
import math
from collections.abc import Callable

from scoped_registration.runtime.report import report_failure
from scoped_registration.runtime.tasks import on_loop, running_loop

__all__ = ["Sweeper"]

_PAUSE = 60.0
"""Seconds until a sweep that failed is tried again."""


class Sweeper:
    """Calls `sweep` when it is due, on a loop that runs.

    Args:
        name: The registration's name, for the log.
        sweep: Closes what is due, and plans the next time.
        clock: Monotonic seconds.
    """

    def __init__(self, name: str, sweep: Callable[[], None], clock: Callable[[], float]) -> None:
        self._name = name
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
            self._start(loop, max(0.0, due - self._clock()))

    def _start(self, loop: asyncio.AbstractEventLoop, delay: float) -> None:
        self.timer = loop.call_later(delay, self._fire, context=contextvars.Context())

    def _fire(self) -> None:
        """Sweep. One that fails is told of and comes again: idle instances must not stay."""
        try:
            self._sweep()
        except Exception as error:
            report_failure("a sweep failed", self._name, error)
            self.cancel()
            self.due, self.loop = -math.inf, asyncio.get_running_loop()
            self._start(self.loop, _PAUSE)

    def cancel(self) -> None:
        """Plan nothing any more."""
        if self.loop is not None and self.timer is not None:
            on_loop(self.loop, self.timer.cancel)
        self.due, self.loop, self.timer = math.inf, None, None
