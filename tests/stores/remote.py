"""Servers as fixtures, and stores on them, here and in worker processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from typing import Any, NoReturn

import anyio
import attrs
import pytest

from scoped_registration.stores.postgres import PostgresStore
from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.stores.redis import RedisStore
from tests.stores.binaries import EngineMissingError
from tests.stores.processes import Engine
from tests.stores.servers import PostgresServer, RedisServer, Server

__all__ = ["PATIENCE", "Remote", "postgres", "postgres_at", "redis", "redis_at", "remote"]

PATIENCE = 30.0
"""Seconds for an engine to answer: a busy machine is no fault of the code."""


def postgres_at(address: str, *, timeout: float = PATIENCE, **options: Any) -> PostgresStore:
    return PostgresStore(address, create_schema=True, timeout=timeout, **options)


def redis_at(address: str, *, timeout: float = PATIENCE, **options: Any) -> RedisStore:
    return RedisStore(address, timeout=timeout, **options)


@attrs.frozen
class Remote:
    """A server, and how a store on it is made."""

    server: Server
    store_at: Callable[..., ThreadStore]  # an address and options

    def store(self, **options: Any) -> ThreadStore:
        return self.store_at(self.server.address, **options)

    @property
    def engine(self) -> Engine:
        return Engine(f"{__name__}:{self.store_at.__name__}", self.server.address)


@pytest.fixture(scope="session")
def postgres() -> Generator[PostgresServer]:
    """One server for all tests of this process; each uses keys of its own."""
    try:
        server = PostgresServer()
    except EngineMissingError as error:
        _missing(error)
    with server.running():
        anyio.run(postgres_at(server.address).create_schema)
        yield server


@pytest.fixture(scope="session")
def redis() -> Generator[RedisServer]:
    """One server for all tests of this process; each uses keys of its own."""
    try:
        server = RedisServer()
    except EngineMissingError as error:
        _missing(error)
    with server.running():
        yield server


@pytest.fixture(params=["postgres", "redis"])
def remote(request: pytest.FixtureRequest) -> Remote:
    """For tests of every store that has a server."""
    store_at: Callable[..., ThreadStore] = postgres_at if request.param == "postgres" else redis_at
    return Remote(request.getfixturevalue(request.param), store_at)


def _missing(error: EngineMissingError) -> NoReturn:
    """Skip what needs an engine that is not there, except where all of them must be."""
    if os.environ.get("CI"):
        pytest.fail(str(error))
    pytest.skip(str(error))
