"""The tables of the PostgreSQL store: made on request, once, and never changed unasked."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import uuid
from collections.abc import Generator, Iterable

import anyio
import psycopg
import pytest
from psycopg import sql

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.postgres import PostgresStore
from scoped_registration.testing.store_suite.support import LONG, new_key, new_owner
from tests.stores.processes import LIMIT, ROOT
from tests.stores.remote import PATIENCE, postgres_at
from tests.stores.servers import PostgresServer


@pytest.fixture
def prefix() -> str:
    return f"t_{uuid.uuid4().hex}"


@pytest.fixture
def database(postgres: PostgresServer) -> Generator[psycopg.Connection]:
    with contextlib.closing(postgres.client()) as connection:
        yield connection


def without_schema(postgres: PostgresServer, prefix: str) -> PostgresStore:
    return PostgresStore(postgres.address, table_prefix=prefix, timeout=PATIENCE)


def tables(database: psycopg.Connection, prefix: str) -> set[str]:
    query = "SELECT tablename FROM pg_tables WHERE tablename LIKE %s"
    return {name.removeprefix(prefix) for (name,) in database.execute(query, [f"{prefix}%"])}


async def not_ready(store: PostgresStore) -> str:
    with anyio.fail_after(LIMIT), pytest.raises(RegistrationError) as refusal:
        await store.open()
    assert refusal.value.code is ReasonCode.STORE_NOT_READY
    return str(refusal.value)


async def test_missing_tables_are_not_made_unasked(
    postgres: PostgresServer, prefix: str, database: psycopg.Connection
) -> None:
    store = without_schema(postgres, prefix)
    assert "create_schema()" in await not_ready(store)
    with pytest.raises(RegistrationError) as refusal:
        await store.acquire(new_key(), owner=new_owner(), ttl=LONG)
    assert refusal.value.code is ReasonCode.STORE_NOT_READY
    assert tables(database, prefix) == set()
    for _ in range(2):
        await store.create_schema()
        await store.open()
        assert tables(database, prefix) == {"_lease", "_document", "_schema"}
    assert await store.acquire(new_key(), owner=new_owner(), ttl=LONG) is not None
    await store.aclose()


async def test_tables_of_another_version_are_refused_and_left_alone(
    postgres: PostgresServer, prefix: str, database: psycopg.Connection
) -> None:
    name = sql.Identifier(f"{prefix}_schema")
    database.execute(sql.SQL("CREATE TABLE {} (version int NOT NULL)").format(name))
    database.execute(sql.SQL("INSERT INTO {} VALUES (99)").format(name))
    for create in (False, True):
        store = PostgresStore(postgres.address, table_prefix=prefix, create_schema=create)
        assert "99" in await not_ready(store)
        with pytest.raises(RegistrationError, match="99"):
            await store.create_schema()
        await store.aclose()
    assert tables(database, prefix) == {"_schema"}


CREATE = """
import asyncio, sys
from tests.stores.remote import postgres_at

async def main():
    print("ready", flush=True)
    for line in sys.stdin:
        store = postgres_at(sys.argv[1], table_prefix=line.strip())
        await store.open()
        await store.aclose()
        print("made", flush=True)

asyncio.run(main())
"""


def test_workers_that_create_the_tables_at_once_agree(
    postgres: PostgresServer, database: psycopg.Connection, prefix: str
) -> None:
    command = [sys.executable, "-c", CREATE, postgres.address]
    with contextlib.ExitStack() as stack:
        workers = [
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            for _ in range(4)
        ]
        for worker in workers:
            stack.enter_context(worker)
            stack.callback(worker.kill)
        limit = threading.Timer(LIMIT, stack.close)  # which kills them
        limit.start()
        stack.callback(limit.cancel)
        expect_all(workers, "ready")
        for number in range(10):
            for worker in workers:
                assert worker.stdin is not None
                worker.stdin.write(f"{prefix}_{number}\n")
                worker.stdin.flush()
            expect_all(workers, "made")
            found = sql.SQL("SELECT version FROM {}").format(
                sql.Identifier(f"{prefix}_{number}_schema")
            )
            assert database.execute(found).fetchall() == [(1,)]


def expect_all(workers: Iterable[subprocess.Popen[str]], line: str) -> None:
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stderr is not None
        assert worker.stdout.readline() == f"{line}\n", worker.stderr.read()


async def test_a_document_is_compressed_by_lz4_or_not_at_all(
    postgres: PostgresServer, database: psycopg.Connection
) -> None:
    store, key = postgres_at(postgres.address), new_key()
    lease = await store.acquire(key, owner=new_owner(), ttl=LONG)
    assert lease is not None
    await store.commit(lease, b"again and " * 10_000, release=True)
    await store.aclose()
    query = "SELECT pg_column_compression(document) FROM scoped_registration_document WHERE key=%s"
    used = database.execute(query, [key]).fetchone()
    setting = (
        "SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
    )
    has_lz4 = database.execute(setting).fetchone() == (True,)
    assert used == ("lz4" if has_lz4 else None,)
