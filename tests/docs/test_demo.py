"""The demonstration plays, and fails when it would show nothing or something false."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from docs.examples.demo import run

ROOT = Path(run.__file__).parents[3]
PATHS = ["/raw", "/scoped", "/shared"]
GOOD = {"/raw": (True, True), "/scoped": (True, False), "/shared": (True, True)}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def test_it_plays() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    played = subprocess.run(
        [sys.executable, "docs/examples/demo/run.py"],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    raw, scoped, shared, typed = played.stdout.split("\n(")[1:]
    assert run.ALICE in raw.partition("bob, thread-B")[2]
    assert "LEAK" in raw
    assert run.ALICE not in scoped.partition("bob, thread-B")[2]
    assert run.BOB in scoped
    assert "isolated" in scoped
    assert "shared, and said so" in shared
    assert typed.count(": refused") == 2
    assert "unsafe.py:" in typed
    assert "corrected.py" not in typed
    assert f"+ {run.CORRECTION}" in typed
    assert "Traceback" not in played.stderr


@pytest.mark.parametrize(
    ("path", "observed", "fault"),
    [
        ("/raw", (True, False), "(a) did not leak, so this demonstration shows nothing"),
        ("/raw", (False, True), "(a) a caller's own text did not reach the model"),
        ("/scoped", (True, True), "(b) leaked"),
        ("/scoped", (False, False), "(b) a caller's own text did not reach the model"),
        ("/shared", (False, True), "(c) a caller's own text did not reach the model"),
    ],
)
async def test_it_fails_when_it_shows_nothing_or_something_else(
    path: str, observed: tuple[bool, bool], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(http: httpx.AsyncClient, recorder: run.Recorder, at: str) -> tuple[bool, bool]:
        return observed if at == path else GOOD[at]

    monkeypatch.setattr(run, "play", play)
    assert await run.play_all() == [fault]


FAKE_CHECKERS: dict[str, tuple[str, list[str]]] = {
    "accepts both": ("", ["(d) fake accepts unsafe.py"]),
    "refuses both": (
        "unsafe.py:1: error: no\ncorrected.py:1: error: no",
        ["(d) fake refuses the correction"],
    ),
    "refuses the correction alone": (
        "corrected.py:1: error: no",
        ["(d) fake accepts unsafe.py", "(d) fake refuses the correction"],
    ),
    "is right": ("unsafe.py:1: error: no", []),
}


@pytest.mark.parametrize("kind", FAKE_CHECKERS)
def test_it_fails_when_a_checker_is_wrong(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    says, faults = FAKE_CHECKERS[kind]
    monkeypatch.setattr(run, "CHECKERS", {"fake": ["-c", f"print({says!r})"]})
    assert run.check_all() == faults


def nothing(argument: object) -> None:
    """Stand in for what must not happen here."""


@pytest.mark.parametrize("played", [[], ["(b) leaked"]])
def test_its_exit_status_tells(played: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def play_all() -> list[str]:
        return played

    monkeypatch.setattr(run, "play_all", play_all)
    monkeypatch.setattr(run, "check_all", list[str])
    monkeypatch.setattr("logging.disable", nothing)
    assert run.main() == bool(played)


def test_unsafe_differs_from_its_correction_in_one_word() -> None:
    source = (Path(run.__file__).parent / "unsafe.py").read_text()
    assert source.count(run.MISTAKE) == 1
    ast.parse(source.replace(run.MISTAKE, run.CORRECTION))


def test_the_local_client_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    name, client = run.choose_client()
    assert "local" in name
    assert isinstance(client, run.LocalClient)


def test_a_key_without_the_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")
    monkeypatch.setattr(run, "find_spec", nothing)
    assert "pip install" in run.choose_client()[0]
