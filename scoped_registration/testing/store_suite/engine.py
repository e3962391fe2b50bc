"""Connections, event loops, many callers at once, and what must not be said."""

# ruff: noqa: D102  # the name of a rule says what it holds
from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator
from typing import cast

import anyio
import anyio.lowlevel
from typing_extensions import override

from scoped_registration.stores.protocol import Stored, StoreLease, ThreadStore
from scoped_registration.testing.store_suite.support import (
    LONG,
    Suite,
    expect,
    expect_equal,
    new_key,
    new_owner,
    rule,
)

__all__ = ["EngineRules"]

_SAID = "what-the-document-says"


class EngineRules(Suite):
    """Rules of `open` and `aclose`, and of all calls together."""

    @rule
    async def test_it_is_a_store(self, store: ThreadStore) -> None:
        made, per_process = cast("list[object]", [store, store.per_process])
        expect(isinstance(made, ThreadStore), "a store has all methods of ThreadStore")
        expect(isinstance(per_process, bool), "per_process is True or False")

    @rule
    async def test_many_callers_of_one_key_get_one_lease(self, store: ThreadStore) -> None:
        key = new_key()
        leases: list[StoreLease] = []

        async def acquire() -> None:
            lease = await store.acquire(key, owner=new_owner(), ttl=LONG)
            if lease is not None:
                leases.append(lease)

        async with anyio.create_task_group() as group:
            for _ in range(self.at_once):
                group.start_soon(acquire)
        expect_equal(len(leases), 1, f"the leases of one key, acquired {self.at_once} times")
        expect_equal(await store.commit(leases[0], b"one", release=True), 1, "its commit")

    @rule
    async def test_other_keys_do_not_wait(self, store: ThreadStore) -> None:
        held = [await self.take(store, new_key()) for _ in range(self.at_once)]
        documents: list[bytes] = []

        async def turn(number: int) -> None:
            key = new_key()
            document = str(number).encode()
            await store.commit(await self.take(store, key), document, release=True)
            stored = await store.load(key)
            documents.append(b"nothing" if stored is None else stored.document)

        async with anyio.create_task_group() as group:
            for number in range(self.at_once):
                group.start_soon(turn, number)
        expected = sorted(str(number).encode() for number in range(self.at_once))
        expect_equal(sorted(documents), expected, "what was committed while other keys were leased")
        for lease in held:
            expect(await store.renew(lease, ttl=LONG), "a lease is not lost to another key")

    @rule
    async def test_a_cancelled_call_leaves_the_store_usable(self, store: ThreadStore) -> None:
        keys = [(new_key(), new_owner()) for _ in range(self.at_once)]

        async def acquire(key: str, owner: str) -> None:
            await store.acquire(key, owner=owner, ttl=LONG)

        for turns in range(4):  # cancelled before, or somewhere in, the call
            async with anyio.create_task_group() as group:
                for key, owner in keys:
                    group.start_soon(acquire, key, owner)
                for _ in range(turns):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
        for key, owner in keys:
            lease = await store.acquire(key, owner=owner, ttl=LONG)
            expect(lease is not None, "a call that was cancelled can be repeated by its owner")

    @rule
    async def test_closing_keeps_what_was_written(self, store: ThreadStore) -> None:
        key = new_key()
        lease = await self.take(store, key)
        await store.commit(lease, b"one", release=False)
        for _ in range(2):
            await store.aclose()
        expect_equal(await store.load(key), Stored(b"one", 1), "the document, after aclose")
        other = await store.acquire(key, owner=new_owner(), ttl=LONG)
        expect(other is None, "a lease is kept when the store is closed")
        for _ in range(2):
            await store.open()
        expect(await store.renew(lease, ttl=LONG), "a lease is kept when the store is closed")

    @rule
    async def test_two_stores_of_one_engine_see_the_same(self, store: ThreadStore) -> None:
        if store.per_process:
            return  # two such stores may have nothing in common
        key = new_key()
        lease = await self.take(store, key)
        async with self.opened() as second:
            other = await second.acquire(key, owner=new_owner(), ttl=LONG)
            expect(other is None, "a lease is seen by another store of the same engine")
            await store.commit(lease, b"one", release=True)
            expect_equal(await second.load(key), Stored(b"one", 1), "so is a document")
            successor = await self.take(second, key)
            expect_equal(await second.commit(successor, b"two", release=True), 2, "and a version")
        expect_equal(await store.load(key), Stored(b"two", 2), "what another store committed")

    @rule
    async def test_nothing_secret_is_said(self, store: ThreadStore) -> None:
        key = new_key()
        with _records() as records:
            lease = await self.take(store, key)
            await store.commit(lease, _SAID.encode(), release=True)
            lease = await self.take(store, key)
            await store.release(lease)
            said = [repr(store), str(store), repr(lease), *records]
        for text in said:
            expect(_SAID not in text, "no log record and no repr holds a document")
            for secret in self.secrets:
                expect(secret not in text, "no log record and no repr holds a secret")

    def test_one_event_loop_after_another(self) -> None:
        key = new_key()

        async def first() -> tuple[ThreadStore, StoreLease]:
            with anyio.fail_after(self.limit):
                store = await self.make_store()
                await store.open()
                return store, await self.take(store, key)

        async def second(store: ThreadStore, lease: StoreLease) -> None:
            with anyio.fail_after(self.limit):
                version = await store.commit(lease, b"one", release=False)
                expect_equal(version, 1, "a commit on a second event loop")

        async def third(store: ThreadStore) -> None:
            with anyio.fail_after(self.limit):
                expect_equal(await store.load(key), Stored(b"one", 1), "on a third event loop")
                await store.aclose()

        store, lease = anyio.run(first)
        anyio.run(second, store, lease)
        anyio.run(third, store)


class _Recorder(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.texts: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@contextlib.contextmanager
def _records() -> Generator[list[str]]:
    """Collect what is logged, at every level."""
    root, recorder = logging.getLogger(), _Recorder()
    level = root.level
    root.addHandler(recorder)
    root.setLevel(logging.NOTSET)
    try:
        yield recorder.texts
    finally:
        root.setLevel(level)
        root.removeHandler(recorder)
