"""Connections to PostgreSQL: made when they are needed, kept, and hung up on in time.

Not psycopg_pool: it makes connections in tasks of its own, which log the driver's text, and a
caller waits for the next attempt of such a task instead of being told that the engine is away.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from scoped_registration.stores.calls import Turns

__all__ = ["ENGINE", "Connection", "PostgresConnections", "TimeIsUpError"]

ENGINE = "PostgreSQL"

Connection = psycopg.AsyncConnection[tuple[Any, ...]]
T = TypeVar("T")

# What a server reports whose default isolation is higher than READ COMMITTED.
_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
# A connection that has ended, or that leads to a server which is no longer the first one.
_GONE = (psycopg.OperationalError, psycopg.InterfaceError, errors.ReadOnlySqlTransaction)


class TimeIsUpError(Exception):
    """The engine did not answer in time."""


class PostgresConnections:
    """The connections of one event loop, and whose turn it is.

    Args:
        conninfo: Where to connect to.
        limit: How many connections at most.
        timeout: Seconds for the engine to answer.
        prepare_threshold: As psycopg's.
    """

    def __init__(
        self, conninfo: str, *, limit: int, timeout: float, prepare_threshold: int | None
    ) -> None:
        self._conninfo = conninfo
        self._timeout = timeout
        self._prepare_threshold = prepare_threshold
        self._idle: list[Connection] = []
        self._closed = False
        self.turns: Turns = Turns(ENGINE, limit, timeout)

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do something that may be done twice, on a connection that works.

        Raises:
            TimeIsUpError: The engine did not answer in time.
            psycopg.Error: It failed twice.
        """
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._timeout
        answered = True
        try:
            try:
                return await self._attempt(work, ends)
            except _AGAIN:
                while True:  # each time, another one has got on
                    with contextlib.suppress(*_AGAIN):
                        return await self._attempt(work, ends)
            except _GONE:
                # Probably the engine was started again: what is idle has ended too.
                await self._drop_idle()
                return await self._attempt(work, ends)
        except TimeIsUpError:
            answered = False
            raise
        finally:
            self.turns.give_back(answered=answered)

    async def aclose(self) -> None:
        """Close what is idle, and let what is in use be closed when it is given back."""
        self._closed = True
        await self._drop_idle()

    async def _attempt(self, work: Callable[[Connection], Awaitable[T]], ends: float) -> T:
        loop = asyncio.get_running_loop()
        if loop.time() >= ends:
            raise TimeIsUpError
        connection = await self._take(ends)
        overdue = False

        def hang_up() -> None:
            nonlocal overdue
            overdue = True
            _hang_up(connection)

        # Not a cancellation: psycopg would ask the engine to cancel, and wait for its answer.
        timer = loop.call_at(ends, hang_up)
        keep = False
        try:
            result = await work(connection)
            keep = True
        except _AGAIN:
            keep = True
            raise
        except psycopg.OperationalError:
            if overdue:
                raise TimeIsUpError from None
            raise
        finally:
            timer.cancel()
            if keep and not overdue and not self._closed:
                self._idle.append(connection)
            else:
                await connection.close()
        return result

    async def _take(self, ends: float) -> Connection:
        if self._idle:
            return self._idle.pop()
        try:
            async with asyncio.timeout_at(ends):
                return await psycopg.AsyncConnection.connect(
                    self._conninfo,
                    autocommit=True,
                    prepare_threshold=self._prepare_threshold,
                )
        except TimeoutError:
            raise TimeIsUpError from None

    async def _drop_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()


def _hang_up(connection: Connection) -> None:
    with contextlib.suppress(OSError, psycopg.OperationalError):
        number = connection.fileno()
        with socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM) as line:
            line.shutdown(socket.SHUT_RDWR)
