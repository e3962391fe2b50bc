"""What a first use costs: how often a factory is called, and how long keys wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tests.benchmarks.figures import LONG, Bar, Figure, Report
from tests.benchmarks.measuring import Subject, alternate
from tests.benchmarks.samples import Chat, register

__all__ = ["report"]

CALLERS = 100
KEYS = 1000
SECONDS = 0.01
"""How long a factory takes."""

IDEAL = KEYS / CALLERS * SECONDS
BARE = "the factory calls alone"
DICT = "dict and an asyncio.Lock per key"
OURS = "scoped_registration"


class Factory:
    """Counts its calls, and waits as a factory that connects to something does."""

    def __init__(self) -> None:
        self.calls = 0
        self.runs = asyncio.Event()

    async def build(self, context: object) -> Chat:
        self.calls += 1
        self.runs.set()
        await asyncio.sleep(SECONDS)
        return Chat()


async def crowd(*, cancel_leader: bool) -> tuple[int, int]:
    """Return the factory calls for many callers of one key, and the bystanders who failed."""
    factory = Factory()
    registration = register(factory.build).lease

    async def use() -> Chat:
        async with registration("alice", "1") as chat:
            return chat

    leader, *others = [asyncio.create_task(use()) for _ in range(CALLERS)]
    if cancel_leader:
        await factory.runs.wait()
        leader.cancel()
    found = await asyncio.gather(*others, return_exceptions=True)
    await asyncio.wait([leader])
    return factory.calls, sum(not isinstance(one, Chat) for one in found)


async def _many(use: Callable[[str], Awaitable[object]]) -> None:
    """Use many keys, some at a time."""
    seats = asyncio.Semaphore(CALLERS)

    async def one(user: str) -> None:
        async with seats:
            await use(user)

    await asyncio.gather(*(one(f"user-{number}") for number in range(KEYS)))


async def bare() -> None:
    factory = Factory()
    await _many(factory.build)


async def with_dict() -> None:
    factory = Factory()
    chats: dict[str, Chat] = {}
    locks: dict[str, asyncio.Lock] = {}

    async def use(user: str) -> None:
        async with locks.setdefault(user, asyncio.Lock()):
            if user not in chats:
                chats[user] = await factory.build(None)

    await _many(use)


async def with_registration() -> None:
    factory = Factory()
    registration = register(factory.build)

    async def use(user: str) -> None:
        async with registration.lease(user, "1"):
            pass

    await _many(use)
    await registration.aclose()


async def _compare() -> Report:
    together, _ = await crowd(cancel_leader=False)
    without_leader, failed = await crowd(cancel_leader=True)
    subjects: dict[str, Subject] = {BARE: bare, DICT: with_dict, OURS: with_registration}
    series = await alternate(subjects, rounds=31 if LONG else 5, warm_up=1)
    wall = series.ratio(OURS)
    bare_wall = series.typical(BARE) / IDEAL
    figures = [
        Figure(f"factory calls, {CALLERS} callers of one key", together, 1, 1),
        Figure("factory calls, the leading caller cancelled", without_leader, 1, 1),
        Figure("bystanders who failed", failed, 0, 0),
        Figure(f"{KEYS:,} keys, {CALLERS} at a time / {BARE}", wall, 1.5, 1.2, 8.0, series.noise),
        # How far this machine is from the ideal without the pool, which has then no part in it.
        Figure(f"{BARE} / {IDEAL * 1000:.0f} ms of waiting", bare_wall),
        Figure(f"{KEYS:,} keys / {IDEAL * 1000:.0f} ms of waiting", wall * bare_wall),
    ]
    bars = [Bar(name, series.ratio(name), name == OURS) for name in subjects]
    return Report(f"Building {KEYS:,} keys", figures, bars, BARE)


def report() -> Report:
    """Measure first uses."""
    return asyncio.run(_compare())
