"""An event loop whose time is a clock: nothing waits for real, and a deadlock fails at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable

import pytest

from tests.unit.runtime.support import Clock

_END_OF_TIME = 1e7  # seconds: from here on a float rounds away what asyncio calls a moment


class StuckError(Exception):
    """Everybody waits, and nothing will ever wake them."""


class _Impatient(selectors.SelectSelector):
    """Where an event loop would sleep, its clock moves on instead, or it is told to rest."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self.rest: Callable[[], None] | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and (timeout is None or timeout > 0):
            if self.rest is not None:
                self.rest()
            elif timeout is None or self._clock.now > _END_OF_TIME:
                raise StuckError
            else:
                self._clock.advance(timeout)
        return ready


class ClockLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is a `Clock`.

    Timers fire when a test advances the clock, or when nothing else is left to do: then the
    clock jumps to the next timer. So nothing waits for real, and a deadlock is a failure at
    once. It is no loop for work in threads, whose results it does not await.
    """

    def __init__(self) -> None:
        self.clock = Clock()
        self._impatient = _Impatient(self.clock)
        super().__init__(self._impatient)

    def time(self) -> float:
        return self.clock.now

    def settle(self) -> None:
        """Run until nothing is left to do at this moment of the clock."""
        self._impatient.rest = self.stop
        try:
            self.run_forever()
        finally:
            self._impatient.rest = None

    def step(self) -> None:
        """Run what is ready now, and nothing that this makes ready."""
        self.call_soon(self.stop)
        self.run_forever()


@pytest.fixture(
    scope="session",
    params=[
        ("asyncio", {"debug": False, "loop_factory": ClockLoop}),
        ("asyncio", {"debug": True, "loop_factory": ClockLoop}),
    ],
    ids=["plain", "debug"],
)
def on_the_clock(request: pytest.FixtureRequest) -> object:
    """What a module makes its `anyio_backend`: each test as usual, and in asyncio's debug mode."""
    backend: object = request.param
    return backend


def loop_clock() -> Clock:
    """Return the clock of the running loop, for the pool to share."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ClockLoop)
    return loop.clock
