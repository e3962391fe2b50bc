"""The rules of every store, kept by those that need no server."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.stores.sqlite import SQLiteStore
from scoped_registration.testing.store_suite import StoreSuite
from tests.stores.local import sqlite_at


class TestMemoryStore(StoreSuite):
    async def make_store(self) -> ThreadStore:
        return MemoryStore()


class TestSQLiteStore(StoreSuite):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.path = tmp_path / "threads.db"

    async def make_store(self) -> ThreadStore:
        return sqlite_at(self.path)


class TestSQLiteStoreWithoutFullSynchronisation(TestSQLiteStore):
    async def make_store(self) -> ThreadStore:
        return SQLiteStore(self.path, create_schema=True, synchronous="NORMAL", timeout=30.0)
