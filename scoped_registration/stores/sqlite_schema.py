"""The tables of the SQLite store, their version, and connections to a file that has them."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Literal

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.sqlite_thread import wait_until, writing

__all__ = ["Database"]

_VERSION = 1
_TABLES = (
    # Apart from the document: each run writes the lease twice, and would write the document too.
    """CREATE TABLE IF NOT EXISTS scoped_registration_lease (
        key TEXT NOT NULL PRIMARY KEY,
        owner TEXT NOT NULL,
        expires REAL NOT NULL
    ) WITHOUT ROWID""",
    # The document stands last: what is before it is read without it.
    """CREATE TABLE IF NOT EXISTS scoped_registration_document (
        key TEXT NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        writer TEXT,
        document BLOB
    )""",
    "CREATE TABLE IF NOT EXISTS scoped_registration_schema (version INTEGER NOT NULL)",
)


@attrs.frozen
class Database:
    """A database file, and how it is used.

    Attributes:
        path: The file.
        synchronous: When a commit counts as written.
        create: Whether a connection makes the tables that are missing.
    """

    path: Path
    synchronous: Literal["FULL", "NORMAL"]
    create: bool

    def connect(self, ends: float) -> sqlite3.Connection:
        """Return a connection to a file whose tables fit.

        Raises:
            RegistrationError: ``store_not_ready``.
        """
        if not self.create and not self.path.exists():
            raise _not_ready("there is no database file")
        # A file of a mistyped name must not come into being.
        mode = "rwc" if self.create else "rw"
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}", uri=True, isolation_level=None
        )
        try:
            wait_until(connection, ends)
            if self.create:
                _create_tables(connection, ends)
            if not _has_tables(connection):
                raise _not_ready("its tables are missing")
            connection.execute(f"PRAGMA synchronous = {self.synchronous}")
        except BaseException:
            connection.close()
            raise
        return connection


def _create_tables(connection: sqlite3.Connection, ends: float) -> None:
    if _has_tables(connection):
        return
    _use_wal(connection, ends)
    with writing(connection):
        if _has_tables(connection):  # another process was faster
            return
        for table in _TABLES:
            connection.execute(table)
        connection.execute("INSERT INTO scoped_registration_schema VALUES (?)", (_VERSION,))


def _use_wal(connection: sqlite3.Connection, ends: float) -> None:
    """Turn on the write-ahead log, which the file then keeps."""
    while not _wal_is_on(connection):
        wait_until(connection, ends)
        time.sleep(0.01)


def _wal_is_on(connection: sqlite3.Connection) -> bool:
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    except sqlite3.OperationalError as error:
        # Two processes that do this at once are refused without waiting.
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        return False
    if mode != "wal":
        raise RegistrationError(
            ReasonCode.STORE_NOT_READY,
            "the file system of the SQLite store allows no write-ahead log",
            instead="put the file on a local disk",
        )
    return True


def _has_tables(connection: sqlite3.Connection) -> bool:
    """Tell whether the tables are there; tables of another version are refused, and left alone."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    if connection.execute(query, ("scoped_registration_schema",)).fetchone() is None:
        return False
    row = connection.execute("SELECT max(version) FROM scoped_registration_schema").fetchone()
    version: object = row[0]
    if version != _VERSION:
        raise RegistrationError(
            ReasonCode.STORE_NOT_READY,
            f"the tables of the SQLite store have version {version!r}, and this release of "
            f"scoped_registration uses {_VERSION}; nothing was changed",
            instead="use the release that made them, or another file",
        )
    return True


def _not_ready(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.STORE_NOT_READY,
        f"the SQLite store is not ready: {problem}",
        instead="await store.create_schema() once, or SQLiteStore(path, create_schema=True)",
    )
