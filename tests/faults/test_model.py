"""P2 to P4 and P6 to P8 against a model: any steps in any order, and the promises after each.

The ordinary run is short. The long one, of ten thousand steps and of two thousand in debug mode:

    SCOPED_REGISTRATION_LONG=1 pytest -rP tests/faults/test_model.py
"""

from __future__ import annotations

import logging
import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.faults.machine import DebugPoolMachine, PoolMachine

LONG = bool(os.environ.get("SCOPED_REGISTRATION_LONG"))
STEPS = 50 if LONG else 40  # of an example, at most


@pytest.mark.parametrize(
    ("machine", "examples", "least"),
    [
        pytest.param(PoolMachine, 300 if LONG else 80, 10_000 if LONG else 1_500, id="plain"),
        pytest.param(DebugPoolMachine, 75 if LONG else 15, 2_000 if LONG else 300, id="debug"),
    ],
)
def test_any_steps_in_any_order_keep_the_promises(
    machine: type[PoolMachine], examples: int, least: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "scoped_registration")
    machine.steps = 0
    run_state_machine_as_test(
        machine,
        settings=settings(
            derandomize=True,
            database=None,
            max_examples=examples,
            stateful_step_count=STEPS,
            phases=[Phase.generate],  # what fails is long to shrink, and the same on each machine
            suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault of the code
        ),
    )
    print(f"{machine.__name__}: {machine.steps} steps")
    assert machine.steps >= least
