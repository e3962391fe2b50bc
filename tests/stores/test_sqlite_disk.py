"""SQLite: a disk that is full or read-only is said, and what was committed last is kept."""

# ruff: noqa: ASYNC240  # nobody else is on these event loops
from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Generator
from pathlib import Path

import attrs
import pytest

from scoped_registration.stores.protocol import Stored, StoreUnavailableError
from scoped_registration.stores.sqlite import SQLiteStore
from tests.stores.local import sqlite_at
from tests.stores.processes import LIMIT, ROOT

MEGABYTE = 1024 * 1024
NOBODY = 65534

# A tiny file system that only this process and its children see.
MOUNTED = (
    *("unshare", "--user", "--map-root-user", "--mount", "sh", "-c"),
    'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"',
)
FILL = """
    import asyncio, os, sys
    from pathlib import Path
    from scoped_registration.errors import RegistrationError
    from scoped_registration.stores.protocol import Stored
    from scoped_registration.stores.sqlite import SQLiteStore

    async def main():
        directory = Path(sys.argv[1])
        store = SQLiteStore(directory / "threads.db", create_schema=True, timeout=30.0)
        lease = await store.acquire("k", owner="a", ttl=300.0)
        await store.commit(lease, b"one", release=True)
        lease = await store.acquire("k", owner="b", ttl=300.0)
        ballast = directory / "ballast"
        with ballast.open("wb", 0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        errors = []
        for call in (
            lambda: store.commit(lease, bytes(500_000), release=True),
            lambda: store.acquire("l" * 200, owner="c" * 5000, ttl=300.0),
        ):
            try:
                await call()
            except RegistrationError as error:
                errors.append(str(error).splitlines()[0])
        assert await store.load("k") == Stored(b"one", 1)
        ballast.unlink()
        assert await store.commit(lease, bytes(200_000), release=True) == 2
        assert await store.load("k") == Stored(bytes(200_000), 2)
        await store.aclose()
        print("\\n".join(errors))

    asyncio.run(main())
"""


def test_a_full_disk_is_said_and_the_last_document_kept(tmp_path: Path) -> None:
    command = [*MOUNTED, str(tmp_path)]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets no test mount a file system of its own")
    done = subprocess.run(
        [*command, sys.executable, "-c", textwrap.dedent(FILL), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    said = "[store_unavailable] the SQLite store failed: the disk is full (SQLITE_FULL)\n"
    assert (done.stdout, done.returncode) == (said * 2, 0), done.stderr


@contextlib.contextmanager
def largest_file(size: int) -> Generator[None]:
    """Let no file of this process grow beyond a size: a quota, and every user may set it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_file_that_may_not_grow_is_said_and_the_last_document_kept(
    sqlite_store: SQLiteStore,
) -> None:
    lease = await sqlite_store.acquire("k", owner="a", ttl=300.0)
    assert lease is not None
    assert await sqlite_store.commit(lease, b"one", release=False) == 1
    lease = attrs.evolve(lease, version=1)
    with largest_file(2 * MEGABYTE):
        for _ in range(2):
            with pytest.raises(StoreUnavailableError, match=r"reported an error \(SQLITE_IOERR"):
                await sqlite_store.commit(lease, bytes(4 * MEGABYTE), release=True)
        assert await sqlite_store.load("k") == Stored(b"one", 1)
        assert await sqlite_store.renew(lease, ttl=300.0)
    assert await sqlite_store.commit(lease, bytes(4 * MEGABYTE), release=True) == 2


@contextlib.contextmanager
def without_rights() -> Generator[None]:
    """Be another user, if this one may do anything."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


# Without its directory, SQLite cannot make the log beside the file.
@pytest.mark.parametrize(("directory_mode", "file_mode"), [(0o777, 0o444), (0o555, 0o666)])
async def test_what_cannot_be_written_is_said_and_kept(directory_mode: int, file_mode: int) -> None:
    said = r"cannot be (written \(SQLITE_READONLY|opened \(SQLITE_CANTOPEN)"
    with tempfile.TemporaryDirectory(prefix="sr-") as name:
        directory, path = Path(name), Path(name) / "threads.db"
        store = sqlite_at(path)
        lease = await store.acquire("k", owner="a", ttl=300.0)
        assert lease is not None
        await store.commit(lease, b"one", release=True)
        await store.aclose()
        before = path.read_bytes()
        path.chmod(file_mode)
        directory.chmod(directory_mode)
        try:
            with without_rights():
                with pytest.raises(StoreUnavailableError, match=said):
                    await store.acquire("k", owner="b", ttl=300.0)
                with pytest.raises(StoreUnavailableError, match=said):
                    await store.delete("k")
                await store.aclose()
        finally:
            directory.chmod(0o755)
        assert path.read_bytes() == before
        path.chmod(0o644)
        assert await store.load("k") == Stored(b"one", 1)
        assert await store.acquire("k", owner="b", ttl=300.0) is not None
        await store.aclose()
