"""Requests that are held: some so that they overlap, one so that another comes meanwhile."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum
from typing import Protocol

import anyio

__all__ = ["Barrier", "Gate", "Holds", "Point"]


class Point(StrEnum):
    """Where a request can be held."""

    BODY = "about to read the body"
    MODEL = "at the model"
    START = "starting to answer"
    ANSWER = "answering"
    END = "at the end of its answer"


class Holds(Protocol):
    """What holds requests."""

    async def hold(self, who: Hashable, point: Point) -> None:
        """Keep a request waiting, or do not."""
        ...

    def leave(self, who: Hashable) -> None:
        """Tell that a request has ended."""
        ...


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
        if self._together[Point.MODEL]:
            return self._together[Point.MODEL], Point.MODEL
        return max(self._together[Point.ANSWER], self._together[Point.END]), Point.ANSWER

    def _go_on_if_complete(self) -> None:
        if len(self._held) == len(self._running):
            self._go_on()

    def _go_on(self) -> None:
        self._held.clear()
        self._opening.set()
        self._opening = anyio.Event()


class Gate:
    """Holds one request, where the application works on it, until it is told to let go.

    Args:
        who: The request.
        at: Where it is held. In its answer, that is after a first part and before the last
            one: a handler that has returned holds nothing of the application.
    """

    def __init__(self, who: Hashable, at: Point) -> None:
        self.held: bool = False
        self._who = who
        self._at = at
        self._parts = 0
        self._settled = anyio.Event()
        self._opening = anyio.Event()

    async def hold(self, who: Hashable, point: Point) -> None:
        """Wait until the gate opens."""
        if who != self._who or point is not self._at or self._opening.is_set():
            return
        self._parts += 1
        if point is Point.ANSWER and self._parts == 1:
            return
        self.held = True
        self._settled.set()
        await self._opening.wait()

    def leave(self, who: Hashable) -> None:
        """Tell that a request has ended."""
        if who == self._who:
            self._settled.set()

    async def settled(self) -> None:
        """Wait until the request is held, or has ended."""
        await self._settled.wait()

    def open(self) -> None:
        """Let the request go on."""
        self._opening.set()
