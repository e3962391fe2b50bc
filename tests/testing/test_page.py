"""The page says what the code does, and shows only code that runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from docs.examples.testing.own_route import Lines
from scoped_registration.testing import Verdict, probe_isolation
from scoped_registration.testing.findings import Control, Place
from tests.testing.apps import USERS, User

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "testing"
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
TESTS = ["test_support.py", "test_refunds.py", "test_store.py"]
RUN = {*TESTS, "script.py", "script.txt", "own_route.py"}


def test_each_block_is_a_file_that_is_run() -> None:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert {kind for kind, _ in blocks} == {"sh", "python", "text"}
    included: set[str] = set()
    for kind, block in blocks:
        if kind != "sh":
            found = re.fullmatch(r'--8<-- "examples/testing/([\w.]+)"\n', block)
            assert found, block
            assert (EXAMPLES / found[1]).is_file()
            included.add(found[1])
    assert included == RUN


def test_the_script_prints_what_the_page_says() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "script.py")],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == (EXAMPLES / "script.txt").read_text(encoding="utf-8"), done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("name", TESTS)
def test_the_tests_of_the_page_pass_where_nothing_else_is(name: str, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / name, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b[1-9]\d* passed", done.stdout), done.stdout


@pytest.mark.parametrize("fails", [False, True])
async def test_the_route_of_the_page(fails: bool) -> None:
    app = FastAPI()
    histories: dict[object, list[str]] = {}

    @app.post("/lines")
    async def lines(asked: dict[str, str], user: User) -> StreamingResponse:
        history = histories.setdefault((user, asked["session"]), [])
        history.append(asked["question"])
        tokens = [letter for text in history for letter in text]
        parts = [json.dumps({"token": token}) + "\n" for token in tokens]
        if fails:
            parts.append('{"error": "broken"}\n')
        return StreamingResponse(iter(parts))

    report = await probe_isolation(app, Lines(), USERS)
    assert report.verdict is (Verdict.INCONCLUSIVE if fails else Verdict.ISOLATED), str(report)
    assert {it.why for it in report.failures} == ({"an error in the stream"} if fails else set())


def first_column(heading: str) -> list[str]:
    """Return the first column of the table that has a heading, without the heading."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)


def test_the_page_names_each_verdict_and_each_control() -> None:
    assert first_column("verdict") == [f"`{verdict.name}`" for verdict in Verdict]
    assert first_column("control") == [str(control) for control in Control]


def test_the_page_names_each_kind_of_leak() -> None:
    table = PAGE.partition("| a leak is |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([^`]+)`", table)) == {*map(str, Place), "pending"}


def test_importing_the_kit_imports_no_framework() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import scoped_registration.testing, sys; print(*sys.modules)"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "scoped_registration" in loaded
    assert not loaded & {"agent_framework", "agent_framework_ag_ui", "fastapi", "httpx", "pytest"}
