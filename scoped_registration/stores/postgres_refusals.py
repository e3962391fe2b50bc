"""What is said of PostgreSQL, without the driver's text: it may hold a user or a password."""

from __future__ import annotations

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.postgres_connections import ENGINE, TimeIsUpError
from scoped_registration.stores.protocol import store_unavailable

__all__ = ["check_conninfo", "not_ready", "refusal_of"]

_MISSING = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
_POOLED = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)


def check_conninfo(conninfo: str) -> None:
    """Refuse what libpq cannot read.

    Raises:
        RegistrationError: ``option_invalid``.
    """
    try:
        conninfo_to_dict(conninfo)
    except psycopg.Error:
        pass  # its text may hold a password
    else:
        return
    raise RegistrationError(
        ReasonCode.OPTION_INVALID,
        "the conninfo of a PostgresStore is neither a connection string nor a URL of libpq",
        instead="PostgresStore('postgresql://user:password@host:5432/database')",
    )


def refusal_of(error: BaseException) -> BaseException:
    """Return what the caller is told, without the driver's text."""
    if isinstance(error, TimeIsUpError):
        return store_unavailable(ENGINE)
    if isinstance(error, _MISSING):
        return not_ready("its tables are missing")
    if isinstance(error, _POOLED):
        return not_ready(
            "a pooler between it and the server keeps no prepared statements",
            instead="PostgresStore(..., prepared_statements=False)",
        )
    return store_unavailable(ENGINE, error) if isinstance(error, psycopg.Error) else error


def not_ready(problem: str, *, instead: str | None = None) -> RegistrationError:
    """Return the refusal of a server that cannot be used as it is."""
    return RegistrationError(
        ReasonCode.STORE_NOT_READY,
        f"the {ENGINE} store is not ready: {problem}",
        instead=instead
        or "await store.create_schema() once, or PostgresStore(..., create_schema=True)",
    )
