"""The rules of every store, kept by the one on Redis."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.stores.redis import RedisStore
from scoped_registration.testing.store_suite import StoreSuite
from tests.stores.remote import PATIENCE, redis_at
from tests.stores.servers import PASSWORD, RedisServer


class TestRedisStore(StoreSuite):
    secrets: Sequence[str] = (PASSWORD,)

    @pytest.fixture(autouse=True)
    def _server(self, redis: RedisServer) -> None:
        self.address = redis.address

    async def make_store(self) -> ThreadStore:
        return redis_at(self.address)


class TestRedisStoreWithOneConnection(TestRedisStore):
    async def make_store(self) -> ThreadStore:
        return RedisStore(self.address, timeout=PATIENCE, max_connections=1)
