"""Fixtures of all tests."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio: the frameworks that are served run on nothing else."""
    return "asyncio"
