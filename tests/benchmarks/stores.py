"""What a turn costs with a store: one acquisition with its document, one commit that releases.

A turn is measured beside a round trip of the same engine that does nothing, and beside a
document that is read and written by hand, without a lease, a version or a fence.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import math
import random
import sqlite3
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import psycopg
import redis.asyncio

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.postgres import PostgresStore
from scoped_registration.stores.protocol import StoreLease, ThreadStore
from scoped_registration.stores.redis import RedisStore
from scoped_registration.stores.sqlite import SQLiteStore
from tests.benchmarks.figures import LONG, Figure, Report
from tests.benchmarks.measuring import Series, Subject, alternate
from tests.stores.servers import PASSWORD, PostgresServer, RedisServer

__all__ = ["report"]

SMALL, LARGE = 10_000, 200_000
AT_ONCE = 400
CROWD = f"turn, {AT_ONCE} at once"
PATIENCE = 60.0

Ask = Callable[[], Awaitable[object]]
ByHand = Callable[[bytes], Awaitable[object]]


@attrs.frozen(kw_only=True)
class Budget:
    """Milliseconds that a turn may take: alone, with a large document, and among many."""

    small: float | None = None
    large: float | None = None
    crowded: float | None = None


@attrs.frozen(kw_only=True)
class Engine:
    """An engine, what it does without a store, and what a turn may cost."""

    name: str
    store: ThreadStore
    nothing: Ask | None = None
    by_hand: ByHand | None = None
    budget: Budget = Budget()


def documents(size: int) -> Sequence[bytes]:
    """Return documents as conversations are: of words, and each another one."""
    chance = random.Random(size)  # noqa: S311  # the same each time
    words = [uuid.UUID(int=chance.getrandbits(128)).hex[:7] for _ in range(2000)]
    made: list[bytes] = []
    for _ in range(8):
        text = " ".join(chance.choices(words, k=size // 8))
        made.append(json.dumps({"role": "user", "text": text}).encode())
    return made


@contextlib.asynccontextmanager
async def on_redis() -> AsyncGenerator[Engine, None]:
    server = RedisServer("--appendfsync", "everysec")
    with server.running():
        store = RedisStore(server.address, timeout=PATIENCE)
        client: Any = redis.asyncio.Redis(port=server.port, password=PASSWORD)

        async def by_hand(document: bytes) -> None:
            await client.get("by-hand")
            await client.set("by-hand", document)

        try:
            yield Engine(
                name="Redis, everysec",
                store=store,
                nothing=client.ping,
                by_hand=by_hand,
                budget=Budget(small=1.5, large=4.0, crowded=1000 / 700),
            )
        finally:
            await client.aclose()
            await store.aclose()


@contextlib.asynccontextmanager
async def on_postgres() -> AsyncGenerator[Engine, None]:
    server = PostgresServer()
    with server.running():
        store = PostgresStore(server.address, create_schema=True, timeout=PATIENCE)
        await store.open()
        async with await psycopg.AsyncConnection.connect(server.address, autocommit=True) as raw:
            await raw.execute(
                "CREATE TABLE by_hand AS SELECT 1 AS key, document "
                "FROM scoped_registration_document WITH NO DATA"
            )
            await raw.execute("ALTER TABLE by_hand ALTER document SET STORAGE EXTERNAL")
            await raw.execute("INSERT INTO by_hand VALUES (1, '')")

            async def nothing() -> None:
                await (await raw.execute("SELECT 1", binary=True)).fetchone()

            async def by_hand(document: bytes) -> None:
                found = await raw.execute("SELECT document FROM by_hand", binary=True)
                await found.fetchone()
                await raw.execute("UPDATE by_hand SET document = %s", [document], binary=True)

            yield Engine(
                name="PostgreSQL",
                store=store,
                nothing=nothing,
                by_hand=by_hand,
                budget=Budget(small=3.0, large=8.0, crowded=1000 / 300),
            )
        await store.aclose()


@contextlib.asynccontextmanager
async def on_sqlite() -> AsyncGenerator[Engine, None]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "threads.db"
        store = SQLiteStore(path, create_schema=True, timeout=PATIENCE)
        await store.open()
        raw = sqlite3.connect(Path(directory) / "by_hand.db", check_same_thread=False)
        raw.isolation_level = None
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE TABLE by_hand (document BLOB)",
            "INSERT INTO by_hand VALUES ('')",
        ):
            raw.execute(statement)

        def write(document: bytes) -> None:
            raw.execute("SELECT document FROM by_hand").fetchone()
            raw.execute("UPDATE by_hand SET document = ?", [document])

        yield Engine(
            name="SQLite, FULL",
            store=store,
            nothing=lambda: asyncio.to_thread(lambda: raw.execute("SELECT 1").fetchone()),
            by_hand=lambda document: asyncio.to_thread(write, document),
            budget=Budget(small=2.0, large=4.0, crowded=1000 / 700),
        )
        raw.close()
        await store.aclose()


@contextlib.asynccontextmanager
async def in_memory() -> AsyncGenerator[Engine, None]:
    yield Engine(name="memory", store=MemoryStore())


async def turn(store: ThreadStore, key: str, document: bytes, known: int | None = None) -> int:
    """Take the key, and write its next document."""
    lease = await store.acquire(key, owner=uuid.uuid4().hex, ttl=15.0, if_version=known)
    if lease is None:
        raise RuntimeError("the key of a benchmark is leased")
    return await store.commit(lease, document, release=True)


def turns(store: ThreadStore, size: int) -> Subject:
    """Return a turn by a worker that knows nothing of the key."""
    key, written = uuid.uuid4().hex, itertools.cycle(documents(size))
    return lambda: turn(store, key, next(written))


def warm_turns(store: ThreadStore, size: int) -> Subject:
    """Return a turn by the worker that had the turn before."""
    key, written = uuid.uuid4().hex, itertools.cycle(documents(size))
    known = 0

    async def subject() -> None:
        nonlocal known
        known = await turn(store, key, next(written), known)

    return subject


def renewals(store: ThreadStore) -> Subject:
    lease: StoreLease | None = None

    async def subject() -> None:
        nonlocal lease
        if lease is None:
            lease = await store.acquire(uuid.uuid4().hex, owner=uuid.uuid4().hex, ttl=900.0)
        if lease is None or not await store.renew(lease, ttl=900.0):
            raise RuntimeError("the lease of a benchmark is lost")

    return subject


def hands(by_hand: ByHand, size: int) -> Subject:
    written = itertools.cycle(documents(size))
    return lambda: by_hand(next(written))


async def crowded(store: ThreadStore) -> float:
    """Return the seconds per turn of many workers, each with keys of its own."""
    written = documents(SMALL)
    times = 5 if LONG else 2

    async def work(number: int) -> None:
        for _ in range(times):
            await turn(store, f"crowd-{number}", written[number % len(written)])

    begun = time.perf_counter()
    await asyncio.gather(*(work(number) for number in range(AT_ONCE)))
    return (time.perf_counter() - begun) / (AT_ONCE * times)


def subjects_of(engine: Engine) -> dict[str, Subject]:
    subjects: dict[str, Subject] = {}
    if engine.nothing is not None:
        subjects["a round trip that does nothing"] = engine.nothing
    if engine.by_hand is not None:
        subjects["read and written by hand, 10 KB"] = hands(engine.by_hand, SMALL)
        subjects["read and written by hand, 200 KB"] = hands(engine.by_hand, LARGE)
    subjects["turn, 10 KB"] = turns(engine.store, SMALL)
    subjects["turn, 200 KB"] = turns(engine.store, LARGE)
    subjects["turn of a warm instance, 10 KB"] = warm_turns(engine.store, SMALL)
    subjects["renewal"] = renewals(engine.store)
    return {f"{engine.name}: {what}": subject for what, subject in subjects.items()}


def figures_of(engine: Engine, series: Series, crowd: float) -> list[Figure]:
    def milliseconds(what: str, must: float | None = None) -> Figure:
        name = f"{engine.name}: {what}"
        seconds = crowd if what == CROWD else series.typical(name)
        # How fast a disk is at the moment is no fault of the code: the ratios are tested.
        return Figure(name, seconds * 1000, must, today=math.inf, unit=" ms")

    found = [
        milliseconds("turn, 10 KB", engine.budget.small),
        milliseconds("turn, 200 KB", engine.budget.large),
        milliseconds(CROWD, engine.budget.crowded),
        milliseconds("turn of a warm instance, 10 KB"),
        milliseconds("renewal"),
    ]
    if engine.nothing is not None:
        found.append(milliseconds("a round trip that does nothing"))
    for size in ("10 KB", "200 KB") if engine.by_hand is not None else ():
        of, by = (f"{engine.name}: {what}, {size}" for what in ("turn", "read and written by hand"))
        name = f"{engine.name}: turn / read and written by hand, {size}"
        found.append(Figure(name, series.ratio(of, by), 3.0, today=6.0, noise=series.noise))
    return found


async def _compare() -> Report:
    async with contextlib.AsyncExitStack() as stack:
        engines = [
            await stack.enter_async_context(engine())
            for engine in (on_redis, on_postgres, on_sqlite, in_memory)
        ]
        subjects: dict[str, Subject] = {}
        for engine in engines:
            subjects |= subjects_of(engine)
        series = await alternate(subjects, rounds=400 if LONG else 60)
        crowds = [await crowded(engine.store) for engine in engines]
    figures = [
        figure
        for engine, crowd in zip(engines, crowds, strict=True)
        for figure in figures_of(engine, series, crowd)
    ]
    return Report("Turn with a store", figures)


def report() -> Report:
    """Measure turns."""
    return asyncio.run(_compare())
