"""An inn: a factory of guests who notice what is done to them, and which counts who is there."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any

from scoped_registration.runtime.slot import Key
from scoped_registration.scope import ScopeContext, Share


class Guest:
    """A target that notices who uses it, and how often it is closed."""

    def __init__(self, inn: Inn, key: Key) -> None:
        self.inn = inn
        self.key = key
        self.users = 0
        self.closings = 0

    @contextlib.contextmanager
    def used(self) -> Generator[None, None, None]:
        """Use it: alone, and never once it is closed."""
        self.inn.expect(not self.users, "two runs at once")
        self.users += 1
        try:
            self.inn.expect(not self.closings, "used when closed")
            yield
            self.inn.expect(not self.closings, "closed while used")
        finally:
            self.users -= 1

    def begin_closing(self) -> None:
        self.closings += 1
        self.inn.expect(self.closings == 1, "closed twice")
        self.inn.expect(not self.users, "closed while used")


class PlainGuest(Guest):
    """A guest whom the pool closes."""

    async def aclose(self) -> None:
        self.begin_closing()
        try:
            await self.inn.on_closing(self.key)
        finally:
            self.inn.leave(self.key[0])


async def _nothing(key: Key) -> None:
    """Neither hold a build or a closing up, nor let it fail."""


class Inn:
    """A factory of guests that counts who is there, at every moment.

    Args:
        managed: Whether guests are context managers.

    `on_building` and `on_closing` are where a test injects faults.
    """

    def __init__(self, managed: bool = False) -> None:
        self.managed = managed
        self.on_building: Callable[[Key], Awaitable[None]] = _nothing
        self.on_closing: Callable[[Key], Awaitable[None]] = _nothing
        self.guests: list[Guest] = []
        self.calls: Counter[Key] = Counter()
        self.present: Counter[Share] = Counter()  # by scope
        self.most = 0
        self.most_of_a_scope = 0
        self.broken: list[str] = []

    def __call__(self, context: ScopeContext[Any]) -> object:
        key = (context.scope, context.thread_id)
        self.calls[key] += 1
        return self._manage(key) if self.managed else self._make(key)

    async def _make(self, key: Key) -> PlainGuest:
        self.enter(key[0])
        try:
            await self.on_building(key)
        except BaseException:
            self.leave(key[0])
            raise
        guest = PlainGuest(self, key)
        self.guests.append(guest)
        return guest

    @contextlib.asynccontextmanager
    async def _manage(self, key: Key) -> AsyncGenerator[Guest, None]:
        task = asyncio.current_task()
        self.enter(key[0])
        try:
            await self.on_building(key)
            guest = Guest(self, key)
            self.guests.append(guest)
            try:
                yield guest
            finally:
                guest.begin_closing()
                self.expect(asyncio.current_task() is task, "left in another task")
                await self.on_closing(key)
        finally:
            self.leave(key[0])

    def enter(self, scope: Share) -> None:
        self.present[scope] += 1
        self.most = max(self.most, self.present.total())
        self.most_of_a_scope = max(self.most_of_a_scope, self.present[scope])

    def leave(self, scope: Share) -> None:
        self.present[scope] -= 1

    def expect(self, holds: bool, otherwise: str) -> None:
        """Note a broken promise: raised here, it would pass for a fault of the user's code."""
        if not holds:
            self.broken.append(otherwise)

    def check(self) -> None:
        """Assert that everybody who came has left, once, and that no promise was broken."""
        assert self.broken == []
        assert {guest.closings for guest in self.guests} <= {1}
        assert self.present.total() == 0


def alternating(inn: Inn) -> Callable[[ScopeContext[Any]], object]:
    """Return a factory of both kinds of guests, by turns."""

    def build(context: ScopeContext[Any]) -> object:
        inn.managed = not inn.managed
        return inn(context)

    return build
