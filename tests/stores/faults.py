"""What happens to workers, played on any engine: each function is the body of a test."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import anyio

from scoped_registration.errors import ReasonCode
from scoped_registration.stores.protocol import Stored, StoreLease, ThreadStore
from scoped_registration.testing.store_suite.support import LONG, new_key, new_owner
from tests.stores.processes import LIMIT, Engine
from tests.stores.worker import acquired, churned

__all__ = [
    "holder_killed",
    "holder_killed_in_a_commit",
    "holder_stopped",
    "many_tasks",
    "many_workers",
    "overlaps",
]


async def holder_killed(engine: Engine, *, ttl: float = 1.0) -> None:
    """A worker is killed in a run: its key is free in time, and what it committed is there."""
    key = new_key()
    with anyio.fail_after(LIMIT):
        async with engine.opened() as store, engine.worker() as worker:
            await worker.ask("acquire", key=key, owner=new_owner(), ttl=LONG)
            assert await worker.ask("commit", key=key, text="one", release=True) == 1
            begin = time.monotonic()
            assert await worker.ask("acquire", key=key, owner=new_owner(), ttl=ttl) == 1
            await worker.kill()
            lease = await acquired(store, key, owner=new_owner(), ttl=LONG)
            assert time.monotonic() - begin >= ttl * 0.9  # it was held, although its holder died
            assert (lease.version, lease.document) == (1, b"one")
            assert await store.commit(lease, b"two", release=True) == 2


async def holder_killed_in_a_commit(engine: Engine, *, rounds: int = 5) -> None:
    """A worker is killed somewhere in its commits: one of them is the last, and it is whole."""
    chance = random.Random(5)  # noqa: S311  # the same each time
    with anyio.fail_after(LIMIT):
        async with engine.opened() as store:
            for _ in range(rounds):
                key, owner = new_key(), new_owner()
                async with engine.worker() as worker:
                    await worker.ask("acquire", key=key, owner=owner, ttl=LONG)
                    await worker.tell("churn", key=key)
                    answered = [await worker.answer() for _ in range(chance.randint(3, 10))]
                    await anyio.sleep(chance.uniform(0, 0.02))
                    await worker.kill()
                stored = await store.load(key)
                assert stored is not None
                assert stored.version >= answered[-1]
                assert stored.document == churned(stored.version)
                # Its next owner need not wait when it is the same one.
                lease = await store.acquire(key, owner=owner, ttl=LONG)
                assert lease == StoreLease(
                    key=key, owner=owner, version=stored.version, document=stored.document
                )


async def holder_stopped(engine: Engine, *, ttl: float = 1.0) -> None:
    """A worker is stopped for longer than its lease lasts: it writes nothing when it goes on."""
    with anyio.fail_after(LIMIT):
        async with engine.opened() as store, engine.worker() as worker:
            for released in (False, True):
                key = new_key()
                assert await worker.ask("acquire", key=key, owner=new_owner(), ttl=ttl) == 0
                worker.stop()
                lease = await acquired(store, key, owner=new_owner(), ttl=LONG)
                await store.commit(lease, b"new", release=released)
                await worker.tell("commit", key=key, text="stale", release=True)
                worker.go_on()
                assert await worker.answer() == ReasonCode.LEASE_LOST
                assert await worker.ask("renew", key=key, ttl=LONG) is False
                assert await store.load(key) == Stored(b"new", 1)
                assert await store.renew(lease, ttl=LONG) is not released


async def many_workers(
    engine: Engine, directory: Path, *, workers: int = 4, turns: int = 100, keys: int = 5
) -> None:
    """Several workers serve the same few threads: no turn is lost, and none overlap."""
    names = [new_key() for _ in range(keys)]
    journal = directory / "journal"

    async def serve(name: str) -> None:
        async with engine.worker() as worker:
            done = await worker.ask(
                "turns", name=name, keys=names, count=turns, journal=str(journal)
            )
            assert done == turns

    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group:
            for number in range(workers):
                group.start_soon(serve, f"w{number}")
        async with engine.opened() as store:
            said = [await turns_in(store, key) for key in names]
    expected = {f"w{number}-{turn}" for number in range(workers) for turn in range(turns)}
    everything = [turn for turns_of_key in said for turn in turns_of_key]
    assert len(everything) == len(expected)
    assert set(everything) == expected
    lines = journal.read_text().splitlines()
    assert len(lines) == 2 * len(expected)
    assert len({tuple(line.split()[1:]) for line in lines}) == workers * keys  # they met there
    assert overlaps(lines) == []


async def many_tasks(engine: Engine, *, tasks: int = 400) -> None:
    """Many runs of one worker at once, each on a thread of its own."""

    async def run(store: ThreadStore, number: int) -> None:
        key, document = new_key(), str(number).encode()
        lease = await store.acquire(key, owner=new_owner(), ttl=LONG)
        assert lease is not None
        assert await store.commit(lease, document, release=True) == 1
        assert await store.load(key) == Stored(document, 1)
        done.append(number)

    done: list[int] = []
    with anyio.fail_after(LIMIT):
        async with engine.opened() as store, anyio.create_task_group() as group:
            for number in range(tasks):
                group.start_soon(run, store, number)
    assert sorted(done) == list(range(tasks))


async def turns_in(store: ThreadStore, key: str) -> Sequence[str]:
    """Return the turns that a document holds; each was one version."""
    stored = await store.load(key)
    assert stored is not None
    said: list[str] = json.loads(stored.document)
    assert stored.version == len(said)
    return said


def overlaps(journal: Iterable[str]) -> list[str]:
    """Return where somebody began on a key that another one had not ended."""
    holders: dict[str, str] = {}
    found: list[str] = []
    for line in journal:
        what, key, name = line.split()
        if what == "begin":
            if key in holders:
                found.append(f"{name} began on {key}, which {holders[key]} held")
            holders[key] = name
        elif holders.pop(key, None) != name:
            found.append(f"{name} ended on {key}, which it did not hold")
    return found
