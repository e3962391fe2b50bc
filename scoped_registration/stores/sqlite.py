"""The store in one file: durable, and shared by the processes of one machine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import attrs
from typing_extensions import override

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.deadline import check_timeout
from scoped_registration.stores.protocol import Stored, StoreLease, lease_lost, store_busy
from scoped_registration.stores.sqlite_schema import Database
from scoped_registration.stores.sqlite_thread import SQLiteThread, writing

__all__ = ["SQLiteStore"]

T = TypeVar("T")

# SQLite's own clock, in seconds: all processes that use the file ask the same one.
_NOW = "((julianday('now') - 2440587.5) * 86400.0)"
_TAKE = f"""
    INSERT INTO scoped_registration_lease (key, owner, expires) VALUES (:key, :owner, {_NOW} + :ttl)
    ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, expires = excluded.expires
    WHERE owner = excluded.owner OR expires <= {_NOW}"""  # noqa: S608  # a constant
_RENEW = f"""
    UPDATE scoped_registration_lease SET expires = {_NOW} + :ttl
    WHERE key = :key AND owner = :owner AND expires > {_NOW}"""  # noqa: S608
_HOLDER = f"""
    SELECT owner FROM scoped_registration_lease WHERE key = :key AND expires > {_NOW}"""  # noqa: S608
_RELEASE = "DELETE FROM scoped_registration_lease WHERE key = :key AND owner = :owner"
_VERSION = "SELECT version, writer FROM scoped_registration_document WHERE key = :key"
_READ = """
    SELECT version, writer, CASE WHEN version IS NOT :known THEN document END
    FROM scoped_registration_document WHERE key = :key"""
_WRITE = """
    INSERT INTO scoped_registration_document (key, version, writer, document)
    VALUES (:key, :version, :owner, :document)
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, writer = excluded.writer,
        document = excluded.document"""
# The number stays and grows: whoever has an instance of a deleted version must not meet the
# same version again.
_DELETE = """
    UPDATE scoped_registration_document SET version = version + 1, writer = NULL, document = NULL
    WHERE key = :key AND document IS NOT NULL"""


class SQLiteStore:
    """Keeps documents in a SQLite file: for the processes of one machine, on a local disk.

    Nothing is opened before the first call. Every statement runs in one thread of the store's
    own, so no event loop waits for a disk.

    Args:
        path: The database file. It may hold other tables too.
        create_schema: Whether tables that are missing are created at the first call; otherwise
            `create_schema` does it once.
        synchronous: ``"FULL"``: a turn that was answered survives a power cut. ``"NORMAL"`` is
            faster; a power cut may undo the last turns, the end of a process does not.
        timeout: Seconds until a call that was not answered is given up.

    Raises:
        RegistrationError: ``option_invalid``.

    Example:
        ```python
        store = SQLiteStore("threads.db", create_schema=True)
        ```
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create_schema: bool = False,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        timeout: float = 2.0,
    ) -> None:
        text = os.fspath(path)
        if not text or text == ":memory:" or text.startswith("file:"):
            raise RegistrationError(
                ReasonCode.OPTION_INVALID,
                "the path of a SQLiteStore is not the path of a file",
                instead="SQLiteStore('threads.db'), or MemoryStore()",
            )
        if synchronous not in ("FULL", "NORMAL"):
            raise RegistrationError(
                ReasonCode.OPTION_INVALID,
                "synchronous is neither 'FULL' nor 'NORMAL'",
                instead="synchronous='FULL'",
            )
        self._database = Database(Path(text).absolute(), synchronous, create_schema)
        self._timeout = check_timeout(timeout)
        # One for each process: after a fork, thread and connection are the parent's.
        self._threads: dict[int, SQLiteThread] = {}

    @override
    def __repr__(self) -> str:
        return f"SQLiteStore({self._database.path.name!r})"

    @property
    def per_process(self) -> bool:
        """False: all processes that use the file see the same."""
        return False

    async def create_schema(self) -> None:
        """Create the tables, and the file, unless they are there.

        Raises:
            RegistrationError: ``store_not_ready`` if there are tables of another version.
            StoreUnavailableError: The file cannot be written.
        """
        create = attrs.evolve(self._database, create=True)
        await self._thread().call(lambda ends: create.connect(ends).close())

    async def open(self) -> None:
        """As `ThreadStore.open`."""
        await self._run(lambda _: None)

    async def aclose(self) -> None:
        """As `ThreadStore.aclose`: the thread ends, too."""
        thread = self._threads.pop(os.getpid(), None)
        if thread is not None:
            await thread.aclose()

    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        """As `ThreadStore.acquire`."""
        return await self._run(partial(_acquire, key, owner, ttl, if_version))

    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        """As `ThreadStore.renew`."""
        return await self._run(partial(_renew, lease, ttl))

    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        """As `ThreadStore.commit`."""
        return await self._run(partial(_commit, lease, bytes(document), release))

    async def release(self, lease: StoreLease) -> None:
        """As `ThreadStore.release`."""
        await self._run(partial(_release, lease))

    async def load(self, key: str) -> Stored | None:
        """As `ThreadStore.load`."""
        return await self._run(partial(_load, key))

    async def delete(self, key: str) -> bool:
        """As `ThreadStore.delete`."""
        return await self._run(partial(_delete, key))

    def _thread(self) -> SQLiteThread:
        process = os.getpid()
        found = self._threads.get(process)
        if found is None:  # a thread that loses this race has not started
            found = self._threads.setdefault(
                process, SQLiteThread(self._database.connect, self._timeout)
            )
        return found

    async def _run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        return await self._thread().run(job)


def _acquire(
    key: str, owner: str, ttl: float, known: int | None, connection: sqlite3.Connection
) -> StoreLease | None:
    with writing(connection):
        values = {"key": key, "owner": owner, "ttl": ttl, "known": known}
        if connection.execute(_TAKE, values).rowcount == 0:
            return None
        row = connection.execute(_READ, values).fetchone()
    version, writer, document = (0, None, None) if row is None else row
    return StoreLease(key=key, owner=owner, version=version, writer=writer, document=document)


def _renew(lease: StoreLease, ttl: float, connection: sqlite3.Connection) -> bool:
    with writing(connection):
        values = {"key": lease.key, "owner": lease.owner, "ttl": ttl}
        return connection.execute(_RENEW, values).rowcount == 1


def _commit(
    lease: StoreLease, document: bytes, release: bool, connection: sqlite3.Connection
) -> int:
    version = lease.version + 1
    values = {
        "key": lease.key,
        "owner": lease.owner,
        "version": version,
        "document": document,
    }
    with writing(connection):
        holder = connection.execute(_HOLDER, values).fetchone()
        found = connection.execute(_VERSION, values).fetchone() or (0, None)
        if holder == (lease.owner,) and found[0] == lease.version:
            connection.execute(_WRITE, values)
        elif found != (version, lease.owner):  # else it was written, and the reply was lost
            raise lease_lost()
        if release:
            connection.execute(_RELEASE, values)
    return version


def _release(lease: StoreLease, connection: sqlite3.Connection) -> None:
    with writing(connection):
        connection.execute(_RELEASE, {"key": lease.key, "owner": lease.owner})


def _load(key: str, connection: sqlite3.Connection) -> Stored | None:
    row = connection.execute(_READ, {"key": key, "known": None}).fetchone()
    return None if row is None or row[2] is None else Stored(row[2], row[0])


def _delete(key: str, connection: sqlite3.Connection) -> bool:
    with writing(connection):
        if connection.execute(_HOLDER, {"key": key}).fetchone() is not None:
            raise store_busy()
        return connection.execute(_DELETE, {"key": key}).rowcount == 1
