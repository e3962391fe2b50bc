"""What the PostgreSQL store leaves in a session: prepared statements, unless told not to."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio
import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.postgres import PostgresStore
from scoped_registration.stores.postgres_connections import Connection
from scoped_registration.testing.store_suite.support import LONG, new_key, new_owner
from tests.stores.processes import LIMIT
from tests.stores.remote import postgres_at
from tests.stores.servers import PostgresServer


@pytest.fixture(params=[True, False], ids=["prepared", "plain"])
async def store(
    postgres: PostgresServer, request: pytest.FixtureRequest
) -> AsyncGenerator[PostgresStore, None]:
    store = postgres_at(
        postgres.address, max_connections=1, prepared_statements=bool(request.param)
    )
    with anyio.fail_after(LIMIT):
        yield store
        await store.aclose()


async def turns(store: PostgresStore) -> None:
    key = new_key()
    for _ in range(7):
        lease = await store.acquire(key, owner=new_owner(), ttl=LONG)
        assert lease is not None
        await store.commit(lease, b"document", release=True)


async def in_session(store: PostgresStore, query: bytes) -> int:
    """Ask something in the one session that the store has."""

    async def ask(connection: Connection) -> int:
        cursor = await connection.execute(query, prepare=False)
        return len(await cursor.fetchall()) if cursor.description else 0

    return await store._run(ask)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("store", [False], indirect=True)
async def test_nothing_is_prepared_when_nothing_may_be(store: PostgresStore) -> None:
    await turns(store)
    assert await in_session(store, b"SELECT name FROM pg_prepared_statements") == 0


@pytest.mark.parametrize("store", [True], indirect=True)
async def test_a_pooler_that_keeps_no_statements_is_named(store: PostgresStore) -> None:
    await turns(store)
    assert await in_session(store, b"SELECT name FROM pg_prepared_statements") == 2
    # Inside a block, so that the driver does not hear of it, as it hears nothing of a pooler.
    await in_session(store, b"DO 'BEGIN EXECUTE ''DEALLOCATE ALL''; END'")
    with pytest.raises(RegistrationError, match="prepared_statements=False") as refusal:
        await turns(store)
    assert refusal.value.code is ReasonCode.STORE_NOT_READY
