"""Connections belong to the event loop and the process that made them, and are given back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
import time
import uuid

import anyio
import anyio.lowlevel
import pytest

from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.testing.store_suite.support import LONG, new_key, new_owner
from tests.stores.processes import LIMIT, ROOT
from tests.stores.remote import Remote


@pytest.fixture
def name() -> str:
    """What the store's connections are called at the server."""
    return f"store-{uuid.uuid4().hex}"


@pytest.fixture
def address(remote: Remote, name: str) -> str:
    return remote.server.address_at(remote.server.port, name=name)


def expect_connections(remote: Remote, name: str, count: int) -> None:
    """Wait until the server knows of so many: it hears of an end some time after it."""
    ends = time.monotonic() + LIMIT
    while (found := len(remote.server.connection_ids(name))) != count:
        assert time.monotonic() < ends, f"{found} connections instead of {count}"
        time.sleep(0.01)


async def load(store: ThreadStore) -> None:
    with anyio.fail_after(LIMIT):
        assert await store.load("suite-nothing") is None


def test_the_first_call_connects_and_the_end_of_the_loop_disconnects(
    remote: Remote, address: str, name: str
) -> None:
    store = remote.store_at(address)

    async def use() -> None:
        await load(store)
        await load(store)
        await asyncio.to_thread(expect_connections, remote, name, 1)

    assert remote.server.connection_ids(name) == set()
    for _ in range(3):
        asyncio.run(use())
        expect_connections(remote, name, 0)


async def test_a_store_that_was_closed_connects_again(
    remote: Remote, address: str, name: str
) -> None:
    store = remote.store_at(address)
    for _ in range(2):
        await load(store)
        expect_connections(remote, name, 1)
        await store.aclose()
        expect_connections(remote, name, 0)


async def test_closing_lets_calls_end_and_then_their_connections(
    remote: Remote, address: str, name: str
) -> None:
    store = remote.store_at(address)
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(load, store)
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        await store.aclose()
    expect_connections(remote, name, 0)


async def test_there_are_no_more_connections_than_allowed(
    remote: Remote, address: str, name: str
) -> None:
    store = remote.store_at(address, max_connections=3)
    async with anyio.create_task_group() as group:
        for _ in range(30):
            group.start_soon(load, store)
    expect_connections(remote, name, 3)
    await store.aclose()


async def test_cancelled_calls_leave_connections_that_can_be_used(
    remote: Remote, address: str, name: str
) -> None:
    store = remote.store_at(address, max_connections=2)
    keys = [new_key() for _ in range(20)]

    async def acquire(key: str) -> None:
        await store.acquire(key, owner=new_owner(), ttl=LONG)

    await load(store)
    for turns in range(12):  # before its turn comes, or somewhere in the call
        async with anyio.create_task_group() as group:
            for key in keys:
                group.start_soon(acquire, key)
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(load, store)
    expect_connections(remote, name, 2)
    await store.aclose()


def test_two_event_loops_at_once_do_not_take_each_others_connections(
    remote: Remote, address: str, name: str
) -> None:
    store = remote.store_at(address)
    met = threading.Barrier(2)

    async def use() -> None:
        await load(store)
        await asyncio.to_thread(met.wait, LIMIT)
        await asyncio.to_thread(expect_connections, remote, name, 2)
        await asyncio.to_thread(met.wait, LIMIT)
        for _ in range(20):
            await load(store)

    threads = [threading.Thread(target=asyncio.run, args=[use()]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    expect_connections(remote, name, 0)


FORK = """
    import asyncio
    import os
    import sys

    from tests.stores import remote

    make, address, key, end = sys.argv[1:]
    store = getattr(remote, make)(address)

    async def turn(number):
        lease = await store.acquire(key, owner=os.urandom(9).hex(), ttl=60.0)
        assert lease.version == number, lease
        assert await store.commit(lease, b"%d" % number, release=True) == number + 1

    def pause():
        print("paused", flush=True)
        sys.stdin.readline()

    with asyncio.Runner() as parent:
        parent.run(store.open())
        parent.run(turn(0))
        pause()
        child = os.fork()
        if not child:
            asyncio.run(turn(1))
            asyncio.run(turn(2))
            sys.stdin.close()
            if end == "killed":
                os.kill(os.getpid(), 9)
            if end == "vanishes":
                os._exit(0)
            sys.exit(0)  # which closes the parent's loop on the way out
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status == (-9 if end == "killed" else 0), status
        parent.run(turn(3))
        pause()
"""


@pytest.mark.parametrize("end", ["exits", "vanishes", "killed"])
def test_a_child_process_leaves_the_connections_of_its_parent_alone(
    remote: Remote, address: str, name: str, end: str
) -> None:
    script, make = textwrap.dedent(FORK), remote.store_at.__name__
    with subprocess.Popen(
        [sys.executable, "-X", "dev", "-c", script, make, address, new_key(), end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        stop = threading.Timer(LIMIT, process.kill)
        stop.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == "paused\n", process.stderr.read()
            before = remote.server.connection_ids(name)
            process.stdin.write("go on\n")
            process.stdin.flush()
            assert process.stdout.readline() == "paused\n", process.stderr.read()
            expect_connections(remote, name, 1)
            assert remote.server.connection_ids(name) == before
            _, said = process.communicate("go on\n")
        finally:
            stop.cancel()
            process.kill()
    assert (process.returncode, said) == (0, "")
    expect_connections(remote, name, 0)
