"""One thread with one connection: what SQLite is used by, whatever event loops there are."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.protocol import StoreUnavailableError, store_unavailable

__all__ = ["SQLiteThread", "wait_until", "writing"]

T = TypeVar("T")

# By the beginning of SQLite's own name of the error, which holds nothing of the user's.
_CAUSES = {
    "SQLITE_BUSY": "another process has kept the database locked for too long",
    "SQLITE_CANTOPEN": "the database file, or a file beside it, cannot be opened",
    "SQLITE_CORRUPT": "the database file is damaged",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk, or the file system, reported an error",
    "SQLITE_NOTADB": "the file is no SQLite database",
    "SQLITE_READONLY": "the database file, or its directory, cannot be written",
}

_threads: weakref.WeakSet[SQLiteThread] = weakref.WeakSet()


class SQLiteThread:
    """A thread that starts with its first job, and a connection that only it uses.

    Args:
        connect: Makes the connection, in the thread. It is given the time, by
            `time.monotonic`, when it should have ended.
        timeout: Seconds that SQLite may take to answer.
    """

    def __init__(self, connect: Callable[[float], sqlite3.Connection], timeout: float) -> None:
        self._connect = connect
        self._timeout = timeout
        self._connection: sqlite3.Connection | None = None
        self._answered = 0.0
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="scoped_registration-sqlite")
        _threads.add(self)

    async def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run a job with the connection, as `call` does."""
        return await self.call(partial(self._with_connection, job))

    async def call(self, job: Callable[[float], T]) -> T:
        """Run a job in the thread, after those that came before.

        To wait for others is no failure of SQLite. To wait while none of them is done is.
        A job that has begun goes on when its caller is cancelled or has given up; one that
        has not is dropped.

        Args:
            job: What to do. It is given the time when it should have ended.

        Raises:
            StoreUnavailableError: SQLite refused, or did not answer.
        """
        try:
            future = self._executor.submit(self._run, job)
        except RuntimeError:  # another thread closed the store, or the interpreter ends
            raise _closed() from None
        try:
            return await self._answer(future)
        finally:
            future.cancel()

    async def aclose(self) -> None:
        """Close the connection after the jobs that came before, and end the thread."""
        closing = self._executor.submit(self._disconnect)
        self._executor.shutdown(wait=False)
        await self._answer(closing)

    async def _answer(self, future: Future[T]) -> T:
        answer = asyncio.wrap_future(future)
        answer.add_done_callback(_retrieve)
        begun = time.monotonic()
        while not answer.done():
            left = max(begun, self._answered) + self._timeout - time.monotonic()
            if left <= 0:
                raise store_unavailable("SQLite")
            await asyncio.wait([answer], timeout=left)
        return answer.result()

    def abandon(self) -> None:
        """Never touch the connection again: it belongs to the process that this is a copy of.

        Even to close it may write to the memory that both processes share, so the object is
        kept from being destroyed when the interpreter ends.
        """
        if self._connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))

    def _with_connection(self, job: Callable[[sqlite3.Connection], T], ends: float) -> T:
        if self._connection is None:
            self._connection = self._connect(ends)
        wait_until(self._connection, ends)
        return job(self._connection)

    def _run(self, job: Callable[[float], T]) -> T:
        try:
            done = job(time.monotonic() + self._timeout)
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", type(error).__qualname__)
            if not name.startswith("SQLITE_BUSY"):
                self._disconnect()  # the next call begins with what is on the disk
            raise _failed(name) from None
        except RegistrationError:  # a refusal is an answer
            self._answered = time.monotonic()
            raise
        self._answered = time.monotonic()
        return done

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def wait_until(connection: sqlite3.Connection, ends: float) -> None:
    """Let SQLite wait for other processes, and give up before its caller does.

    Raises:
        StoreUnavailableError: The caller has given up already.
    """
    remaining = ends - time.monotonic()
    if remaining <= 0:
        raise store_unavailable("SQLite")
    connection.execute(f"PRAGMA busy_timeout = {int(remaining * 750)}")  # milliseconds


@contextlib.contextmanager
def writing(connection: sqlite3.Connection) -> Generator[None]:
    """Make one transaction that no other writer overlaps."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Take the error of a job whose caller has gone: nobody else will."""
    if not future.cancelled():
        future.exception()


def _failed(name: str) -> StoreUnavailableError:
    cause = next((text for code, text in _CAUSES.items() if name.startswith(code)), None)
    return StoreUnavailableError(
        ReasonCode.STORE_UNAVAILABLE,
        f"the SQLite store failed: {cause or 'SQLite refused a statement'} ({name})",
        instead="see to the database file; the call may be repeated",
    )


def _closed() -> StoreUnavailableError:
    return StoreUnavailableError(
        ReasonCode.STORE_UNAVAILABLE,
        "the SQLite store was closed meanwhile",
        instead="repeat the call: it opens the store again",
    )


def _abandon_all() -> None:
    for thread in list(_threads):
        thread.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
