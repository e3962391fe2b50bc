"""The program of a worker process: it does with its store what lines of JSON tell it.

    python -m tests.stores.worker MODULE:FACTORY ADDRESS

`tests.stores.processes.Worker` starts it and asks.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
from collections.abc import AsyncGenerator, Sequence

import anyio
import anyio.to_thread
import attrs

from scoped_registration.stores.protocol import LeaseLostError, StoreLease, ThreadStore
from tests.stores.processes import Engine


class Program:
    """Each method is something that the process can be asked to do."""

    def __init__(self, store: ThreadStore) -> None:
        self._store = store
        self._leases: dict[str, StoreLease] = {}

    async def acquire(self, key: str, owner: str, ttl: float) -> AsyncGenerator[object, None]:
        lease = await self._store.acquire(key, owner=owner, ttl=ttl)
        if lease is not None:
            self._leases[key] = lease
        yield lease and lease.version

    async def renew(self, key: str, ttl: float) -> AsyncGenerator[object, None]:
        yield await self._store.renew(self._leases[key], ttl=ttl)

    async def commit(self, key: str, text: str, release: bool) -> AsyncGenerator[object, None]:
        lease = self._leases[key]
        try:
            version = await self._store.commit(lease, text.encode(), release=release)
        except LeaseLostError as error:
            yield str(error.code)
        else:
            self._leases[key] = attrs.evolve(lease, version=version)
            yield version

    async def churn(self, key: str) -> AsyncGenerator[object, None]:
        """Commit large documents, one after another, until the process is killed."""
        for number in itertools.count(self._leases[key].version + 1):
            lease = self._leases[key]
            version = await self._store.commit(lease, churned(number), release=False)
            self._leases[key] = attrs.evolve(lease, version=version)
            yield version

    async def turns(
        self, name: str, keys: Sequence[str], count: int, journal: str
    ) -> AsyncGenerator[object, None]:
        """Add a number to one document after another, and keep a journal of who holds which."""
        chance = random.Random(name)  # noqa: S311  # the same each time
        file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for turn in range(count):
            key = chance.choice(keys)
            owner = f"{name}-{turn}-{os.urandom(8).hex()}"
            lease = await acquired(self._store, key, owner=owner, ttl=60.0)
            os.write(file, f"begin {key} {name}\n".encode())
            said: list[str] = json.loads(lease.document or b"[]")
            document = json.dumps([*said, f"{name}-{turn}"]).encode()
            os.write(file, f"end {key} {name}\n".encode())
            await self._store.commit(lease, document, release=True)
        os.close(file)
        yield count


async def acquired(store: ThreadStore, key: str, *, owner: str, ttl: float) -> StoreLease:
    """Acquire a key as soon as it is free."""
    while True:
        lease = await store.acquire(key, owner=owner, ttl=ttl)
        if lease is not None:
            return lease
        await anyio.sleep(0.005)


def churned(version: int) -> bytes:
    """Return the document of a version, larger than what an engine writes in one piece."""
    return f"{version},".encode() * 50_000


async def main(factory: str, address: str) -> None:
    async with Engine(factory, address).opened() as store:
        program = Program(store)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            do, arguments = json.loads(line)
            async for answer in getattr(program, do)(**arguments):
                sys.stdout.write(json.dumps(answer) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
