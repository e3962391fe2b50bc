"""SQLite: calls that wait, are given up, are cancelled, or come from other threads."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from scoped_registration.stores.protocol import Stored, StoreLease, StoreUnavailableError
from scoped_registration.stores.sqlite import SQLiteStore
from scoped_registration.stores.sqlite_thread import SQLiteThread
from tests.stores.local import sqlite_at
from tests.stores.processes import LIMIT
from tests.stores.worker import acquired


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


@pytest.fixture
async def hasty(sqlite_store: SQLiteStore, path: Path) -> AsyncGenerator[SQLiteStore, None]:
    """A store on the same file that soon gives up, for calls that are not answered."""
    await sqlite_store.open()
    store = SQLiteStore(path, timeout=0.5)
    yield store
    with contextlib.suppress(StoreUnavailableError):
        await store.aclose()


def thread_of(store: SQLiteStore) -> SQLiteThread:
    return store._thread()  # pyright: ignore[reportPrivateUsage]  # tests look inside


async def lease_of(store: SQLiteStore, key: str, owner: str = "a") -> StoreLease:
    lease = await store.acquire(key, owner=owner, ttl=300.0)
    assert lease is not None
    return lease


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait and let no task of the event loop run."""
    ends = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.001)


async def test_a_database_that_another_one_locks_is_unavailable_and_then_works(
    sqlite_store: SQLiteStore, path: Path
) -> None:
    first = await lease_of(sqlite_store, "k")
    assert await sqlite_store.commit(first, b"one", release=False) == 1
    lease = StoreLease(key="k", owner="a", version=1)
    hasty = SQLiteStore(path, timeout=2.0)
    assert await hasty.load("k") == Stored(b"one", 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match=r"locked for too long \(SQLITE_BUSY"):
            await hasty.acquire("l", owner="a", ttl=300.0)
        refused = await asyncio.gather(
            hasty.commit(lease, b"two", release=True),
            hasty.renew(lease, ttl=300.0),
            hasty.release(lease),
            hasty.delete("m"),
            return_exceptions=True,
        )
        assert {type(one) for one in refused} == {StoreUnavailableError}
        assert await sqlite_store.load("k") == Stored(b"one", 1)  # to read needs no lock
        other.execute("ROLLBACK")
    await hasty.aclose()
    assert await sqlite_store.commit(lease, b"two", release=True) == 2
    assert await lease_of(sqlite_store, "l") == StoreLease(key="l", owner="a", version=0)


async def test_nobody_waits_for_those_before_it_to_give_up(
    hasty: SQLiteStore, sqlite_store: SQLiteStore, path: Path
) -> None:
    given_up: list[int] = []

    async def call(number: int) -> None:
        with pytest.raises(StoreUnavailableError):
            await hasty.acquire(f"k{number}", owner="gone", ttl=300.0)
        given_up.append(number)

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with anyio.fail_after(20):  # one after another would take 37 seconds
            async with anyio.create_task_group() as group:
                for number in range(100):
                    group.start_soon(call, number)
        other.execute("ROLLBACK")
    assert len(given_up) == 100
    late = [
        number
        for number in range(100)
        if await sqlite_store.acquire(f"k{number}", owner="b", ttl=300.0) is None
    ]
    assert len(late) < 10  # what was given up before it began is not done later


async def test_to_wait_for_others_is_no_failure(sqlite_store: SQLiteStore, path: Path) -> None:
    def slow(connection: sqlite3.Connection) -> int:
        time.sleep(0.4)
        return 1

    await sqlite_store.open()
    store = SQLiteStore(path, timeout=2.0)
    thread = thread_of(store)
    answers = await asyncio.gather(*(thread.run(slow) for _ in range(8)))
    assert sum(answers) == 8
    await store.aclose()


async def test_a_call_that_is_not_answered_is_given_up(
    hasty: SQLiteStore, sqlite_store: SQLiteStore
) -> None:
    door = threading.Event()

    def stuck(connection: sqlite3.Connection) -> None:
        door.wait(LIMIT)

    thread = thread_of(hasty)
    with pytest.raises(StoreUnavailableError, match="did not answer in time"):
        await thread.run(stuck)
    with pytest.raises(StoreUnavailableError, match="did not answer in time"):
        await hasty.acquire("k", owner="gone", ttl=300.0)
    door.set()
    with contextlib.suppress(StoreUnavailableError):
        await hasty.aclose()  # after all that it still had to do
    await lease_of(sqlite_store, "k")


async def test_a_reply_that_is_lost_after_a_commit_loses_nothing(
    sqlite_store: SQLiteStore, path: Path
) -> None:
    lease = await lease_of(sqlite_store, "k")
    with closing(sqlite3.connect(path)) as other:

        def is_written() -> bool:
            query = "SELECT version FROM scoped_registration_document"
            return other.execute(query).fetchall() == [(1,)]

        assert not is_written()
        committing = asyncio.create_task(sqlite_store.commit(lease, b"one", release=True))
        await asyncio.sleep(0)
        wait_for(is_written)
        committing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await committing
    assert await sqlite_store.commit(lease, b"one", release=True) == 1
    assert await sqlite_store.load("k") == Stored(b"one", 1)
    assert (await lease_of(sqlite_store, "k", "b")).version == 1


async def test_a_call_that_is_cancelled_before_it_began_does_nothing(
    sqlite_store: SQLiteStore,
) -> None:
    begun, door = threading.Event(), threading.Event()

    def hold(connection: sqlite3.Connection) -> None:
        begun.set()
        door.wait(LIMIT)

    holding = asyncio.create_task(thread_of(sqlite_store).run(hold))
    await asyncio.sleep(0)
    wait_for(begun.is_set)
    acquiring = asyncio.create_task(sqlite_store.acquire("k", owner="a", ttl=300.0))
    await asyncio.sleep(0)
    acquiring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await acquiring
    door.set()
    await holding
    await lease_of(sqlite_store, "k", "b")


async def test_closing_lets_calls_end_and_the_next_one_opens_again(
    sqlite_store: SQLiteStore,
) -> None:
    calls = [asyncio.create_task(lease_of(sqlite_store, f"k{number}")) for number in range(20)]
    await asyncio.sleep(0)
    old = thread_of(sqlite_store)
    await sqlite_store.aclose()
    leases = [await call for call in calls]
    with pytest.raises(StoreUnavailableError, match="closed meanwhile"):
        await old.run(lambda _: None)
    assert await sqlite_store.commit(leases[7], b"one", release=True) == 1


async def test_a_cancelled_close_closes(sqlite_store: SQLiteStore, path: Path) -> None:
    await lease_of(sqlite_store, "k")
    log = path.with_name("threads.db-wal")
    assert log.exists()
    closing_it = asyncio.create_task(sqlite_store.aclose())
    await asyncio.sleep(0)
    closing_it.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing_it
    wait_for(lambda: not log.exists())  # SQLite removes it with the last connection


async def test_the_thread_ends_with_the_store(sqlite_store: SQLiteStore) -> None:
    def here() -> list[str]:
        return [one.name for one in threading.enumerate() if "sqlite" in one.name]

    before = len(here())
    await sqlite_store.load("k")
    assert len(here()) == before + 1
    await sqlite_store.aclose()
    wait_for(lambda: len(here()) == before)


def test_event_loops_in_several_threads_share_a_store(path: Path) -> None:
    store, threads, turns = sqlite_at(path), 4, 25
    ready = threading.Barrier(threads)

    async def turn(owner: str) -> None:
        lease = await acquired(store, "k", owner=owner, ttl=300.0)
        await store.commit(lease, (lease.document or b"") + b".", release=True)

    async def work(name: int) -> None:
        for number in range(turns):
            await turn(f"{name}-{number}")

    def run(name: int) -> None:
        ready.wait(LIMIT)
        anyio.run(work, name)

    running = [threading.Thread(target=run, args=(name,)) for name in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(LIMIT)
    assert anyio.run(store.load, "k") == Stored(b"." * threads * turns, threads * turns)
    anyio.run(store.aclose)
