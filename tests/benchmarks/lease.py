"""What it costs to have an instance that is there already."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator

from async_lru import alru_cache
from cachetools import TTLCache

from tests.benchmarks.figures import LONG, Bar, Figure, Report
from tests.benchmarks.measuring import Subject, alternate
from tests.benchmarks.samples import Chat, register

__all__ = ["report"]

USER, THREAD = "user-4711", "thread-0815"
TIMES = 200
"""Leases in one turn."""

DICT = "dict and an asyncio.Lock per key"
NAIVE = "@asynccontextmanager over dict and Lock"
LRU = "async-lru with a TTL (runs overlap)"
TTL = "cachetools TTLCache and a Lock per key"
OURS = "scoped_registration"


def with_dict() -> Subject:
    chats = {(USER, THREAD): Chat()}
    locks = {(USER, THREAD): asyncio.Lock()}

    async def turn(user: str = USER, thread: str = THREAD) -> None:
        for _ in range(TIMES):
            key = user, thread
            async with locks[key]:
                _ = chats[key]

    return turn


def with_context_manager() -> Subject:
    chats = {(USER, THREAD): Chat()}
    locks = {(USER, THREAD): asyncio.Lock()}

    @contextlib.asynccontextmanager
    async def lease(user: str, thread: str) -> AsyncGenerator[Chat, None]:
        key = user, thread
        async with locks[key]:
            yield chats[key]

    async def turn(user: str = USER, thread: str = THREAD) -> None:
        for _ in range(TIMES):
            async with lease(user, thread):
                pass

    return turn


def with_async_lru() -> Subject:
    @alru_cache(maxsize=1000, ttl=3600)
    async def chat_of(user: str, thread: str) -> Chat:
        return Chat()

    async def turn(user: str = USER, thread: str = THREAD) -> None:
        for _ in range(TIMES):
            await chat_of(user, thread)

    return turn


def with_cachetools() -> Subject:
    cache: TTLCache[tuple[str, str], tuple[Chat, asyncio.Lock]] = TTLCache(
        1000, 3600, timer=time.monotonic
    )
    cache[USER, THREAD] = Chat(), asyncio.Lock()

    async def turn(user: str = USER, thread: str = THREAD) -> None:
        for _ in range(TIMES):
            chat, lock = cache[user, thread]
            async with lock:
                _ = chat

    return turn


def with_registration() -> Subject:
    registration = register()

    async def turn(user: str = USER, thread: str = THREAD) -> None:
        for _ in range(TIMES):
            async with registration.lease(user, thread):
                pass

    return turn


async def _compare() -> Report:
    subjects = {
        DICT: with_dict(),
        NAIVE: with_context_manager(),
        LRU: with_async_lru(),
        TTL: with_cachetools(),
        OURS: with_registration(),
    }
    series = await alternate(subjects, rounds=400 if LONG else 100)
    noise = series.noise
    best = min(LRU, TTL, key=series.ratio)
    figures = [
        Figure(f"warm lease / {DICT}", series.ratio(OURS), 2.2, 1.8, 4.5, noise),
        Figure(f"warm lease / {NAIVE}", series.ratio(OURS, NAIVE), 0.55, 0.45, 1.0, noise),
        Figure(f"warm lease / {best}", series.ratio(OURS, best), 1.0, 0.6, 2.5, noise),
        Figure("warm lease", series.typical(OURS) / TIMES * 1e9, unit=" ns"),
    ]
    bars = [Bar(name, series.ratio(name), name == OURS) for name in subjects]
    return Report("Warm lease", figures, bars, DICT)


def report() -> Report:
    """Measure warm leases."""
    return asyncio.run(_compare())
