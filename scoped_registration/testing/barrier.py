"""Requests that overlap on purpose: each waits, wherever it can be held, for all the others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum

import anyio

__all__ = ["Barrier", "Point"]


class Point(StrEnum):
    """Where a request can be held."""

    BODY = "about to read the body"
    MODEL = "at the model"
    START = "starting to answer"
    ANSWER = "answering"


class Barrier:
    """Lets requests go on only when each of them is held or has ended.

    It does so again and again, at whichever points a request passes. A request that waits
    for another one inside the application never comes to be held: after `timeout` seconds
    the barrier opens for good.
    """

    def __init__(self, parties: Iterable[Hashable], timeout: float) -> None:
        self._running = set(parties)
        self._held: dict[Hashable, Point] = {}
        self._opening = anyio.Event()
        self._timeout = timeout
        self._open = False
        self._together = dict.fromkeys(Point, 0)

    async def hold(self, who: Hashable, point: Point) -> None:
        """Wait for the others, unless that was in vain before."""
        if self._open or who not in self._running:
            return
        self._held[who] = point
        at_this_point = sum(held is point for held in self._held.values())
        self._together[point] = max(self._together[point], at_this_point)
        opening = self._opening
        self._go_on_if_complete()
        with anyio.move_on_after(self._timeout) as scope:
            await opening.wait()
        if scope.cancelled_caught and not opening.is_set():
            self._open = True
            self._go_on()

    def leave(self, who: Hashable) -> None:
        """Tell that a request has ended."""
        self._running.discard(who)
        self._held.pop(who, None)
        self._go_on_if_complete()

    def together(self) -> tuple[int, Point]:
        """Return how many were held at once: at the model, or answering where it was not seen."""
        point = Point.MODEL if self._together[Point.MODEL] else Point.ANSWER
        return self._together[point], point

    def _go_on_if_complete(self) -> None:
        if len(self._held) == len(self._running):
            self._go_on()

    def _go_on(self) -> None:
        self._held.clear()
        self._opening.set()
        self._opening = anyio.Event()
