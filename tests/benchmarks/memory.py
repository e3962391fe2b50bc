"""What a key costs in memory, and what is left of many keys that are gone.

Each figure is taken in a process of its own, which this module is, too:
``python -m tests.benchmarks.memory CASE KEYS`` prints one number.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from scoped_registration import Registration
from tests.benchmarks.figures import LONG, Bar, Figure, Report
from tests.benchmarks.samples import Chat, managed, register

__all__ = ["report"]

ROOT = Path(__file__).parents[2]
KEYS = 100_000 if LONG else 10_000
MANAGED_KEYS = 10_000 if LONG else 2_000
"""Each of them has a task, which is slow to make and not of another size for more of them."""

MANY, FEW, BOUND = 100_000, 10_000, 1_000
REPEATS = 3 if LONG else 1
_WARM_UP = 20
_UNBOUNDED = {"max_instances": None, "max_per_scope": None}


def _key(number: int) -> tuple[str, str]:
    return f"user-{number}", f"thread-{number}"


async def _dict(keys: range) -> object:
    chats: dict[tuple[str, str], Chat] = {}
    for number in keys:
        chats[_key(number)] = Chat()
    return chats


async def _dict_and_lock(keys: range) -> object:
    chats: dict[tuple[str, str], tuple[Chat, asyncio.Lock]] = {}
    for number in keys:
        chats[_key(number)] = Chat(), asyncio.Lock()
    return chats


async def _plain(keys: range) -> object:
    registration = register(**_UNBOUNDED)
    for number in keys:
        async with registration.lease(*_key(number)):
            pass
    return registration


async def _managed(keys: range) -> object:
    registration = register(managed, **_UNBOUNDED)
    for number in keys:
        async with registration.lease(*_key(number)):
            pass
    return registration


async def _bounded(keys: range) -> object:
    registration = register(max_instances=BOUND)
    for number in keys:
        async with registration.lease(*_key(number)):
            pass
    return registration


async def _close(*kept: object) -> None:
    for one in kept:
        if isinstance(one, Registration):
            await one.aclose()


async def _traced(fill: Callable[[range], Awaitable[object]], keys: int) -> float:
    """Return the bytes of one key, its two texts and its small object among them."""
    warm = await fill(range(_WARM_UP))  # what is made once and stays
    gc.collect()
    tracemalloc.start()
    kept = await fill(range(_WARM_UP, _WARM_UP + keys))
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    await _close(warm, kept)
    return taken / keys


async def _resident(keys: int) -> float:
    """Return the bytes of this process after it has used many keys, one after another.

    Not `getrusage`: its peak holds the memory of the process that started this one.
    """
    kept = await _bounded(range(keys))
    gc.collect()
    taken = _resident_now()
    await _close(kept)
    return taken


def _resident_now() -> float:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return float(pages) * os.sysconf("SC_PAGE_SIZE")


CASES: dict[str, Callable[[int], Coroutine[Any, Any, float]]] = {
    "dict": lambda keys: _traced(_dict, keys),
    "dict-and-lock": lambda keys: _traced(_dict_and_lock, keys),
    "plain": lambda keys: _traced(_plain, keys),
    "managed": lambda keys: _traced(_managed, keys),
    "resident": _resident,
}


def measure(case: str, keys: int) -> float:
    """Return what a case prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.memory", case, str(keys)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def report() -> Report:
    """Measure memory."""
    entry = measure("dict", KEYS)
    again = measure("dict", KEYS)
    plain = measure("plain", KEYS)
    with_manager = measure("managed", MANAGED_KEYS) / measure("dict", MANAGED_KEYS)
    with_lock = measure("dict-and-lock", KEYS) / entry
    noise = abs(again / entry - 1)
    figures = [
        Figure("bytes per key, plain product / dict entry", plain / entry, 2.0, 1.6, 2.5, noise),
        Figure("bytes per key, context-managed product / dict entry", with_manager, noise=noise),
        Figure("bytes per key, plain product", plain, unit=" B"),
    ]
    if sys.platform == "linux":
        figures.append(_after_many())
    bars = [
        Bar("dict", 1.0),
        Bar("dict and an asyncio.Lock per key", with_lock),
        Bar("scoped_registration", plain / entry, ours=True),
        Bar("scoped_registration, context-managed", with_manager, ours=True),
    ]
    return Report("Memory of one key", figures, bars, "dict")


def _after_many() -> Figure:
    few: list[float] = []
    many: list[float] = []
    again: list[float] = []
    for _ in range(REPEATS):
        few.append(measure("resident", FEW))
        many.append(measure("resident", MANY))
        again.append(measure("resident", FEW))
    base = statistics.median(few)
    return Figure(
        f"resident memory after {MANY:,} threads / {FEW:,}, bound {BOUND:,}",
        statistics.median(many) / base,
        1.05,
        1.02,
        noise=abs(statistics.median(again) / base - 1),
    )


if __name__ == "__main__":
    print(asyncio.run(CASES[sys.argv[1]](int(sys.argv[2]))))
