"""P11: engines that stall, end and start again, or lose what they said."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from operator import methodcaller
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from scoped_registration.errors import ReasonCode
from scoped_registration.stores.protocol import (
    Stored,
    StoreLease,
    StoreUnavailableError,
    ThreadStore,
)
from scoped_registration.testing.store_suite.support import LONG, new_key, new_owner
from tests.stores.processes import LIMIT
from tests.stores.remote import PATIENCE, Remote
from tests.stores.wire import Wire

T = TypeVar("T")

IMPATIENT = 1.0
SOON = 20.0
"""Seconds for what is over after `IMPATIENT`, and would never be without a deadline."""


@pytest.fixture
async def store(remote: Remote) -> AsyncGenerator[ThreadStore, None]:
    store = remote.store()
    await store.open()
    yield store
    await store.aclose()


async def taken(store: ThreadStore, key: str) -> StoreLease:
    lease = await store.acquire(key, owner=new_owner(), ttl=LONG)
    assert lease is not None
    return lease


async def refused(call: Awaitable[object]) -> None:
    with pytest.raises(StoreUnavailableError) as refusal:
        await call
    assert refusal.value.code is ReasonCode.STORE_UNAVAILABLE


async def at_once(*calls: Callable[[], Coroutine[Any, Any, object]]) -> None:
    async with anyio.create_task_group() as group:
        for call in calls:
            group.start_soon(call)


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_lease_and_document_outlive_the_engine(
    remote: Remote, store: ThreadStore, end: str
) -> None:
    key = new_key()
    with anyio.fail_after(LIMIT):
        await store.commit(await taken(store, key), b"one", release=True)
        lease = await taken(store, key)
        await anyio.to_thread.run_sync(methodcaller(end), remote.server)
        try:
            await refused(store.load(key))
        finally:
            await anyio.to_thread.run_sync(remote.server.start)
        assert await store.renew(lease, ttl=LONG)
        assert await store.acquire(key, owner=new_owner(), ttl=LONG) is None
        assert await store.commit(lease, b"two", release=True) == 2
        assert await store.load(key) == Stored(b"two", 2)


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_no_call_fails_on_a_connection_that_ended_meanwhile(
    remote: Remote, store: ThreadStore, end: str
) -> None:
    key = new_key()

    async def load() -> None:
        assert await store.load(key) == Stored(b"one", 1)

    with anyio.fail_after(LIMIT):
        await store.commit(await taken(store, key), b"one", release=True)
        await at_once(*[load] * 5)
        await anyio.to_thread.run_sync(methodcaller(end), remote.server)
        await anyio.to_thread.run_sync(remote.server.start)
        await at_once(*[load] * 5)


async def test_calls_to_a_stalled_engine_end_in_time_and_may_be_repeated(remote: Remote) -> None:
    store = remote.store(timeout=IMPATIENT)
    key, other, owner = new_key(), new_key(), new_owner()
    with anyio.fail_after(LIMIT):
        await patiently(store.open)
        lease = await patiently(lambda: taken(store, key))
        with remote.server.stalled(), anyio.fail_after(SOON):
            await at_once(
                lambda: refused(store.acquire(other, owner=owner, ttl=LONG)),
                lambda: refused(store.renew(lease, ttl=LONG)),
                lambda: refused(store.commit(lease, b"one", release=False)),
                lambda: refused(store.load(key)),
                lambda: refused(remote.store(timeout=IMPATIENT).load(key)),
            )
        # What the engine found when it went on, it may have done.
        again = await patiently(lambda: store.acquire(other, owner=owner, ttl=LONG))
        assert again is not None
        assert await patiently(lambda: store.commit(lease, b"one", release=False)) == 1
        assert await patiently(lambda: store.load(key)) == Stored(b"one", 1)
        await store.aclose()


async def test_a_cancelled_call_to_a_stalled_engine_ends_in_time(remote: Remote) -> None:
    store = remote.store(timeout=IMPATIENT)
    key, owner = new_key(), new_owner()

    async def acquire() -> None:
        await store.acquire(key, owner=owner, ttl=LONG)

    with anyio.fail_after(LIMIT):
        await patiently(store.open)
        with remote.server.stalled(), anyio.fail_after(SOON):
            for turns in range(4):  # somewhere in the call
                async with anyio.create_task_group() as group:
                    group.start_soon(acquire)
                    for _ in range(turns):
                        await anyio.lowlevel.checkpoint()
                    group.cancel_scope.cancel()
        assert await patiently(lambda: store.acquire(key, owner=owner, ttl=LONG)) is not None
        await store.aclose()


async def test_whoever_waits_for_a_turn_at_a_stalled_engine_is_told_in_time(
    remote: Remote,
) -> None:
    store = remote.store(timeout=IMPATIENT, max_connections=1)
    with anyio.fail_after(LIMIT):
        await patiently(store.open)
        with remote.server.stalled(), anyio.fail_after(SOON):
            await at_once(*[lambda: refused(store.load("suite"))] * 40)
        await patiently(lambda: store.load("suite"))
        await store.aclose()


async def test_to_wait_for_a_turn_at_an_engine_that_answers_is_no_failure(remote: Remote) -> None:
    async with Wire(remote.server.port).running() as wire:
        store = remote.store_at(
            remote.server.address_at(wire.port), timeout=IMPATIENT, max_connections=1
        )
        with anyio.fail_after(LIMIT):
            await store.open()
            wire.delay = IMPATIENT / 20
            await at_once(*[lambda: store.load("suite")] * 40)
            await store.aclose()
        assert wire.made == 1


async def test_a_turn_is_written_once_when_the_reply_is_lost(remote: Remote) -> None:
    key, owner = new_key(), new_owner()
    async with Wire(remote.server.port).running() as wire:
        store = remote.store_at(remote.server.address_at(wire.port))
        with anyio.fail_after(LIMIT):
            await store.open()
            for version in (1, 2):
                wire.lose = 1
                lease = await store.acquire(key, owner=owner, ttl=LONG)
                assert wire.lose == 0
                assert lease is not None
                wire.lose = 1
                document = str(version).encode()
                assert await store.commit(lease, document, release=version == 2) == version
                assert wire.lose == 0
                assert await store.load(key) == Stored(document, version)
            assert wire.made == 5
            await taken(store, key)
            await store.aclose()


async def test_a_turn_is_written_once_when_the_caller_repeats_it(remote: Remote) -> None:
    key = new_key()
    async with Wire(remote.server.port).running() as wire:
        store = remote.store_at(remote.server.address_at(wire.port))
        with anyio.fail_after(LIMIT):
            lease = await taken(store, key)
            wire.lose = 2
            await refused(store.commit(lease, b"one", release=True))
            assert await store.load(key) == Stored(b"one", 1)  # it was written
            assert await store.commit(lease, b"one", release=True) == 1
            assert await store.load(key) == Stored(b"one", 1)
            await store.aclose()


async def patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat a call until a busy machine has let the engine answer in time."""
    with anyio.fail_after(PATIENCE):
        while True:
            with contextlib.suppress(StoreUnavailableError):
                return await call()
