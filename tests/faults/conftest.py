"""Fixtures of the pool's fault tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.faults.inn import Inn


@pytest.fixture(params=[False, True], ids=["plain", "debug"])
def debug(request: pytest.FixtureRequest) -> bool:
    """For tests that run event loops of their own: asyncio's debug mode, or not."""
    return bool(request.param)


@pytest.fixture(params=[False, True], ids=["closed", "managed"])
def inn(request: pytest.FixtureRequest) -> Inn:
    return Inn(managed=bool(request.param))


@pytest.fixture
def small_heap() -> Iterator[None]:
    """For tests that count what is kept: nothing older than the test is looked through."""
    gc.freeze()
    yield
    gc.unfreeze()
