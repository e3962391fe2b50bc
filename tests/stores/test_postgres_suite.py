"""The rules of every store, kept by the one on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scoped_registration.stores.postgres import PostgresStore
from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.testing.store_suite import StoreSuite
from tests.stores.remote import PATIENCE, postgres_at
from tests.stores.servers import PASSWORD, PostgresServer


class TestPostgresStore(StoreSuite):
    secrets: Sequence[str] = (PASSWORD,)

    @pytest.fixture(autouse=True)
    def _server(self, postgres: PostgresServer) -> None:
        self.address = postgres.address

    async def make_store(self) -> ThreadStore:
        return postgres_at(self.address)


class TestPostgresStoreWithoutPreparedStatements(TestPostgresStore):
    async def make_store(self) -> ThreadStore:
        return PostgresStore(
            self.address,
            create_schema=True,
            timeout=PATIENCE,
            max_connections=1,
            prepared_statements=False,
        )
