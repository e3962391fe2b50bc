"""The fixture: it fails tests with the report's text, and needs no plugin for event loops."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from scoped_registration.testing import Verdict, probe_isolation
from scoped_registration.testing.plugin import IsolationProbe
from scoped_registration.testing.probe import Options
from tests.testing.apps import CHAT, USERS, by_both, by_nothing, chat_app

ROOT = Path(__file__).parents[2]

TESTS = """
from scoped_registration.testing import Verdict
from tests.testing.apps import CHAT, USERS, by_both, by_nothing, chat_app, unauthorized_app

def test_isolated(isolation_probe):
    assert isolation_probe(chat_app(by_both), CHAT, USERS).verdict is Verdict.ISOLATED

def test_leak(isolation_probe):
    isolation_probe(chat_app(by_nothing), CHAT, USERS)

def test_inconclusive(isolation_probe):
    isolation_probe(unauthorized_app(), CHAT, USERS)
"""


def test_in_a_session_without_a_plugin_for_event_loops(tmp_path: Path) -> None:
    fixture = "from scoped_registration.testing.plugin import isolation_probe\n"
    (tmp_path / "conftest.py").write_text(fixture, encoding="utf-8")
    (tmp_path / "test_app.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:anyio", "-p", "no:cacheprovider", "-q", "-rA"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    out = done.stdout
    assert "PASSED test_app.py::test_isolated" in out, out + done.stderr
    assert "FAILED test_app.py::test_leak - Failed: LEAK: 2 principals" in out
    assert "p2/t1 saw the text of p1/t1: output" in out
    assert "FAILED test_app.py::test_inconclusive - Failed: INCONCLUSIVE: 2 principals" in out
    assert "1 passed" in out
    assert "2 failed" in out


def test_another_verdict_can_be_asked_for(isolation_probe: IsolationProbe) -> None:
    leaking, isolated = chat_app(by_nothing), chat_app(by_both)
    report = isolation_probe(leaking, CHAT, USERS, expect=Verdict.LEAK)
    assert report.verdict is Verdict.LEAK
    assert isolation_probe(leaking, CHAT, USERS, expect=None).verdict is Verdict.LEAK
    with pytest.raises(pytest.fail.Exception, match="ISOLATED"):
        isolation_probe(isolated, CHAT, USERS, expect=Verdict.LEAK)
    with pytest.raises(pytest.fail.Exception, match="LEAK"):
        isolation_probe(leaking, CHAT, USERS)


def test_options_are_handed_on(isolation_probe: IsolationProbe) -> None:
    report = isolation_probe(chat_app(by_both), CHAT, USERS, threads=1, overlap=False)
    assert (report.threads, report.overlap) == (1, None)


async def test_where_a_loop_runs_it_says_what_to_do(isolation_probe: IsolationProbe) -> None:
    with pytest.raises(RuntimeError, match="await probe_isolation"):
        isolation_probe(chat_app(by_both), CHAT, USERS)


def test_the_fixture_has_each_option_of_the_function() -> None:
    parameters: list[Any] = list(inspect.signature(probe_isolation).parameters.values())
    options = {it.name: it.annotation for it in parameters if it.kind is it.KEYWORD_ONLY}
    hints = get_type_hints(Options)
    assert options.keys() == hints.keys()
    assert get_type_hints(probe_isolation).items() >= hints.items()


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    (found,) = entry_points(group="pytest11", name="scoped_registration")
    assert found.value == "scoped_registration.testing.plugin"
