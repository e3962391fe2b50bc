"""The pool's tests run twice: as usual, and in the debug mode of asyncio."""

from __future__ import annotations

import pytest

from tests.unit.runtime.support import Clock, House


@pytest.fixture(
    scope="session",
    params=[("asyncio", {"debug": False}), ("asyncio", {"debug": True})],
    ids=["plain", "debug"],
)
def anyio_backend(request: pytest.FixtureRequest) -> object:
    backend: object = request.param
    return backend


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture(params=[False, True], ids=["plain", "debug"])
def debug(request: pytest.FixtureRequest) -> bool:
    """For tests that run event loops of their own."""
    return bool(request.param)
