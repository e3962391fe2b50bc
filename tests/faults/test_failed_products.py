"""P3: what a build made before it failed is not kept in memory."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from scoped_registration.errors import RegistrationError
from scoped_registration.scope import ScopeContext
from tests.faults.clock_loop import on_the_clock
from tests.faults.cold_key import (
    CALLERS,
)
from tests.faults.support import registration_of
from tests.unit.runtime.support import assert_empty, pool_in, until

anyio_backend = on_the_clock


class Heavy:
    """Something that must not stay in memory."""


async def raising(product: Heavy) -> Heavy:
    raise ValueError(product)


async def hanging(product: Heavy) -> Heavy:
    await asyncio.Event().wait()
    return product


@contextlib.asynccontextmanager
async def not_entered(product: Heavy) -> AsyncGenerator[Heavy, None]:
    await raising(product)
    yield product


@pytest.mark.parametrize("build", [raising, hanging, not_entered])
async def test_nothing_holds_the_product_of_a_build_that_failed(
    build: Callable[[Heavy], object],
) -> None:
    products: list[weakref.ref[Heavy]] = []
    tasks: list[asyncio.Task[Any]] = []

    def factory(context: ScopeContext[Any]) -> object:
        product = Heavy()
        products.append(weakref.ref(product))
        tasks.extend(task for task in [asyncio.current_task()] if task is not None)
        return build(product)

    async def attempt() -> object:
        async with registration.lease("alice", "1") as target:
            return target

    registration = registration_of(factory)
    callers = [asyncio.create_task(attempt()) for _ in range(CALLERS)]
    await until(lambda: tasks)
    if build is hanging:
        tasks[0].cancel()
    tasks.clear()
    errors = await asyncio.gather(*callers, return_exceptions=True)
    assert {type(error) for error in errors} == {RegistrationError}
    gc.collect()
    assert products[0]() is not None  # the callers' errors tell where it failed
    del errors, callers
    await asyncio.sleep(0)
    gc.collect()
    assert [product() for product in products] == [None]
    assert_empty(pool_in(registration))
