"""One build per key: what a factory is called with, and what may come out of it.

The pool runs `produce` in a task of its own, so no caller's cancellation reaches a
build that others wait for (promise P3). The same task then enters and leaves a
context-managed product (promise P8).
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from enum import Enum
from typing import Any, cast

from scoped_registration.errors import ReasonCode, RegistrationError, describe_type
from scoped_registration.scope import ScopeContext

__all__ = ["ATOMS", "Factory", "check_product", "closer_of", "manager_of", "produce"]

Factory = Callable[[ScopeContext[Any]], object]
"""A declared factory; what it returns is checked when it returns it."""

ATOMS = (str, bytes, int, float, complex, Enum)
"""Values without state: one of them under two keys shares nothing."""

_NEVER_A_TARGET = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.GeneratorType,
    types.AsyncGeneratorType,
    types.CoroutineType,
)


async def produce(factory: Factory, context: ScopeContext[Any]) -> object:
    """Call a factory and await what it returns, whatever kind of callable it is.

    A context manager is to be entered, also if it can be awaited instead: the types of
    `ScopedFactory` read it in the same order.
    """
    product = factory(context)
    if inspect.isawaitable(product) and not _is_async(product):
        product = await product
    return product


def check_product(product: object) -> None:
    """Refuse a product that cannot keep state for a principal.

    Raises:
        RegistrationError: ``factory_returned``.
    """
    if not _never_a_target(product):
        return
    if inspect.iscoroutine(product):
        product.close()
    what = f"the class {product.__qualname__}" if isinstance(product, type) else None
    raise RegistrationError(
        ReasonCode.FACTORY_RETURNED,
        f"the factory returned {what or f'a {describe_type(product)}'}, not an instance",
        instead="return the object that the endpoint serves; "
        "decorate a generator with contextlib.asynccontextmanager",
    )


def _never_a_target(product: object) -> bool:
    return product is None or isinstance(product, _NEVER_A_TARGET)


def manager_of(product: object) -> AbstractAsyncContextManager[object] | None:
    """Return the context manager that a product is, lifted to async; None if it is plain."""
    manager: Any = product  # generic in what it yields, which is checked when it is entered
    if _is_async(product):
        return cast("AbstractAsyncContextManager[object]", manager)
    if isinstance(manager, AbstractContextManager):
        return _lifted(cast("AbstractContextManager[object]", manager))
    return None


def _is_async(product: object) -> bool:
    return isinstance(product, AbstractAsyncContextManager)


@contextlib.asynccontextmanager
async def _lifted(manager: AbstractContextManager[object]) -> AsyncGenerator[object, None]:
    with manager as target:
        yield target


def closer_of(target: object) -> Callable[[], object] | None:
    """Return how a plain product closes: its `aclose`, else its `close`, else nothing."""
    for name in ("aclose", "close"):
        closer: object = getattr(target, name, None)
        if callable(closer):
            return closer
    return None
