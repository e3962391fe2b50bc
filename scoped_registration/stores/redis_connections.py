"""Connections to Redis, and calls on them that end in time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from redis import exceptions
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from scoped_registration.stores.calls import Turns
from scoped_registration.stores.redis_scripts import Script

# Any: what a server answers, and the options of the client, are untyped there.

__all__ = ["ENGINE", "Client", "RedisConnections", "run_script", "say"]

ENGINE = "Redis"

Client = Redis
T = TypeVar("T")

# A connection that has ended, or that leads to a server which is no longer the first one.
_GONE = (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ReadOnlyError)


class RedisConnections:
    """The connections of one event loop, and whose turn it is.

    Args:
        address: What redis-py made of the URL.
        limit: How many connections at most.
        timeout: Seconds for the engine to answer.
    """

    def __init__(self, address: Mapping[str, Any], *, limit: int, timeout: float) -> None:
        settings: dict[str, Any] = {
            **address,
            "decode_responses": False,
            "max_connections": limit,
            # Its own patience is spent on one try after another; that of `run` is for all.
            "retry": Retry(NoBackoff(), 0),
            "timeout": timeout,
        }
        self._timeout = timeout
        self._pool = BlockingConnectionPool(**settings)
        self._client = Client(connection_pool=self._pool)
        self._closed = False
        self.turns: Turns = Turns(ENGINE, limit, timeout)

    async def run(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """Do something that may be done twice.

        Raises:
            TimeoutError: The engine did not answer in time.
            redis.RedisError: It failed twice.
        """
        answered = True
        try:
            async with asyncio.timeout(self._timeout):
                try:
                    return await work(self._client)
                except _GONE:
                    # Probably the engine was started again: what is idle has ended too.
                    await self._close_idle()
                    return await work(self._client)
        except TimeoutError:
            answered = False
            raise
        finally:
            self.turns.give_back(answered=answered)
            if self._closed:
                await self._close_idle()

    async def aclose(self) -> None:
        """Close what is idle, and let what is in use be closed when it is given back."""
        self._closed = True
        await self._close_idle()

    async def _close_idle(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._timeout):
                await self._pool.disconnect(inuse_connections=False)


async def say(client: Client, *words: str | bytes) -> Any:
    """Send a command; what comes back is for the caller to know."""
    untyped: Any = client  # redis-py gives this method a type in part
    return await untyped.execute_command(*words)


async def run_script(client: Client, script: Script, key: str, *values: str | bytes) -> Any:
    """Run a script by its name; by its text where the server does not know it yet."""
    try:
        return await say(client, "EVALSHA", script.digest, "1", key, *values)
    except exceptions.NoScriptError:
        return await say(client, "EVAL", script.text, "1", key, *values)
