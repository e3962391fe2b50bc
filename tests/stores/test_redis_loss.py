"""A Redis server that was emptied, forgot its scripts or lost its rank."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import anyio
import attrs
import pytest

from scoped_registration.stores.protocol import LeaseLostError, Stored
from scoped_registration.stores.redis import RedisStore
from scoped_registration.testing.store_suite.support import LONG, new_key, new_owner
from tests.stores.processes import LIMIT
from tests.stores.remote import redis_at
from tests.stores.servers import RedisServer
from tests.stores.wire import Wire


@pytest.fixture
def server(redis: RedisServer) -> Generator[RedisServer]:
    """A server that a test may empty; skips as `redis` does."""
    server = RedisServer()
    with server.running():
        yield server


@pytest.fixture
async def store(server: RedisServer) -> AsyncGenerator[RedisStore, None]:
    store = redis_at(server.address)
    with anyio.fail_after(LIMIT):
        yield store
        await store.aclose()


@pytest.mark.parametrize("commits", [0, 1, 2])
async def test_a_holder_whose_lease_was_wiped_out_overwrites_nothing(
    store: RedisStore, server: RedisServer, commits: int
) -> None:
    key = new_key()
    lost = await store.acquire(key, owner=new_owner(), ttl=LONG)
    assert lost is not None
    server.ask("FLUSHALL")
    with pytest.raises(LeaseLostError):
        await store.commit(lost, b"stale", release=False)
    assert await store.load(key) is None
    # Another worker has made the same versions anew, and holds the key or has left it.
    holder = await store.acquire(key, owner=new_owner(), ttl=LONG)
    assert holder is not None
    for number in range(commits):
        version = await store.commit(holder, b"new", release=number == 1)
        holder = attrs.evolve(holder, version=version)
    for version in range(3):
        with pytest.raises(LeaseLostError):
            await store.commit(attrs.evolve(lost, version=version), b"stale", release=True)
    assert not await store.renew(lost, ttl=LONG)
    assert await store.load(key) == (Stored(b"new", commits) if commits else None)


async def test_a_server_that_forgot_the_scripts_is_given_them_again(
    store: RedisStore, server: RedisServer
) -> None:
    key = new_key()
    for version in (1, 2):
        lease = await store.acquire(key, owner=new_owner(), ttl=LONG)
        assert lease is not None
        assert await store.renew(lease, ttl=LONG)
        assert await store.commit(lease, b"one", release=True) == version
        server.ask("SCRIPT FLUSH")


async def test_what_was_never_committed_leaves_nothing_behind(
    store: RedisStore, server: RedisServer
) -> None:
    released, expired, committed = new_key(), new_key(), new_key()
    lease = await store.acquire(released, owner=new_owner(), ttl=LONG)
    assert lease is not None
    assert await store.renew(lease, ttl=LONG)
    assert await store.acquire(expired, owner=new_owner(), ttl=0.05) is not None
    kept = await store.acquire(committed, owner=new_owner(), ttl=LONG)
    assert kept is not None
    await store.commit(kept, b"one", release=False)
    assert len(server.ask("KEYS", "*")) == 3
    await store.release(lease)
    while len(server.ask("KEYS", "*")) > 1:  # noqa: ASYNC110  # no event of asyncio tells of it
        await anyio.sleep(0.01)
    (name,) = server.ask("KEYS", "*")
    assert server.ask("PTTL", name.decode()) == -1  # what was committed stays
    assert await store.load(committed) == Stored(b"one", 1)


async def test_a_server_that_lost_its_rank_is_left_for_its_successor(
    server: RedisServer,
) -> None:
    successor = RedisServer()
    with successor.running():
        async with Wire(server.port).running() as wire:
            store = redis_at(server.address_at(wire.port))
            with anyio.fail_after(LIMIT):
                await store.open()
                server.ask("REPLICAOF", "127.0.0.1", str(successor.port))
                wire.target = successor.port  # as the name of a server that failed over
                assert await store.acquire(new_key(), owner=new_owner(), ttl=LONG) is not None
                await store.aclose()
