"""How an instance comes to be and how it ends.

An instance with a factory lives in a task of its own: the task runs the factory, enters
a context-managed product, keeps it open and leaves it (promises P3 and P8). A plain
product needs the task only until it is built, and again to be closed.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, Protocol, TypeVar, cast

from scoped_registration.errors import RegistrationError
from scoped_registration.runtime.single_flight import (
    Factory,
    check_product,
    closer_of,
    manager_of,
    produce,
)
from scoped_registration.runtime.slot import Owner, Slot, State, running_loop
from scoped_registration.scope import ScopeContext

__all__ = ["Given", "Ledger", "Life", "LoopEnded", "Made"]

T = TypeVar("T")


class LoopEnded(Exception):
    """The event loop that an instance belonged to is gone; nothing can close it."""


class Ledger(Protocol[T]):
    """What a life reports to: the pool."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None: ...
    def built(self, slot: Slot[T], target: T, owner: Owner | None) -> None: ...
    def failed(self, slot: Slot[T], error: BaseException) -> None: ...
    def closed(self, slot: Slot[T], owner: Owner | None, error: BaseException | None) -> None: ...
    def refuse_shared(self, slot: Slot[T], product: object) -> None: ...


class Life(Protocol[T]):
    """Begins and ends instances. Both are called under the pool's mutex."""

    def begin(self, slot: Slot[T], context: ScopeContext[Any], ledger: Ledger[T]) -> None: ...
    def end(self, slot: Slot[T], ledger: Ledger[T]) -> None: ...


class Given(Generic[T]):
    """An instance that exists already and belongs to the user, who closes it."""

    def __init__(self, target: T) -> None:
        self._target = target

    def begin(self, slot: Slot[T], context: ScopeContext[Any], ledger: Ledger[T]) -> None:
        """Put the instance into the slot."""
        ledger.built(slot, self._target, None)

    def end(self, slot: Slot[T], ledger: Ledger[T]) -> None:
        """Take it out again."""
        ledger.closed(slot, slot.owner, None)


class Made(Generic[T]):
    """Instances made by a factory, which are closed by whoever had them made: the pool.

    Args:
        factory: The declared factory.
        accept: Raises for a product that cannot be served.
        manager: The context manager that a product is, if it is to be entered.
    """

    def __init__(
        self,
        factory: Factory,
        *,
        accept: Callable[[object], None] = check_product,
        manager: Callable[[object], AbstractAsyncContextManager[object] | None] = manager_of,
    ) -> None:
        self._factory = factory
        self._accept = accept
        self._manager = manager

    def begin(self, slot: Slot[T], context: ScopeContext[Any], ledger: Ledger[T]) -> None:
        """Start the build in a task of its own, in the context of the first who waits."""
        first = slot.waiters[0]
        owner = slot.owner = Owner(first.loop)
        owner.run(self._live(slot, owner, context, ledger), first.context)

    async def _live(
        self, slot: Slot[T], owner: Owner, context: ScopeContext[Any], ledger: Ledger[T]
    ) -> None:
        try:
            product = await produce(self._factory, context)
            ledger.refuse_shared(slot, product)
            manager = self._manager(product)
            if manager is None:
                ledger.built(slot, self._accepted(product), None)
                return
            refusal: RegistrationError | None = None
            async with manager as target:
                try:
                    ledger.refuse_shared(slot, target)
                    accepted = self._accepted(target)
                except RegistrationError as error:
                    refusal = error  # raised below: a manager may swallow what passes it
                else:
                    ledger.built(slot, accepted, owner)
                    await owner.stop.wait()
            if refusal is not None:
                raise refusal
        except BaseException as error:
            if slot.state is State.BUILDING and slot.owner is owner:
                ledger.failed(slot, error)
            else:
                ledger.closed(slot, owner, error)
            if not isinstance(error, Exception):
                raise
        else:
            ledger.closed(slot, owner, None)

    def _accepted(self, target: object) -> T:
        self._accept(target)
        return cast(T, target)  # the declared type of the factory says that it is one

    def end(self, slot: Slot[T], ledger: Ledger[T]) -> None:
        """Begin to close the instance; the ledger hears when it is done."""
        owner = slot.owner
        if owner is not None:
            if owner.ended:
                ledger.closed(slot, owner, None)
            elif owner.loop.is_closed():
                ledger.closed(slot, owner, LoopEnded())
            else:
                owner.request_stop()
            return
        try:
            closer = closer_of(slot.target)
        except Exception as error:  # a property of the user's class
            ledger.closed(slot, None, error)
            return
        if closer is None:
            ledger.closed(slot, None, None)
            return
        loop = running_loop() or ledger.loop
        if loop is None or loop.is_closed():
            ledger.closed(slot, None, LoopEnded())
            return
        owner = slot.owner = Owner(loop)
        owner.run(self._close(slot, owner, closer, ledger), contextvars.Context())

    async def _close(
        self, slot: Slot[T], owner: Owner, closer: Callable[[], object], ledger: Ledger[T]
    ) -> None:
        try:
            answer = closer()
            if inspect.isawaitable(answer):
                await answer
        except BaseException as error:
            ledger.closed(slot, owner, error)
            if not isinstance(error, Exception):
                raise
        else:
            ledger.closed(slot, owner, None)
