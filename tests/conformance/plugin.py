"""The pytest plugin that runs inside the framework's suite.

It puts a function of its own where `add_agent_framework_fastapi_endpoint` is, and writes down
what became of each test. The environment names the `Mode` and the file to write.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import agent_framework_ag_ui
import pytest
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow
from fastapi import FastAPI

from scoped_registration.integrations.agent_framework import endpoint
from scoped_registration.scope import scope_digest
from tests.conformance.routing import Arguments, register
from tests.conformance.suite import MODE, RESULTS, Mode

# Any: the framework's function takes what its tests give it.

_upstream = agent_framework_ag_ui.add_agent_framework_fastapi_endpoint
_numbers = itertools.count()
_outcomes: dict[str, dict[str, str]] = {}


def pytest_configure() -> None:
    """Replace the function, before a test module imports it."""
    mode = Mode(os.environ[MODE])
    agent_framework_ag_ui.add_agent_framework_fastapi_endpoint = _routed(mode)
    if mode is not Mode.UNROUTED:
        # The tests look up what is stored by the scope that they gave; the builder stores it
        # under a digest of it, which has tests of its own.
        endpoint.__dict__["scope_digest"] = _scope_itself


def _scope_itself(registration: str, text: str) -> str:
    """Return a scope of type str as it is; one user alone has none, and keeps the digest."""
    return text.partition(":")[2] or scope_digest(registration, text)


def _routed(mode: Mode) -> Any:
    parameters = inspect.signature(_upstream)

    @functools.wraps(_upstream)  # tests read its signature and its docstring
    def routed(*args: Any, **kwargs: Any) -> None:
        if mode is Mode.UNROUTED:
            _upstream(*args, **kwargs)
            return
        bound = parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        given = Arguments(**bound.arguments)
        # What the framework itself refuses, it refuses in its own words.
        rehearsal: dict[str, Any] = {"app": FastAPI(), "agent": _copied(given.agent)}
        _upstream(**bound.arguments | rehearsal)
        register(given, mode, f"conformance-{next(_numbers)}")

    return routed


def _copied(agent: Any) -> Any:
    """Return a copy of a runner, which the framework's function would change."""
    if not isinstance(agent, AgentFrameworkAgent | AgentFrameworkWorkflow):
        return agent
    copied = copy.copy(agent)
    if isinstance(copied, AgentFrameworkAgent):
        copied.config = copy.copy(copied.config)
    return copied


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a report say what was raised, also where it comes from another process."""
    report = yield
    if call.excinfo is not None:
        told = f"{call.excinfo.typename}: {call.excinfo.value}"
        report.user_properties.append(("told", told))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test's outcome: the first of its phases that did not pass decides."""
    noted = _outcomes.setdefault(report.nodeid, {"outcome": "passed"})
    if noted["outcome"] == "passed" and not report.passed:
        told = next((str(text) for name, text in report.user_properties if name == "told"), "")
        noted.update(outcome=report.outcome, told=told)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the outcomes, in the process that has them all."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ[RESULTS]).write_text(json.dumps(_outcomes, indent=1, sort_keys=True))
