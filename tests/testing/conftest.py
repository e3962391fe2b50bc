"""Fixtures of the tests of the probe."""

from __future__ import annotations

import pytest

from scoped_registration.testing import Recorder
from scoped_registration.testing.plugin import isolation_probe

__all__ = ["isolation_probe"]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()
