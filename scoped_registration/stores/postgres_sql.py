"""What the PostgreSQL store says to its engine.

Each statement is a transaction of its own and leaves nothing in the session, so that a pooler
may give each one another connection. A statement sees the documents as they were when it
began, and may then have waited for the lease while another one committed. So the row of the
lease, which is read as it is after the wait, says which version there is: whoever finds no
document of that version says the same statement again.
"""

from __future__ import annotations

from typing import LiteralString

import attrs
from psycopg import sql

__all__ = ["VERSION", "Statements"]

VERSION = 1
"""Of the tables."""

# Half-empty pages: a lease is written twice in each run, and then finds room beside itself.
_LEASE_TABLE = """
CREATE TABLE {lease} (
    key text NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    writer text,
    owner text,
    expires timestamptz
) WITH (fillfactor = 50)
"""

# Apart from the lease, or each renewal would write the document too.
_DOCUMENT_TABLE = """
CREATE TABLE {document} (
    key text NOT NULL PRIMARY KEY,
    version bigint NOT NULL,
    document bytea NOT NULL
) WITH (fillfactor = 70)
"""

# The first subquery keeps a caller that finds the lease taken from writing anything.
_ACQUIRE = """
WITH taken AS (
    INSERT INTO {lease} AS held (key, version, owner, expires)
    SELECT %(key)s::text, 0, %(owner)s::text,
        clock_timestamp() + make_interval(secs => %(ttl)s::float8)
    WHERE NOT EXISTS (
        SELECT FROM {lease}
        WHERE key = %(key)s::text AND owner <> %(owner)s::text AND expires > clock_timestamp()
    )
    ON CONFLICT (key) DO UPDATE SET
        owner = excluded.owner,
        expires = clock_timestamp() + make_interval(secs => %(ttl)s::float8)
    WHERE held.owner IS NULL OR held.owner = excluded.owner OR held.expires <= clock_timestamp()
    RETURNING key, version, writer
)
SELECT taken.version, taken.writer, found.document
FROM taken LEFT JOIN {document} AS found
    ON found.key = taken.key
    AND found.version = taken.version
    AND found.version IS DISTINCT FROM %(known)s::bigint
"""

_RENEW = """
UPDATE {lease} SET expires = clock_timestamp() + make_interval(secs => %(ttl)s::float8)
WHERE key = %(key)s::text AND owner = %(owner)s::text AND expires > clock_timestamp()
"""

_COMMIT = """
WITH written AS (
    UPDATE {lease} SET
        version = version + 1,
        writer = owner,
        owner = CASE WHEN %(release)s::bool THEN NULL ELSE owner END
    WHERE key = %(key)s::text AND owner = %(owner)s::text AND version = %(version)s::bigint
        AND expires > clock_timestamp()
    RETURNING key, version
), stored AS (
    INSERT INTO {document} (key, version, document)
    SELECT key, version, %(document)s::bytea FROM written
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, document = excluded.document
)
SELECT true FROM written
"""

# After a commit that wrote nothing: was it written before, and the reply lost?
_COMMITTED = """
SELECT true FROM {lease} WHERE key = %(key)s::text AND writer = %(owner)s::text
    AND version = %(version)s::bigint + 1
"""

_RELEASE = """
WITH unused AS (
    DELETE FROM {lease} WHERE key = %(key)s::text AND owner = %(owner)s::text AND version = 0
)
UPDATE {lease} SET owner = NULL
WHERE key = %(key)s::text AND owner = %(owner)s::text AND version > 0
"""

_LOAD = "SELECT document, version FROM {document} WHERE key = %(key)s::text"

# The number stays: whoever has an instance of a deleted version must not meet it again.
_FORGET = """
UPDATE {lease} SET version = version + 1, writer = NULL, owner = NULL
WHERE key = %(key)s::text AND writer IS NOT NULL
    AND (owner IS NULL OR expires <= clock_timestamp())
"""

_DELETE = "DELETE FROM {document} WHERE key = %(key)s::text"

_STATE = """
SELECT owner IS NOT NULL AND expires > clock_timestamp(), writer IS NOT NULL
FROM {lease} WHERE key = %(key)s::text
"""


@attrs.frozen
class Statements:
    """The statements for tables whose names begin with a prefix."""

    acquire: bytes
    renew: bytes
    commit: bytes
    committed: bytes
    release: bytes
    load: bytes
    forget: bytes
    delete: bytes
    state: bytes
    schema: bytes
    version: bytes
    set_version: bytes
    tables: tuple[bytes, ...]
    compress: bytes
    store_raw: bytes

    @classmethod
    def of(cls, prefix: str) -> Statements:
        """Return the statements for a prefix that is an identifier."""
        names = {
            name: sql.Identifier(f"{prefix}_{name}") for name in ("lease", "document", "schema")
        }

        def written(text: LiteralString) -> bytes:
            return sql.SQL(text).format(**names).as_bytes(None)

        return cls(
            acquire=written(_ACQUIRE),
            renew=written(_RENEW),
            commit=written(_COMMIT),
            committed=written(_COMMITTED),
            release=written(_RELEASE),
            load=written(_LOAD),
            forget=written(_FORGET),
            delete=written(_DELETE),
            state=written(_STATE),
            schema=written("CREATE TABLE IF NOT EXISTS {schema} (version int NOT NULL)"),
            version=written("SELECT max(version) FROM {schema}"),
            set_version=written("INSERT INTO {schema} VALUES (%(version)s)"),
            tables=(written(_LEASE_TABLE), written(_DOCUMENT_TABLE)),
            compress=written("ALTER TABLE {document} ALTER document SET COMPRESSION lz4"),
            store_raw=written("ALTER TABLE {document} ALTER document SET STORAGE EXTERNAL"),
        )
