"""Fixtures of the stores; those that need a server stand in `servers`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.sqlite import SQLiteStore
from tests.stores.local import sqlite_at
from tests.stores.remote import postgres, redis, remote  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.unit.runtime.support import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory_store(clock: Clock) -> MemoryStore:
    """A store whose leases expire when the test moves its clock."""
    return MemoryStore(clock=clock)


@pytest.fixture
async def sqlite_store(tmp_path: Path) -> AsyncGenerator[SQLiteStore, None]:
    store = sqlite_at(tmp_path / "threads.db")
    yield store
    await store.aclose()
