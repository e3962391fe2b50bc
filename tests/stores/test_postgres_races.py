"""What a statement that had to wait sees: the last document, not the one when it began."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, TypeVar

import anyio
import psycopg
import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.postgres import PostgresStore
from scoped_registration.stores.postgres_sql import Statements
from scoped_registration.stores.protocol import Stored, StoreLease
from scoped_registration.testing.store_suite.support import LONG, new_key, new_owner
from tests.stores.processes import LIMIT
from tests.stores.remote import postgres_at
from tests.stores.servers import PostgresServer
from tests.stores.worker import acquired

T = TypeVar("T")

SAY = Statements.of("scoped_registration")


@pytest.fixture
async def store(postgres: PostgresServer) -> AsyncGenerator[PostgresStore, None]:
    store = postgres_at(postgres.address)
    yield store
    await store.aclose()


@pytest.fixture
def other(postgres: PostgresServer) -> Generator[psycopg.Connection]:
    """A connection of another worker, whose transaction the test ends."""
    with contextlib.closing(postgres.client()) as connection:
        yield connection


@pytest.fixture(params=["commits", "gives up"])
def end(request: pytest.FixtureRequest) -> bytes:
    return b"COMMIT" if request.param == "commits" else b"ROLLBACK"


def write(other: psycopg.Connection, key: str, document: bytes, *, release: bool = True) -> None:
    """Take a lease and commit a document, as another worker does."""
    values: dict[str, object] = {"key": key, "owner": new_owner(), "ttl": LONG, "known": None}
    taken = other.execute(SAY.acquire, values).fetchone()
    assert taken is not None
    values |= {"version": taken[0], "document": document, "release": release}
    assert other.execute(SAY.commit, values).fetchone() is not None


async def meanwhile(
    postgres: PostgresServer, call: Coroutine[Any, Any, T], then: Callable[[], object]
) -> T:
    """Begin a call, let something happen as soon as it waits in the engine, and end it."""
    query = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'postgres'"
    with anyio.fail_after(LIMIT), contextlib.closing(postgres.client()) as observer:
        task = asyncio.create_task(call)
        while observer.execute(query).fetchone() is None:
            assert not task.done(), "it did not wait"
            await anyio.sleep(0.01)
        then()
        return await task


@pytest.mark.parametrize("versions", [*itertools.product([0, 1], [None, 0, 1, 2])])
async def test_a_lease_comes_with_the_document_of_whoever_held_it_meanwhile(
    postgres: PostgresServer,
    store: PostgresStore,
    other: psycopg.Connection,
    versions: tuple[int, int | None],
    end: bytes,
) -> None:
    before, known = versions
    key, owner = new_key(), new_owner()
    if before:
        write(other, key, b"before")
    other.execute("BEGIN")
    write(other, key, b"after")
    acquire = store.acquire(key, owner=owner, ttl=LONG, if_version=known)
    lease = await meanwhile(postgres, acquire, lambda: other.execute(end))
    version = before + (end == b"COMMIT")
    document = [None, b"before" if before else b"after", b"after"][version]
    found = None if version == known else document
    assert lease == StoreLease(key=key, owner=owner, version=version, document=found)


@pytest.mark.parametrize("release", [False, True])
async def test_a_commit_that_meets_its_own_first_attempt_is_written_once(
    postgres: PostgresServer,
    store: PostgresStore,
    other: psycopg.Connection,
    end: bytes,
    release: bool,
) -> None:
    key = new_key()
    lease = await store.acquire(key, owner=new_owner(), ttl=LONG)
    assert lease is not None
    values = {"key": key, "owner": lease.owner, "version": 0, "document": b"one"}
    other.execute("BEGIN")
    other.execute(SAY.commit, {**values, "release": release})
    commit = store.commit(lease, b"one", release=release)
    assert await meanwhile(postgres, commit, lambda: other.execute(end)) == 1
    assert await store.load(key) == Stored(b"one", 1)
    assert await store.renew(lease, ttl=LONG) is not release


async def test_a_deletion_takes_what_was_committed_meanwhile(
    postgres: PostgresServer, store: PostgresStore, other: psycopg.Connection, end: bytes
) -> None:
    key = new_key()
    write(other, key, b"before")
    other.execute("BEGIN")
    write(other, key, b"after")
    assert await meanwhile(postgres, store.delete(key), lambda: other.execute(end))
    assert await store.load(key) is None
    query = "SELECT FROM scoped_registration_document WHERE key = %s"
    assert other.execute(query, [key]).fetchone() is None


async def test_a_key_that_was_leased_meanwhile_is_not_deleted(
    postgres: PostgresServer, store: PostgresStore, other: psycopg.Connection
) -> None:
    key = new_key()
    write(other, key, b"before")
    other.execute("BEGIN")
    write(other, key, b"after", release=False)
    with pytest.raises(RegistrationError) as refusal:
        await meanwhile(postgres, store.delete(key), lambda: other.execute("COMMIT"))
    assert refusal.value.code is ReasonCode.THREAD_BUSY
    assert await store.load(key) == Stored(b"after", 2)


async def test_an_engine_that_isolates_more_by_default_loses_no_turn(
    postgres: PostgresServer,
) -> None:
    option = "options=-c%20default_transaction_isolation%3Dserializable"
    store, keys = postgres_at(f"{postgres.address}&{option}"), [new_key(), new_key()]

    async def turn(number: int) -> None:
        key = keys[number % len(keys)]
        lease = await acquired(store, key, owner=new_owner(), ttl=LONG)
        await store.commit(lease, (lease.document or b"") + b"%d " % number, release=True)

    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(turn, number)
        for first, key in enumerate(keys):
            stored = await store.load(key)
            assert stored is not None
            assert sorted(map(int, stored.document.split())) == list(range(first, 60, 2))
            assert await store.delete(key)
        await store.aclose()
