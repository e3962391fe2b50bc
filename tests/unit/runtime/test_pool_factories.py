"""Which callables are factories, and what may come out of them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.life import Made
from scoped_registration.runtime.options import Bounds, Policy
from scoped_registration.runtime.pool import Pool
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import assert_empty, pool_of, until, use

Context = ScopeContext[Any]


class Target:
    def __init__(self, context: Context) -> None:
        self.thread = context.thread_id
        self.closings = 0

    def close(self) -> None:
        self.closings += 1


async def asynchronous(context: Context) -> Target:
    await asyncio.sleep(0)
    return Target(context)


def with_option(option: int, context: Context) -> Target:
    assert option == 1
    return Target(context)


async def with_option_later(option: int, context: Context) -> Target:
    return with_option(option, context)


class Object:
    async def __call__(self, context: Context) -> Target:
        return Target(context)

    def method(self, context: Context) -> Target:
        return Target(context)


@contextlib.asynccontextmanager
async def managed(context: Context) -> AsyncGenerator[Target, None]:
    target = Target(context)
    yield target
    target.close()


@contextlib.contextmanager
def managed_at_once(context: Context) -> Generator[Target, None, None]:
    target = Target(context)
    yield target
    target.close()


async def managed_later(context: Context) -> contextlib.AbstractAsyncContextManager[Target]:
    return managed(context)


def task(context: Context) -> asyncio.Task[Target]:
    return asyncio.create_task(asynchronous(context))


class AwaitableManager:
    """Can be awaited and entered: it is entered, as the types say."""

    def __init__(self, context: Context) -> None:
        self._target = Target(context)

    def __await__(self) -> Generator[Any, None, object]:
        raise AssertionError("awaited")

    async def __aenter__(self) -> Target:
        return self._target

    async def __aexit__(self, *_: object) -> None:
        self._target.close()


KINDS: list[Callable[[Context], object]] = [
    Target,
    asynchronous,
    lambda _: Target(_),  # noqa: PLW0108  # a lambda is a kind of its own
    lambda _: asynchronous(_),  # noqa: PLW0108
    functools.partial(with_option, 1),
    functools.partial(with_option_later, 1),
    Object(),
    Object().method,
    managed,
    managed_at_once,
    managed_later,
    task,
    AwaitableManager,
]


@pytest.mark.parametrize("factory", KINDS)
async def test_each_kind_is_built_served_and_closed_once(
    factory: Callable[[Context], object],
) -> None:
    pool = pool_of(factory)
    target = await use(pool, thread="t")
    assert isinstance(target, Target)
    assert (target.thread, target.closings) == ("t", 0)
    assert await use(pool, thread="t") is target
    await pool.drain(final=True)
    assert target.closings == 1
    assert_empty(pool)


def generator(context: Context) -> Generator[int, None, None]:
    yield 1


async def async_generator(context: Context) -> AsyncGenerator[int, None]:
    yield 1


async def coroutine_of_coroutine(context: Context) -> object:
    return asynchronous(context)


NO_TARGETS: list[Callable[[Context], object]] = [
    lambda context: None,
    lambda context: Target,
    lambda context: contextlib,
    lambda context: len,
    lambda context: Target(context).close,
    lambda context: lambda: None,
    generator,
    async_generator,
    coroutine_of_coroutine,
    lambda context: contextlib.nullcontext(None),
]


@pytest.mark.parametrize("factory", NO_TARGETS)
async def test_what_can_be_no_target_is_refused(factory: Callable[[Context], object]) -> None:
    pool = pool_of(factory)
    with pytest.raises(RegistrationError) as caught:
        await use(pool)
    assert caught.value.code is ReasonCode.FACTORY_RETURNED
    assert_empty(pool)


async def test_a_refused_plain_product_is_closed() -> None:
    products: list[Target] = []

    def build(context: Context) -> Target:
        products.append(Target(context))
        return products[-1]

    def accept(product: object) -> None:
        raise RegistrationError(ReasonCode.STORE_ALREADY_CONFIGURED, "no")

    life: Made[Any] = Made(build, accept=accept)
    pool = Pool("chat", life, bounds=Bounds(), policy=Policy())
    with pytest.raises(RegistrationError) as caught:
        await use(pool)
    assert caught.value.code is ReasonCode.STORE_ALREADY_CONFIGURED
    assert [product.closings for product in products] == [1]
    assert_empty(pool)


@pytest.mark.parametrize("swallows", [True, False])
async def test_a_refused_managed_product_is_left_whatever_was_raised(swallows: bool) -> None:
    left = 0

    @contextlib.asynccontextmanager
    async def build(context: Context) -> AsyncGenerator[Target, None]:
        nonlocal left
        with contextlib.suppress(Exception) if swallows else contextlib.nullcontext():
            yield Target(context)
        left += 1

    def accept(product: object) -> None:
        raise TypeError("a check that fails in an unforeseen way")

    life: Made[Any] = Made(build, accept=accept)
    pool = Pool("chat", life, bounds=Bounds(), policy=Policy())
    with pytest.raises(RegistrationError) as caught:
        await use(pool)
    assert (caught.value.code, left) == (ReasonCode.FACTORY_FAILED, 1)
    assert_empty(pool)


# One object under two keys


async def refused_as_shared(pool: Pool[Any]) -> None:
    with pytest.raises(RegistrationError) as caught:
        await use(pool, "bob")
    assert caught.value.code is ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE


async def test_a_shared_plain_object_is_refused_and_stays_open() -> None:
    shared = Target(ScopeContext("chat", "alice", "1", "alice"))
    pool = pool_of(lambda _: shared)
    async with pool.lease(("alice", "1"), "alice") as target:
        await refused_as_shared(pool)
        assert target is shared
    assert await use(pool) is shared
    assert shared.closings == 0
    await pool.drain(final=True)
    assert shared.closings == 1


class SharedManager:
    """Yields another object than itself, and counts."""

    def __init__(self) -> None:
        self.entering = asyncio.Event()
        self.go_on = asyncio.Event()
        self.entered = self.left = 0

    async def __aenter__(self) -> list[str]:
        self.entered += 1
        self.entering.set()
        await self.go_on.wait()
        return []

    async def __aexit__(self, *_: object) -> None:
        self.left += 1


@pytest.mark.parametrize("during_the_build", [True, False])
async def test_a_shared_manager_is_entered_once(during_the_build: bool) -> None:
    manager = SharedManager()
    pool = pool_of(lambda _: manager)
    first = asyncio.create_task(use(pool))
    await manager.entering.wait()
    if during_the_build:
        await refused_as_shared(pool)
    manager.go_on.set()
    await first
    await refused_as_shared(pool)
    assert (manager.entered, manager.left) == (1, 0)
    assert await use(pool) == []
    await pool.drain(final=True)
    assert (manager.entered, manager.left) == (1, 1)


async def test_an_object_may_come_again_when_its_first_key_is_done_with_it() -> None:
    pool_object: list[str] = []
    pool = pool_of(lambda _: pool_object)
    await use(pool)
    pool.invalidate(lambda _: True)
    await until(lambda: not pool.statistics().live)
    assert await use(pool, "bob") is pool_object


async def test_values_without_state_may_be_equal() -> None:
    pool = pool_of(lambda _: "constant")
    assert await use(pool) == await use(pool, "bob") == "constant"
