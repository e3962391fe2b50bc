"""What the Redis store asks of a server: to evict nothing, and to write to a disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

import anyio
import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.redis import RedisStore
from tests.stores.processes import LIMIT
from tests.stores.remote import redis_at
from tests.stores.servers import RedisServer

Start = Callable[..., RedisServer]
LIMITED = "limited"
"""The name, and the password, of a user who may do less than all."""


@pytest.fixture
def start(redis: RedisServer) -> Generator[Start]:
    """Starts servers with settings of their own; skips as `redis` does."""
    with contextlib.ExitStack() as stack:

        def start(*options: str) -> RedisServer:
            server = RedisServer(*options)
            stack.enter_context(server.running())
            return server

        yield start


def limited(server: RedisServer, *forbidden: str) -> str:
    """Return the address of a user who may not use some commands."""
    rights = ["on", f">{LIMITED}", "~*", "&*", "+@all", *(f"-{name}" for name in forbidden)]
    server.ask("ACL SETUSER", LIMITED, *rights)
    return f"redis://{LIMITED}:{LIMITED}@127.0.0.1:{server.port}/0"


async def opened(store: RedisStore) -> str | None:
    """Open a store; return what it says against it."""
    try:
        with anyio.fail_after(LIMIT):
            await store.open()
    except RegistrationError as error:
        return str(error) if error.code is ReasonCode.STORE_NOT_READY else None
    finally:
        await store.aclose()
    return None


@pytest.mark.parametrize("persistence", [True, False])
@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
async def test_a_server_that_evicts_is_refused(
    start: Start, policy: str, persistence: bool
) -> None:
    server = start("--maxmemory-policy", policy)
    store = redis_at(server.address, require_persistence=persistence)
    said = await opened(store)
    assert said is not None
    assert policy in said
    assert "noeviction" in said


@pytest.mark.parametrize("options", [["--appendonly", "no"], ["--appendonly", "no", "--save", ""]])
async def test_a_server_that_forgets_is_refused_unless_that_is_fine(
    start: Start, options: list[str]
) -> None:
    server = start(*options)
    said = await opened(redis_at(server.address))
    assert said is not None
    assert "appendonly" in said
    assert "require_persistence=False" in said
    assert await opened(redis_at(server.address, require_persistence=False)) is None


async def test_an_append_only_file_or_snapshots_are_enough(
    redis: RedisServer, start: Start
) -> None:
    assert await opened(redis_at(redis.address)) is None
    snapshots = start("--appendonly", "no", "--save", "3600 1")
    assert await opened(redis_at(snapshots.address)) is None


async def test_a_server_that_hides_its_settings_is_asked_in_another_way(start: Start) -> None:
    kept = limited(start(), "config")
    assert await opened(redis_at(kept)) is None
    evicting = limited(start("--maxmemory-policy", "allkeys-lru"), "config")
    assert "allkeys-lru" in (await opened(redis_at(evicting)) or "")
    assert "allkeys-lru" in (await opened(redis_at(evicting, require_persistence=False)) or "")


@pytest.mark.parametrize(
    ("options", "forbidden"),
    [(["--appendonly", "no", "--save", "3600 1"], ["config"]), ([], ["config", "info"])],
)
async def test_a_server_that_does_not_say_is_refused_unless_that_is_fine(
    start: Start, options: list[str], forbidden: list[str]
) -> None:
    address = limited(start(*options), *forbidden)
    said = await opened(redis_at(address))
    assert said is not None
    assert "does not say" in said
    assert "require_persistence=False" in said
    assert await opened(redis_at(address, require_persistence=False)) is None
