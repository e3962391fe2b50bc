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

from scoped_registration.runtime.claims import Holder, claim
from scoped_registration.runtime.comparison import Comparison
from scoped_registration.runtime.single_flight import (
    Factory,
    check_product,
    closer_of,
    manager_of,
    produce,
)
from scoped_registration.runtime.slot import Slot
from scoped_registration.runtime.tasks import Owner, running_loop
from scoped_registration.scope import ScopeContext

__all__ = ["Given", "Ledger", "Life", "LoopEndedError", "Made"]

T = TypeVar("T")


class LoopEndedError(Exception):
    """The event loop that an instance belonged to is gone; nothing can close it."""


class Ledger(Holder, Protocol[T]):
    """What a life reports to: the pool's keeper. It tells a late report by its owner."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop in which a caller waited last."""
        ...

    def built(self, slot: Slot[T], owner: Owner | None, target: T, *, stays_open: bool) -> bool:
        """Serve a new instance; False if it came too late, and nobody will close it."""
        ...

    def ended(
        self,
        slot: Slot[T],
        owner: Owner | None,
        error: BaseException | None,
        *,
        refused: bool = False,
    ) -> None:
        """Free the slot of an instance that has ended or did not come to be."""
        ...


class Life(Protocol[T]):
    """Begins and ends instances. Both are called under the pool's mutex."""

    def begin(self, slot: Slot[T], context: ScopeContext[Any], ledger: Ledger[T], /) -> None:
        """Begin to build."""
        ...

    def end(self, slot: Slot[T], ledger: Ledger[T], /) -> bool:
        """Begin to close; False if no event loop is there now in which to close."""
        ...

    def core(self, product: object, /) -> object:
        """Return what keeps the state of a product: no other key may have it."""
        ...

    def reset(self) -> None:
        """Forget the instances that were made: all have ended."""
        ...

    @property
    def given(self) -> object:
        """The instance that exists already; None where instances are made."""
        ...


class Given(Generic[T]):
    """An instance that exists already and belongs to the user, who closes it."""

    def __init__(self, target: T) -> None:
        self.given: T = target

    def begin(self, slot: Slot[T], _context: ScopeContext[Any], ledger: Ledger[T], /) -> None:
        """Put the instance into the slot."""
        ledger.built(slot, None, self.given, stays_open=False)

    def end(self, slot: Slot[T], ledger: Ledger[T], /) -> bool:
        """Take it out again."""
        ledger.ended(slot, slot.owner, None)
        return True

    def core(self, product: object, /) -> object:
        """Return the instance itself."""
        return product

    def reset(self) -> None:
        """Forget nothing: the instance is the user's."""


class Made(Generic[T]):
    """Instances made by a factory, which are closed by whoever had them made: the pool.

    Args:
        factory: The declared factory.
        accept: Raises for a product that cannot be served.
        manager: The context manager that a product is, if it is to be entered.
        core: What keeps the state of a product that is a wrapper around it.
        comparison: Refuses an instance that shares state with another key's; None where all
            keys are of one principal.
    """

    def __init__(
        self,
        factory: Factory,
        *,
        accept: Callable[[object], None] = check_product,
        manager: Callable[[object], AbstractAsyncContextManager[object] | None] = manager_of,
        core: Callable[[object], object] = lambda product: product,
        comparison: Comparison | None = None,
    ) -> None:
        self._factory = factory
        self._core = core
        self._accept = accept
        self._manager = manager
        self._comparison = comparison

    @property
    def given(self) -> None:
        """Nothing: each instance is made."""

    def core(self, product: object, /) -> object:
        """Return what keeps the state of a product."""
        return self._core(product)

    def reset(self) -> None:
        """Forget what products are compared with."""
        if self._comparison is not None:
            self._comparison.reset()

    def begin(self, slot: Slot[T], context: ScopeContext[Any], ledger: Ledger[T], /) -> None:
        """Start the build in a task of its own, in the context of the first who waits."""
        first = slot.waiters[0]
        owner = slot.owner = Owner(first.loop)
        owner.run(
            lambda: self._live(slot, owner, context, ledger),
            first.context,
            lambda: ledger.ended(slot, owner, asyncio.CancelledError()),
        )

    async def _live(
        self, slot: Slot[T], owner: Owner, context: ScopeContext[Any], ledger: Ledger[T]
    ) -> None:
        try:
            refusal = await self._serve(slot, owner, context, ledger)
        except BaseException as error:
            ledger.ended(slot, owner, error)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
        else:
            ledger.ended(slot, owner, refusal, refused=refusal is not None)

    async def _serve(
        self, slot: Slot[T], owner: Owner, context: ScopeContext[Any], ledger: Ledger[T]
    ) -> Exception | None:
        """Build the instance and keep it open as long as it is wanted.

        Returns:
            Why the product was refused. It is not raised: a manager may swallow that.
        """
        product = await produce(self._factory, context)
        refusal = self._refusal(check_product, product)
        if refusal is None:
            refusal = self._refusal(lambda own: claim(own, slot, owner, ledger), product)
        if refusal is not None:
            return refusal  # an object of another key is not closed here
        manager = self._manager(product)
        if manager is None:
            target = cast(T, product)  # the declared type of the factory says that it is one
            refusal, served = self._refusal(self._accept, target), False
            if refusal is None:
                refusal, served = self._offer(slot, owner, target, ledger, stays_open=False)
            if not served:
                await _close(closer_of(target))
            return refusal
        async with manager as entered:
            refusal = self._refusal(self._accept, entered)
            if refusal is None:
                refusal = self._refusal(lambda own: claim(own, slot, owner, ledger), entered)
            if refusal is None:
                target = cast(T, entered)
                refusal, served = self._offer(slot, owner, target, ledger, stays_open=True)
                if served:
                    await owner.stop.wait()
        return refusal

    def _offer(
        self, slot: Slot[T], owner: Owner, target: T, ledger: Ledger[T], *, stays_open: bool
    ) -> tuple[Exception | None, bool]:
        """Serve an instance, unless it is refused, with what is returned, or comes too late."""
        comparison = self._comparison
        with ledger.mutex:  # until it is served: loops may build two that share at once
            if comparison is not None:
                refusal = self._refusal(
                    lambda own: comparison.check(own, slot.key, ledger.slots), target
                )
                if refusal is not None:
                    return refusal, False
            return None, ledger.built(slot, owner, target, stays_open=stays_open)

    @staticmethod
    def _refusal(check: Callable[[object], None], product: object) -> Exception | None:
        try:
            check(product)
        except Exception as error:
            return error
        return None

    def end(self, slot: Slot[T], ledger: Ledger[T], /) -> bool:
        """Begin to close the instance; the ledger hears when it is done."""
        owner = slot.owner
        if owner is not None:
            if owner.ended:
                ledger.ended(slot, owner, None)
            elif owner.loop.is_closed():
                ledger.ended(slot, owner, LoopEndedError())
            else:
                owner.request_stop()
            return True
        try:
            closer = closer_of(slot.target)
        except BaseException as error:  # a property of the user's class
            ledger.ended(slot, None, error)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return True
        if closer is None:
            ledger.ended(slot, None, None)
            return True
        loop = running_loop() or ledger.loop
        if loop is None or loop.is_closed():
            return False
        closing = slot.owner = Owner(loop)
        closing.run(
            lambda: self._end(slot, closing, closer, ledger),
            contextvars.Context(),
            lambda: ledger.ended(slot, closing, asyncio.CancelledError()),
        )
        return True

    async def _end(
        self, slot: Slot[T], owner: Owner, closer: Callable[[], object], ledger: Ledger[T]
    ) -> None:
        try:
            await _close(closer)
        except BaseException as error:
            ledger.ended(slot, owner, error)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
        else:
            ledger.ended(slot, owner, None)


async def _close(closer: Callable[[], object] | None) -> None:
    answer = None if closer is None else closer()
    if inspect.isawaitable(answer):
        await answer
