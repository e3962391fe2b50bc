"""P8: every instance that was built is closed exactly once, and none that was given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from scoped_registration.runtime.life import Given
from scoped_registration.runtime.options import Bounds, Policy
from scoped_registration.runtime.pool import Pool
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import (
    Clock,
    House,
    assert_empty,
    hold,
    keeper_of,
    pool_of,
    until,
    use,
)


class Both:
    def __init__(self) -> None:
        self.closed: list[str] = []

    async def aclose(self) -> None:
        self.closed.append("aclose")

    def close(self) -> None:
        self.closed.append("close")


class Synchronous:
    def __init__(self) -> None:
        self.closed: list[str] = []

    def close(self) -> None:
        self.closed.append("close")


class Later:
    def __init__(self) -> None:
        self.closed: list[str] = []

    def close(self) -> Awaitable[None]:
        return self._close()

    async def _close(self) -> None:
        await asyncio.sleep(0)
        self.closed.append("awaited")


class NotCallable:
    aclose = None

    def __init__(self) -> None:
        self.closed: list[str] = []


@pytest.mark.parametrize(
    ("target", "closed"),
    [(Both, ["aclose"]), (Synchronous, ["close"]), (Later, ["awaited"]), (NotCallable, [])],
)
async def test_how_a_plain_product_closes(target: type[Both], closed: list[str]) -> None:
    pool = pool_of(lambda _: target())
    instance = await use(pool)
    await pool.drain(final=False)
    await pool.drain(final=True)
    assert instance.closed == closed
    assert_empty(pool)


async def test_given_instances_are_never_closed() -> None:
    given = Both()
    pool = Pool("chat", Given(given), bounds=Bounds(), policy=Policy())
    assert await use(pool) is given
    assert await use(pool, "bob") is given
    pool.invalidate(lambda _: True)
    assert await use(pool) is given
    await pool.drain(final=True)
    assert given.closed == []
    assert_empty(pool)


class Property:
    @property
    def aclose(self) -> object:
        raise ValueError("s3cret")


class Raising:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def aclose(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("target", "reported"),
    [
        (lambda: Raising(ValueError("s3cret")), ValueError),
        (lambda: Raising(asyncio.CancelledError("s3cret")), RuntimeError),
        (Property, ValueError),
    ],
)
async def test_a_failing_close_is_counted_logged_and_raised_in_a_group(
    target: Callable[[], object],
    reported: type[Exception],
    house: House,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def build(context: ScopeContext[Any]) -> object:
        return target() if context.scope == "alice" else await house.build(context)

    pool = pool_of(build)
    await use(pool, "alice")
    await use(pool, "bob")
    with pytest.raises(ExceptionGroup) as caught:
        await pool.drain(final=True)
    assert [type(error) for error in caught.value.exceptions] == [reported]
    assert house.closings == [1]
    figures = pool.statistics()
    assert (figures.close_failures, figures.closed, figures.built) == (1, 2, 2)
    assert "did not close properly" in caplog.text
    assert "s3cret" not in caplog.text
    assert_empty(pool)


async def test_a_failure_before_the_shutdown_is_not_raised_by_it() -> None:
    pool = pool_of(lambda _: Raising(ValueError()))
    await use(pool)
    pool.invalidate(lambda _: True)
    await until(lambda: pool.statistics().close_failures)
    await pool.drain(final=True)


async def test_a_hanging_close_is_given_up_and_blocks_no_other(house: House) -> None:
    pool = pool_of(house.build, close_timeout=0.01)
    for scope in ("alice", "bob", "carol"):
        await use(pool, scope)
    house.door.clear()
    pool.invalidate(lambda key: key[0] == "alice")
    await until(lambda: house.closings == [1, 0, 0])
    house.door.set()
    pool.invalidate(lambda key: key[0] == "bob")
    house.door = asyncio.Event()
    house.door.set()
    await until(lambda: pool.statistics().live == 1)

    house.door.clear()
    with pytest.raises(ExceptionGroup) as caught:
        await pool.drain(final=False)
    assert [type(error) for error in caught.value.exceptions] == [TimeoutError]
    figures = pool.statistics()
    assert (figures.close_failures, figures.closed) == (1, 3)
    assert house.closings == [1, 1, 1]
    assert_empty(pool)


async def test_a_hanging_close_is_cancelled_and_heard_no_more() -> None:
    cancelled = asyncio.Event()

    class Hanging:
        async def aclose(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

    pool = pool_of(lambda _: Hanging(), close_timeout=0.01)
    await use(pool)
    pool.invalidate(lambda _: True)
    again = await use(pool)  # waits for the old one to be given up
    await cancelled.wait()
    await asyncio.sleep(0)
    figures = pool.statistics()
    assert (figures.close_failures, figures.closed, figures.live) == (1, 1, 1)
    assert await use(pool) is again


async def test_closed_once_whoever_asks_how_often(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock)
    holder = await hold(pool)
    house.door.clear()
    pool.invalidate(lambda _: True)
    pool.invalidate(lambda _: True)
    await holder.end()
    clock.advance(10_000)
    keeper_of(pool).sweep()
    drains = [asyncio.create_task(pool.drain(final=last)) for last in (False, True, False)]
    await until(lambda: house.closings == [1])
    house.door.set()
    await asyncio.gather(*drains)
    assert house.closings == [1]
    assert pool.statistics().closed == 1
