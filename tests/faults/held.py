"""Builds and closings that wait until a rule of the model ends them, one way or another."""

from __future__ import annotations

import asyncio

from scoped_registration.runtime.slot import Key


class FaultError(Exception):
    """A fault that a rule put there."""


class Held:
    """A build or a closing that waits for a rule to end it."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.task = asyncio.current_task()
        self.end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.retired = False  # of a build: invalidated before it was done
        self.alone_since: float | None = None  # of a build: since nobody waits for it

    def finish(self, how: str) -> None:
        if self.end.done():
            return
        if how == "is cancelled":
            assert self.task is not None
            self.task.cancel()
        elif how == "fails":
            self.end.set_exception(FaultError())
        else:
            self.end.set_result(None)
