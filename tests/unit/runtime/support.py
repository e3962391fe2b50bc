"""What the pool's tests build on: a clock, targets that count, and ways to wait."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Literal, TypeVar

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.registration import Registration
from scoped_registration.runtime.keeper import Keeper
from scoped_registration.runtime.life import Made
from scoped_registration.runtime.options import Bounds, Policy
from scoped_registration.runtime.pool import Pool
from scoped_registration.scope import ScopeContext

T = TypeVar("T")


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class Chat:
    """A plain target that knows how often it was closed."""

    def __init__(self, house: House, key: tuple[str, str]) -> None:
        self.house = house
        self.key = key
        self.closings = 0

    async def aclose(self) -> None:
        self.closings += 1
        await self.house.door.wait()


class House:
    """A factory of chats. Its `gate` holds builds back, its `door` closings."""

    def __init__(self) -> None:
        self.chats: list[Chat] = []
        self.calls = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.door = asyncio.Event()
        self.door.set()
        self.fails: list[BaseException] = []

    async def build(self, context: ScopeContext[Any]) -> Chat:
        self.calls += 1
        await self.gate.wait()
        if self.fails:
            raise self.fails.pop(0)
        chat = Chat(self, (context.scope, context.thread_id))
        self.chats.append(chat)
        return chat

    @property
    def closings(self) -> list[int]:
        return [chat.closings for chat in self.chats]


class Plain:
    def __init__(self) -> None:
        self.closings = 0

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closings += 1


class Factory:
    """Builds plain products, or managed ones, and counts."""

    def __init__(self, managed: bool = False) -> None:
        self.built: list[Plain] = []
        self.managed = managed

    def __call__(self, context: ScopeContext[Any]) -> object:
        return self.manage() if self.managed else self.make()

    def make(self) -> Plain:
        self.built.append(Plain())
        return self.built[-1]

    @contextlib.asynccontextmanager
    async def manage(self) -> AsyncGenerator[Plain, None]:
        product = self.make()
        try:
            yield product
        finally:
            product.closings += 1

    @property
    def closings(self) -> list[int]:
        return [product.closings for product in self.built]


def pool_of(
    factory: Callable[[ScopeContext[Any]], object],
    clock: Clock | None = None,
    *,
    mode: Literal["queue", "reject"] = "queue",
    max_waiting: int = 1000,
    wait_timeout: float = 30.0,
    **bounds: Any,  # the options of Bounds
) -> Pool[Any]:
    return Pool(
        "chat",
        Made(factory),
        bounds=Bounds(**bounds),
        policy=Policy(mode=mode, max_waiting=max_waiting, wait_timeout=wait_timeout),
        clock=clock or Clock(),
    )


def keeper_of(pool: Pool[Any]) -> Keeper[Any]:
    return pool._keeper  # pyright: ignore[reportPrivateUsage]  # tests look inside


def pool_in(registration: Registration[Any]) -> Pool[Any]:
    return registration._pool  # pyright: ignore[reportPrivateUsage]  # tests look inside


async def use(pool: Pool[T], scope: str = "alice", thread: str = "1") -> T:
    """Lease once and return the target."""
    async with pool.lease((scope, thread), scope) as target:
        return target


async def until(holds: Callable[[], object]) -> None:
    """Let the other tasks run until something holds."""
    for _ in range(20_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to hold")


def many(count: int) -> int:
    """Return how many of something: far fewer in debug mode, which is slow."""
    return max(100, count // 40) if asyncio.get_running_loop().get_debug() else count


async def code_of(attempt: Awaitable[object]) -> ReasonCode | None:
    """Return the code that an attempt is refused with; None if it is not."""
    try:
        await attempt
    except RegistrationError as error:
        return error.code
    return None


class Holder:
    """A task that leases a key and keeps it until it is told to let go."""

    def __init__(self, pool: Pool[Any], scope: str = "alice", thread: str = "1") -> None:
        self.held = asyncio.Event()
        self.let_go = asyncio.Event()
        self.target: Any = None
        self.task = asyncio.create_task(self._hold(pool, scope, thread))

    async def _hold(self, pool: Pool[Any], scope: str, thread: str) -> None:
        async with pool.lease((scope, thread), scope) as self.target:
            self.held.set()
            await self.let_go.wait()

    async def end(self) -> None:
        self.let_go.set()
        await self.task


async def hold(pool: Pool[Any], scope: str = "alice", thread: str = "1") -> Holder:
    holder = Holder(pool, scope, thread)
    await holder.held.wait()
    return holder


def assert_empty(pool: Pool[Any]) -> None:
    """Nothing is left: no instance, slot, share, waiter or seeker."""
    figures = pool.statistics()
    assert (figures.live, figures.scopes, figures.waiting, figures.seeking) == (0, 0, 0, 0)
    assert (figures.leased, figures.building, figures.closing, figures.pinned) == (0, 0, 0, 0)
    assert not keeper_of(pool).slots
