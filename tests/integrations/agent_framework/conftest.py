"""Fixtures of the AG-UI tests."""

from __future__ import annotations

import pytest

from tests.integrations.agent_framework.kit import RecordingModel, Sessions


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def model() -> RecordingModel:
    return RecordingModel()


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()
