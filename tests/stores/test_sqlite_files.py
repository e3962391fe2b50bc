"""SQLite: which files are used, and what happens to those that are not as they should be."""

# ruff: noqa: ASYNC240  # nobody else is on these event loops

from __future__ import annotations

import asyncio
import math
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.protocol import Stored, StoreUnavailableError
from scoped_registration.stores.sqlite import SQLiteStore
from tests.stores.local import sqlite_at
from tests.unit.runtime.support import code_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


async def commit(store: SQLiteStore, key: str, document: bytes) -> int:
    """Write one turn and give the connection back."""
    lease = await store.acquire(key, owner=f"owner of {document[:9]!r}", ttl=60.0)
    assert lease is not None
    version = await store.commit(lease, document, release=True)
    await store.aclose()
    return version


@pytest.mark.parametrize("name", [":memory:", "", "file:threads.db?mode=memory"])
def test_only_the_path_of_a_file_is_one(name: str) -> None:
    with pytest.raises(RegistrationError, match=r"option_invalid.*\n.*MemoryStore"):
        SQLiteStore(name)


@pytest.mark.parametrize(
    "option",
    [
        {"synchronous": "OFF"},
        {"synchronous": "FULL; DROP TABLE x"},
        *({"timeout": wrong} for wrong in (0.0, -1.0, math.nan, math.inf)),
    ],
)
def test_other_options_are_refused(option: dict[str, Any], path: Path) -> None:
    with pytest.raises(RegistrationError, match="option_invalid"):
        SQLiteStore(path, **option)


async def test_nothing_is_opened_before_the_first_call(path: Path) -> None:
    threads = threading.active_count()
    store = SQLiteStore(path, create_schema=True, timeout=30.0)
    assert not path.exists()
    assert threading.active_count() == threads
    await store.aclose()  # of what was not opened
    assert not path.exists()
    await store.load("k")
    assert path.exists()
    assert threading.active_count() == threads + 1
    await store.aclose()


async def test_a_relative_path_means_where_the_store_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SQLiteStore("a name with ? and # and %41.db", create_schema=True, timeout=30.0)
    monkeypatch.chdir("/")
    assert await commit(store, "k", b"one") == 1
    assert (tmp_path / "a name with ? and # and %41.db").exists()


async def test_a_file_of_a_mistyped_name_does_not_come_into_being(path: Path) -> None:
    store = SQLiteStore(path, timeout=30.0)
    for call in (store.open(), store.load("k"), store.acquire("k", owner="a", ttl=1.0)):
        with pytest.raises(RegistrationError, match=r"no database file\n.*create_schema") as caught:
            await call
        assert caught.value.code is ReasonCode.STORE_NOT_READY
    assert not path.exists()
    await store.aclose()


async def test_tables_are_created_when_it_is_said_and_once(path: Path) -> None:
    with closing(sqlite3.connect(path)) as theirs:  # a file may hold other tables too
        theirs.execute("CREATE TABLE users (name TEXT)")
        theirs.execute("INSERT INTO users VALUES ('alice')")
        theirs.commit()
    store = SQLiteStore(path, timeout=30.0)
    with pytest.raises(RegistrationError, match="tables are missing"):
        await store.open()
    await store.create_schema()
    await store.open()
    assert await commit(store, "k", b"one") == 1
    await store.create_schema()
    await sqlite_at(path).create_schema()
    assert await store.load("k") == Stored(b"one", 1)
    await store.aclose()
    with closing(sqlite3.connect(path)) as theirs:
        assert theirs.execute("SELECT name FROM users").fetchall() == [("alice",)]
        versions = theirs.execute("SELECT version FROM scoped_registration_schema").fetchall()
        assert versions == [(1,)]


async def test_tables_of_another_version_are_refused_and_left_alone(path: Path) -> None:
    await commit(sqlite_at(path), "k", b"one")
    with closing(sqlite3.connect(path)) as later:
        later.execute("UPDATE scoped_registration_schema SET version = 2")
        later.commit()
    before = path.read_bytes()
    for store in (
        SQLiteStore(path, timeout=30.0),
        SQLiteStore(path, create_schema=True, timeout=30.0),
    ):
        for call in (store.open(), store.create_schema(), store.acquire("k", owner="a", ttl=1.0)):
            with pytest.raises(RegistrationError, match=r"version 2, .* uses 1; nothing was"):
                await call
        await store.aclose()
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as later:
        later.execute("UPDATE scoped_registration_schema SET version = 1")
        later.commit()
    store = SQLiteStore(path, timeout=30.0)
    assert await store.load("k") == Stored(b"one", 1)
    await store.aclose()


async def test_stores_that_create_one_file_at_once_do_not_disturb_each_other(
    tmp_path: Path,
) -> None:
    for number in range(10):
        path = tmp_path / f"{number}.db"
        stores = [sqlite_at(path) for _ in range(8)]
        await asyncio.gather(*(store.open() for store in stores))
        with closing(sqlite3.connect(path)) as connection:
            versions = connection.execute("SELECT version FROM scoped_registration_schema")
            assert versions.fetchall() == [(1,)]
        for store in stores:
            await store.aclose()


async def test_tables_are_created_when_another_user_of_the_file_is_done(path: Path) -> None:
    store = sqlite_at(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as theirs:
        theirs.execute("CREATE TABLE users (name TEXT)")
        theirs.execute("BEGIN IMMEDIATE")
        creating = asyncio.create_task(store.open())
        assert not (await asyncio.wait([creating], timeout=0.2))[0]  # SQLite refuses at once
        theirs.execute("ROLLBACK")
        await creating
    assert await commit(store, "k", b"one") == 1


@pytest.mark.parametrize(("synchronous", "level"), [("FULL", 2), ("NORMAL", 1)])
async def test_commits_are_as_durable_as_it_says(synchronous: Any, level: int, path: Path) -> None:
    store = SQLiteStore(path, create_schema=True, synchronous=synchronous, timeout=30.0)

    def look(connection: sqlite3.Connection) -> list[object]:
        names = ("synchronous", "journal_mode")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    found = await store._run(look)  # pyright: ignore[reportPrivateUsage]  # tests look inside
    assert found == [level, "wal"]
    await store.aclose()


@pytest.mark.parametrize("create", [False, True])
async def test_what_is_no_database_is_not_overwritten(create: bool, path: Path) -> None:
    path.write_bytes(b"the notes of somebody else\n" * 1000)
    before = path.read_bytes()
    store = SQLiteStore(path, create_schema=create, timeout=30.0)
    for call in (store.open(), store.create_schema(), store.load("k")):
        with pytest.raises(StoreUnavailableError, match=r"no SQLite database \(SQLITE_NOTADB"):
            await call
    await store.aclose()
    assert path.read_bytes() == before


async def test_a_damaged_file_is_reported_and_not_overwritten(path: Path) -> None:
    store = sqlite_at(path)
    for number in range(9):
        lease = await store.acquire(f"k{number}", owner="a", ttl=60.0)
        assert lease is not None
        await store.commit(lease, b"one" * 1000, release=True)
    await store.aclose()
    whole = path.read_bytes()
    damaged = whole[:4096] + b"\xff" * (len(whole) - 4096)  # the first page names the tables
    store = SQLiteStore(path, timeout=30.0)
    assert await store.load("k0") is not None
    path.write_bytes(damaged)
    for call in (
        store.load("k7"),
        store.acquire("k7", owner="a", ttl=1.0),
        store.delete("k7"),
        store.open(),
    ):
        with pytest.raises(StoreUnavailableError, match=r"is damaged \(SQLITE_CORRUPT"):
            await call
    assert path.read_bytes() == damaged
    repaired = path.with_name("repaired")
    repaired.write_bytes(whole)
    repaired.replace(path)  # the next call finds it, without a restart
    assert await store.load("k7") == Stored(b"one" * 1000, 1)
    await store.aclose()


async def test_a_directory_that_is_not_there_is_said(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "missing" / "threads.db", create_schema=True, timeout=30.0)
    with pytest.raises(StoreUnavailableError, match=r"cannot be opened \(SQLITE_CANTOPEN"):
        await store.open()
    assert await code_of(store.load("k")) is ReasonCode.STORE_UNAVAILABLE
    (tmp_path / "missing").mkdir()
    assert await commit(store, "k", b"one") == 1


def test_only_the_name_of_the_file_is_shown(path: Path) -> None:
    assert repr(SQLiteStore(path)) == "SQLiteStore('threads.db')"
