"""Fixtures of the AG-UI tests."""

from __future__ import annotations

import pytest

from scoped_registration.integrations.agent_framework import mounting
from scoped_registration.integrations.agent_framework.detached import DetachedRuns
from scoped_registration.integrations.agent_framework.options import Detached
from tests.integrations.agent_framework.kit import RecordingModel, Sessions
from tests.integrations.agent_framework.working import Work


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def model() -> RecordingModel:
    return RecordingModel()


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[DetachedRuns]:
    """The runs of each endpoint that is mounted, as it counts them."""
    kept: list[DetachedRuns] = []

    def make(registration: str, limits: Detached) -> DetachedRuns:
        kept.append(DetachedRuns(registration, limits))
        return kept[-1]

    monkeypatch.setattr(mounting, "DetachedRuns", make)
    return kept
