"""The store in PostgreSQL: durable, and shared by all machines that reach the server."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from typing_extensions import override

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.calls import PerLoop, check_limit, to_its_end
from scoped_registration.stores.deadline import check_timeout
from scoped_registration.stores.postgres_connections import (
    Connection,
    PostgresConnections,
)
from scoped_registration.stores.postgres_refusals import check_conninfo, not_ready, refusal_of
from scoped_registration.stores.postgres_sql import VERSION, Statements
from scoped_registration.stores.protocol import (
    Stored,
    StoreLease,
    lease_lost,
    store_busy,
)

__all__ = ["PostgresStore"]

T = TypeVar("T")

_LOCK = 0x5C09ED  # any number: whoever creates tables waits for others who do
_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,39}")


class PostgresStore:
    """Keeps documents in PostgreSQL.

    Connections are made when they are needed. Each statement is a transaction of its own and
    leaves nothing in a session, so the store works behind a pooler. One that gives each
    transaction another connection has to keep prepared statements (PgBouncer 1.21 or newer
    with ``max_prepared_statements``), or `prepared_statements` has to be False.

    Args:
        conninfo: A connection string or URL of libpq. It is never logged or shown.
        create_schema: Whether `open` creates tables that are missing; otherwise
            `create_schema` does it once.
        table_prefix: What the names of the three tables begin with.
        max_connections: How many connections one event loop makes. Calls beyond that wait for
            as long as the engine answers the others.
        timeout: Seconds until a call that was not answered is given up.
        prepared_statements: Whether the server may be asked to remember statements.

    Raises:
        RegistrationError: ``option_invalid``.

    Example:
        ```python
        store = PostgresStore(os.environ["DATABASE_URL"], create_schema=True)
        ```
    """

    def __init__(
        self,
        conninfo: str,
        *,
        create_schema: bool = False,
        table_prefix: str = "scoped_registration",
        max_connections: int = 10,
        timeout: float = 2.0,
        prepared_statements: bool = True,
    ) -> None:
        if not _PREFIX.fullmatch(table_prefix):
            raise RegistrationError(
                ReasonCode.OPTION_INVALID,
                "table_prefix is no name of at most 40 lower-case letters, digits and '_'",
                instead="table_prefix='scoped_registration'",
            )
        check_conninfo(conninfo)
        self._prefix = table_prefix
        self._creates = create_schema
        self._say = Statements.of(table_prefix)
        self._connections = PerLoop(
            partial(
                PostgresConnections,
                conninfo,
                limit=check_limit(max_connections),
                timeout=check_timeout(timeout),
                prepare_threshold=5 if prepared_statements else None,
            )
        )

    @override
    def __repr__(self) -> str:
        return f"PostgresStore(table_prefix={self._prefix!r})"

    @property
    def per_process(self) -> bool:
        """False: all processes that use the server see the same."""
        return False

    async def create_schema(self) -> None:
        """Create the tables, unless they are there.

        Raises:
            RegistrationError: ``store_not_ready`` if there are tables of another version.
            StoreUnavailableError: The engine did not answer, or refused.
        """
        await self._run(self._create)

    async def open(self) -> None:
        """As `ThreadStore.open`."""
        await self._run(self._create if self._creates else self._check)

    async def aclose(self) -> None:
        """As `ThreadStore.aclose`."""
        await self._connections.aclose()

    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        """As `ThreadStore.acquire`."""
        values = {"key": key, "owner": owner, "ttl": ttl, "known": if_version}

        async def acquire(connection: Connection) -> StoreLease | None:
            while True:
                row = await _row(connection, self._say.acquire, values)
                if row is None:
                    return None
                version, writer, document = row
                if document is not None or writer is None or version == if_version:
                    return StoreLease(
                        key=key, owner=owner, version=version, writer=writer, document=document
                    )

        return await self._run(acquire)

    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        """As `ThreadStore.renew`."""
        values = {"key": lease.key, "owner": lease.owner, "ttl": ttl}

        async def renew(connection: Connection) -> bool:
            return (await connection.execute(self._say.renew, values)).rowcount == 1

        return await self._run(renew)

    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        """As `ThreadStore.commit`."""
        values = {
            "key": lease.key,
            "owner": lease.owner,
            "version": lease.version,
            "document": document,
            "release": release,
        }

        async def commit(connection: Connection) -> bool:
            if await _row(connection, self._say.commit, values) is not None:
                return True
            if await _row(connection, self._say.committed, values) is None:
                return False
            if release:
                await connection.execute(self._say.release, values)
            return True

        if not await self._run(commit):
            raise lease_lost()
        return lease.version + 1

    async def release(self, lease: StoreLease) -> None:
        """As `ThreadStore.release`."""
        values = {"key": lease.key, "owner": lease.owner}

        async def release(connection: Connection) -> None:
            await connection.execute(self._say.release, values)

        await self._run(release)

    async def load(self, key: str) -> Stored | None:
        """As `ThreadStore.load`."""

        async def load(connection: Connection) -> Stored | None:
            row = await _row(connection, self._say.load, {"key": key})
            return None if row is None else Stored(*row)

        return await self._run(load)

    async def delete(self, key: str) -> bool:
        """As `ThreadStore.delete`."""
        values = {"key": key}

        async def delete(connection: Connection) -> bool | None:
            while True:
                # The second statement sees what was written while the first one waited.
                async with connection.transaction():
                    if (await connection.execute(self._say.forget, values)).rowcount == 1:
                        await connection.execute(self._say.delete, values)
                        return True
                leased, written = await _row(connection, self._say.state, values) or (False, False)
                if leased:
                    return None
                if not written:
                    return False

        deleted = await self._run(delete)
        if deleted is None:
            raise store_busy()
        return deleted

    async def _check(self, connection: Connection) -> None:
        row = await _row(connection, self._say.version)
        if row is None or row[0] is None:
            raise not_ready("its tables are missing")
        version: object = row[0]
        if version != VERSION:
            raise not_ready(
                f"its tables have version {version!r}, and this release of scoped_registration "
                f"uses {VERSION}; nothing was changed",
                instead="use the release that made them, or another table_prefix",
            )

    async def _create(self, connection: Connection) -> None:
        try:
            await self._check(connection)
        except errors.UndefinedTable:
            await self._create_tables(connection)
            await self._check(connection)

    async def _create_tables(self, connection: Connection) -> None:
        async with connection.transaction():
            # Two who create the same table at once are refused by the engine. The lock ends
            # with the transaction.
            await connection.execute("SELECT pg_advisory_xact_lock(%s::bigint)", [_LOCK])
            await connection.execute(self._say.schema)
            row = await _row(connection, self._say.version)
            if row is not None and row[0] is not None:
                return  # another worker was faster
            for table in self._say.tables:
                await connection.execute(table)
            try:
                async with connection.transaction():
                    await connection.execute(self._say.compress)
            except psycopg.Error:  # a server without lz4, whose own compression is slow
                await connection.execute(self._say.store_raw)
            await connection.execute(self._say.set_version, {"version": VERSION})

    async def _run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        connections = await self._connections.get()
        await connections.turns.take()
        done = await to_its_end(connections.run(work))
        error = done.exception()
        if error is None:
            return done.result()
        # Raised here, not where it was caught: the driver's error is then no part of it.
        raise refusal_of(error)


async def _row(
    connection: Connection, query: bytes, values: Mapping[str, object] | None = None
) -> tuple[Any, ...] | None:
    # In the binary format a document is not written out in hexadecimal digits.
    cursor = await connection.execute(query, values, binary=True)
    return await cursor.fetchone()
