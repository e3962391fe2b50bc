"""No password is said: not in an error, not in a log record, not in a repr."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

import anyio
import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.postgres import PostgresStore
from scoped_registration.stores.protocol import StoreUnavailableError, ThreadStore
from scoped_registration.stores.redis import RedisStore
from tests.stores.processes import LIMIT
from tests.stores.remote import Remote
from tests.stores.servers import free_port

WRONG = "wrong-horse"


async def refusal_of(store: ThreadStore) -> RegistrationError:
    with anyio.fail_after(LIMIT), pytest.raises(StoreUnavailableError) as refusal:
        await store.load("suite")
    return refusal.value


def said_by(error: BaseException) -> str:
    """Return all that a log of an error may hold."""
    assert (error.__cause__, error.__context__) == (None, None)
    return "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize("problem", ["password", "port"])
async def test_what_a_driver_says_of_a_connection_is_kept_to_itself(
    remote: Remote, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.NOTSET)
    port = remote.server.port if problem == "password" else free_port()
    address = remote.server.address_at(port, name="who-calls", password=WRONG)
    store = remote.store_at(address)
    error = await refusal_of(store)
    said = [said_by(error), repr(store), str(store), caplog.text]
    await store.aclose()
    for secret in (WRONG, "who-calls", str(port)):
        assert secret in address
        assert not [text for text in said if secret in text]
    assert "Error" in error.problem  # the type of the driver's error, to begin with


@pytest.mark.parametrize(
    ("make", "address"),
    [
        (PostgresStore, f"postgresql://user:{WRONG}@host:5432/x?{WRONG}=1"),
        (PostgresStore, f"host=localhost password={WRONG} {WRONG}"),
        (RedisStore, f"http://user:{WRONG}@host:6379"),
        (RedisStore, f"redis://user:{WRONG}@host:{WRONG}"),
        (RedisStore, f"redis://user:{WRONG}@host:6379?socket_timeout={WRONG}"),
        (RedisStore, WRONG),
    ],
)
def test_an_address_that_is_none_is_not_repeated(
    make: Callable[[str], ThreadStore], address: str
) -> None:
    with pytest.raises(RegistrationError) as refusal:
        make(address)
    assert refusal.value.code is ReasonCode.OPTION_INVALID
    assert WRONG not in said_by(refusal.value)


@pytest.mark.parametrize(
    ("make", "option", "values"),
    [
        (PostgresStore, "table_prefix", ["", "1a", "A", 'a"b', "a" * 41, "a.b"]),
        (PostgresStore, "max_connections", [0, -1, 1.5, True]),
        (PostgresStore, "timeout", [0.0, -1.0, float("inf"), float("nan")]),
        (RedisStore, "prefix", ["", "a{b", "a}b"]),
        (RedisStore, "max_connections", [0, -1, 1.5, True]),
        (RedisStore, "timeout", [0.0, -1.0, float("inf"), float("nan")]),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    make: Callable[..., ThreadStore], option: str, values: list[object]
) -> None:
    address = {PostgresStore: "postgresql://localhost", RedisStore: "redis://localhost"}
    for value in values:
        with pytest.raises(RegistrationError, match=option) as refusal:
            make(next(text for kind, text in address.items() if kind is make), **{option: value})
        assert refusal.value.code is ReasonCode.OPTION_INVALID
