"""SQLite: a forked child has a connection of its own, and leaves its parent's alone."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.stores.processes import LIMIT

SERVE = """
    import asyncio, os, sqlite3, sys
    from scoped_registration.stores.sqlite import SQLiteStore

    store = SQLiteStore(sys.argv[1], create_schema=True, timeout=30.0)

    async def turn(key, document):
        lease = await store.acquire(key, owner=document.hex(), ttl=300.0)
        return await store.commit(lease, document, release=True)

    if sys.argv[2] == "warm":
        assert asyncio.run(turn("before", b"parent")) == 1
    child = os.fork()
    for _ in range(50):
        asyncio.run(turn("child" if not child else "parent", os.urandom(20_000)))
    if not child:
        asyncio.run(store.aclose())
        sys.exit()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    versions = [asyncio.run(store.load(key)).version for key in ("child", "parent")]
    assert versions == [50, 50], versions
    asyncio.run(store.aclose())
    check = sqlite3.connect(sys.argv[1])
    assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    check.close()
    print("both served")
"""

# What SQLite does when a connection is closed may change what both processes share.
LEAVE_ALONE = """
    import asyncio, os, sqlite3, sys, time
    from scoped_registration.stores import sqlite_thread

    parent = os.getpid()

    class Connection(sqlite3.Connection):
        def __del__(self):
            os.write(1, b"parent\\n" if os.getpid() == parent else b"child\\n")

    def connect(ends):
        return sqlite3.connect(sys.argv[1], factory=Connection)

    thread = sqlite_thread.SQLiteThread(connect, 30.0)
    idle = sys.getrefcount(thread)
    asyncio.run(thread.run(lambda connection: None))
    while sys.getrefcount(thread) > idle:  # what its thread refers to is never destroyed either
        time.sleep(0.001)
    if sys.argv[2] == "forgotten":
        sqlite_thread._threads.clear()
    child = os.fork()
    if not child:
        sys.exit()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        # From 3.12 on a fork beside a thread is warned of.
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


@pytest.mark.parametrize("warmth", ["cold", "warm"])
def test_a_child_process_and_its_parent_both_serve(warmth: str, tmp_path: Path) -> None:
    done = run(SERVE, tmp_path / "threads.db", warmth)
    assert (done.stdout, done.returncode) == ("both served\n", 0), done.stderr


@pytest.mark.parametrize(
    ("case", "closed"), [("known", ["parent"]), ("forgotten", ["child", "parent"])]
)
def test_a_child_process_never_closes_the_connection_of_its_parent(
    case: str, closed: list[str], tmp_path: Path
) -> None:
    done = run(LEAVE_ALONE, tmp_path / "threads.db", case)
    assert (done.stdout.split(), done.returncode) == (closed, 0), done.stderr
