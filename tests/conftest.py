"""Fixtures of all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: nothing is said here by how long an example takes.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio: the frameworks that are served run on nothing else."""
    return "asyncio"
