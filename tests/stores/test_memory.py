"""The store in memory: its clock, its bounds, and the threads that may share it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from typing import Any

import anyio
import anyio.lowlevel

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import Stored, StoreLease
from tests.stores.processes import LIMIT
from tests.unit.runtime.support import Clock


async def test_time_is_the_clock_s(memory_store: MemoryStore, clock: Clock) -> None:
    lease = await memory_store.acquire("k", owner="a", ttl=10.0)
    assert lease is not None
    clock.advance(9.9)
    assert await memory_store.acquire("k", owner="b", ttl=10.0) is None
    assert await memory_store.renew(lease, ttl=10.0)
    clock.advance(9.9)
    assert await memory_store.renew(lease, ttl=10.0)
    clock.advance(10.0)
    assert not await memory_store.renew(lease, ttl=10.0)
    assert await memory_store.acquire("k", owner="b", ttl=10.0) is not None


async def test_each_instance_is_a_store_of_its_own(memory_store: MemoryStore) -> None:
    other = MemoryStore()
    lease = await memory_store.acquire("k", owner="a", ttl=10.0)
    assert lease is not None
    assert await other.acquire("k", owner="b", ttl=10.0) is not None
    await memory_store.commit(lease, b"one", release=True)
    assert await memory_store.load("k") == Stored(b"one", 1)
    assert await other.load("k") is None
    assert memory_store.per_process


async def test_leases_without_a_document_leave_nothing(memory_store: MemoryStore) -> None:
    kept = memory_store._entries  # pyright: ignore[reportPrivateUsage]  # tests look inside
    for number in range(100):
        lease = await memory_store.acquire(str(number), owner="a", ttl=10.0)
        assert lease is not None
        assert len(kept) == 1
        await memory_store.release(lease)
    assert kept == {}


async def test_what_the_caller_does_to_its_buffer_changes_nothing(
    memory_store: MemoryStore,
) -> None:
    lease = await memory_store.acquire("k", owner="a", ttl=10.0)
    assert lease is not None
    buffer: Any = bytearray(b"one")  # no bytes, which a checker would say
    await memory_store.commit(lease, buffer, release=True)
    buffer[:] = b"two"
    assert await memory_store.load("k") == Stored(b"one", 1)


def test_threads_with_event_loops_of_their_own_share_a_store() -> None:
    store, threads, turns = MemoryStore(), 8, 50
    ready = threading.Barrier(threads)

    async def turn(owner: str) -> None:
        while (lease := await store.acquire("k", owner=owner, ttl=60.0)) is None:
            await anyio.lowlevel.checkpoint()
        await store.commit(lease, (lease.document or b"") + b".", release=True)

    async def work(name: int) -> None:
        for number in range(turns):
            await turn(f"{name}-{number}")

    def run(name: int) -> None:
        ready.wait(LIMIT)
        anyio.run(work, name)

    running = [threading.Thread(target=run, args=(name,)) for name in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(LIMIT)
    stored = anyio.run(store.load, "k")
    assert stored == Stored(b"." * threads * turns, threads * turns)


FORK = """
    import asyncio, os, threading
    from scoped_registration.stores.memory import MemoryStore

    held, done = threading.Event(), threading.Event()

    def clock():
        if threading.current_thread() is not threading.main_thread():
            held.set()
            done.wait()
        return 0.0

    async def commit(store, key):
        lease = await store.acquire(key, owner="a", ttl=1.0)
        return await store.commit(lease, b"one", release=True)

    store = MemoryStore(clock=clock)
    assert asyncio.run(commit(store, "before")) == 1
    other = threading.Thread(target=asyncio.run, args=(commit(store, "other"),))
    other.start()
    held.wait()  # the other thread is in the middle of a step
    child = os.fork()
    if not child:
        assert asyncio.run(store.load("before")).version == 1
        assert asyncio.run(commit(store, "child")) == 1
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    done.set()
    other.join()
    assert asyncio.run(store.load("child")) is None
    print("both served")
"""


def test_a_fork_in_the_middle_of_a_step_leaves_the_child_a_usable_copy() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(FORK)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("both served\n", 0), done.stderr


def test_what_is_kept_is_not_shown() -> None:
    store = MemoryStore()
    anyio.run(lambda: store.acquire("the key", owner="the owner", ttl=1.0))
    assert repr(store) == "MemoryStore()"
    lease = StoreLease(key="k", owner="o", version=1, document=b"the document")
    assert "the document" not in repr(lease)
