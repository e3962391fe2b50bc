"""The store in Redis or Valkey: fast, and as durable as the server is told to be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from redis import exceptions
from redis.asyncio.connection import parse_url
from typing_extensions import override

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.calls import PerLoop, check_limit, to_its_end
from scoped_registration.stores.deadline import check_timeout
from scoped_registration.stores.protocol import (
    Stored,
    StoreLease,
    lease_lost,
    store_busy,
    store_unavailable,
)
from scoped_registration.stores.redis_connections import (
    ENGINE,
    Client,
    RedisConnections,
    run_script,
    say,
)
from scoped_registration.stores.redis_scripts import (
    ACQUIRE,
    COMMIT,
    DELETE,
    RELEASE,
    RENEW,
    Script,
)
from scoped_registration.stores.redis_settings import check_settings

__all__ = ["RedisStore"]

T = TypeVar("T")

_FORMAT = 1
"""Of the hashes: another one would have other names."""


class RedisStore:
    """Keeps documents in Redis or Valkey.

    One hash for each key, which nothing deletes but `delete`: the server has to be one that
    evicts nothing and writes to a disk. `open` asks it.

    A document that was committed is as safe as the server's settings make it: with
    ``appendfsync everysec`` a power cut may undo the last second. A replica that takes over
    may lack the last commits, and the leases with them; what then follows is another turn
    on an older document, never one document over another.

    Args:
        url: A URL of redis-py: ``redis://``, ``rediss://`` or ``unix://``. It is never logged
            or shown.
        prefix: What all keys begin with.
        max_connections: How many connections one event loop makes. Calls beyond that wait for
            as long as the engine answers the others.
        timeout: Seconds until a call that was not answered is given up.
        require_persistence: False: a server that keeps documents in memory alone, or that
            does not say whether it does, is fine.

    Raises:
        RegistrationError: ``option_invalid``.

    Example:
        ```python
        store = RedisStore(os.environ["REDIS_URL"])
        ```
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "scoped_registration",
        max_connections: int = 50,
        timeout: float = 2.0,
        require_persistence: bool = True,
    ) -> None:
        if not prefix or "{" in prefix or "}" in prefix:
            raise RegistrationError(
                ReasonCode.OPTION_INVALID,
                "the prefix of a RedisStore is empty, or holds '{' or '}'",
                instead="prefix='scoped_registration'",
            )
        self._prefix = prefix
        self._require_persistence = require_persistence
        self._connections = PerLoop(
            partial(
                RedisConnections,
                _address(url),
                limit=check_limit(max_connections),
                timeout=check_timeout(timeout),
            )
        )

    @override
    def __repr__(self) -> str:
        return f"RedisStore(prefix={self._prefix!r})"

    @property
    def per_process(self) -> bool:
        """False: all processes that use the server see the same."""
        return False

    async def open(self) -> None:
        """As `ThreadStore.open`: asks the server for its settings."""
        await self._run(partial(check_settings, require_persistence=self._require_persistence))

    async def aclose(self) -> None:
        """As `ThreadStore.aclose`."""
        await self._connections.aclose()

    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: int | None = None
    ) -> StoreLease | None:
        """As `ThreadStore.acquire`."""
        known = "" if if_version is None else str(if_version)
        row = await self._script(ACQUIRE, key, owner, _milliseconds(ttl), known)
        if row is None:
            return None
        version, *rest = row
        return StoreLease(
            key=key,
            owner=owner,
            version=int(version),
            writer=rest[0].decode() if rest and rest[0] else None,
            document=rest[1] if len(rest) > 1 else None,
        )

    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        """As `ThreadStore.renew`."""
        return bool(await self._script(RENEW, lease.key, lease.owner, _milliseconds(ttl)))

    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        """As `ThreadStore.commit`."""
        version = lease.version + 1
        values = (str(lease.version), str(version), document, str(int(release)))
        if not await self._script(COMMIT, lease.key, lease.owner, *values):
            raise lease_lost()
        return version

    async def release(self, lease: StoreLease) -> None:
        """As `ThreadStore.release`."""
        await self._script(RELEASE, lease.key, lease.owner)

    async def load(self, key: str) -> Stored | None:
        """As `ThreadStore.load`."""
        name = self._name(key)
        version, document = await self._run(
            lambda client: say(client, "HMGET", name, "version", "document")
        )
        return None if document is None else Stored(document, int(version))

    async def delete(self, key: str) -> bool:
        """As `ThreadStore.delete`."""
        deleted = await self._script(DELETE, key)
        if deleted < 0:
            raise store_busy()
        return bool(deleted)

    def _name(self, key: str) -> str:
        # In a cluster the braces decide where a key lives.
        return f"{self._prefix}:{_FORMAT}:{{{key}}}"

    async def _script(self, script: Script, key: str, *values: str | bytes) -> Any:
        name = self._name(key)
        return await self._run(lambda client: run_script(client, script, name, *values))

    async def _run(self, work: Callable[[Client], Awaitable[T]]) -> T:
        connections = await self._connections.get()
        await connections.turns.take()
        done = await to_its_end(connections.run(work))
        error = done.exception()
        if error is None:
            return done.result()
        # Raised here, not where it was caught: the driver's error is then no part of it.
        if isinstance(error, TimeoutError):
            raise store_unavailable(ENGINE)
        if isinstance(error, (exceptions.RedisError, OSError)):
            raise store_unavailable(ENGINE, error)
        raise error


def _address(url: str) -> Mapping[str, Any]:
    try:
        return parse_url(url)
    except ValueError:
        pass  # its text may hold a password
    raise RegistrationError(
        ReasonCode.OPTION_INVALID,
        "the url of a RedisStore is none",
        instead="RedisStore('redis://user:password@host:6379/0')",
    )


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))
