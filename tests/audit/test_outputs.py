"""The three outputs: golden files, and what holds for any report."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path, PurePath

import pytest

from scoped_registration.audit.report import FORMATS, Format, render
from scoped_registration.audit.rules import RULES, Finding, Place, Report, Unreadable
from scoped_registration.audit.scan import scan

GOLDEN = Path(__file__).parent / "golden"
_PROGRAM = """from agent_framework import WorkflowBuilder
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from scoped_registration import ScopedFactory

workflow = WorkflowBuilder(start_executor=executor).build()
add_agent_framework_fastapi_endpoint(app, workflow, authorization_scope_resolver=user)

"ü"; ScopedFactory(lambda context: workflow, scope=lambda: "everybody")
ScopedFactory(
    lambda context: workflow,
    scope=user,
)  # scoped-registration: ignore[SR102]
ScopedFactory(
    lambda context: workflow,  # scoped-registration: ignore[SR102] one operator uses it
    scope=user,
)
"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    (tmp_path / "app dir").mkdir()
    (tmp_path / "app dir/main.py").write_text(_PROGRAM, encoding="utf-8")
    (tmp_path / "broken.py").write_text("x = 1\ny =\n")
    monkeypatch.chdir(tmp_path)
    return scan([Path()])


@pytest.mark.parametrize("format", FORMATS)
def test_the_output_is_the_golden_one(report: Report, format: Format) -> None:
    suffix = {"text": "txt", "json": "json", "sarif": "sarif"}[format]
    golden = (GOLDEN / f"scan.{suffix}").read_text(encoding="utf-8")
    assert render(report, format) == golden.replace("VERSION", version("scoped-registration"))


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_found_is_said(format: Format) -> None:
    empty = Report(rules=RULES, findings=(), unreadable=(), files=1)
    text = render(empty, format)
    if format == "text":
        assert text == "0 findings, 1 file read\n"
    elif format == "json":
        assert json.loads(text) == {"version": 1, "files": 1, "findings": [], "unreadable": []}
    else:
        (run,) = json.loads(text)["runs"]
        assert run["results"] == []
        assert run["invocations"][0]["executionSuccessful"] is True
        assert [one["id"] for one in run["tool"]["driver"]["rules"]] == [one.id for one in RULES]


def _at(path: PurePath) -> Report:
    finding = Finding(Place(path, 1, 2, 3, 4), "SR101", "a message")
    unread = Unreadable(path, "a reason")
    return Report(rules=RULES, findings=(finding,), unreadable=(unread,), files=1)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("app/main.py", "app/main.py"),
        ("{here}/app/main.py", "app/main.py"),
        ("/elsewhere/a b.py", "file:///elsewhere/a%20b.py"),
        ("a#b/ü.py", "a%23b/%C3%BC.py"),
        ("\udcff.py", "%FF.py"),
    ],
)
def test_sarif_names_files_as_a_code_host_wants_them(path: str, uri: str) -> None:
    (run,) = json.loads(render(_at(PurePath(path.format(here=Path.cwd()))), "sarif"))["runs"]
    places = [
        run["results"][0]["locations"][0],
        run["invocations"][0]["toolExecutionNotifications"][0]["locations"][0],
    ]
    assert [one["physicalLocation"]["artifactLocation"]["uri"] for one in places] == [uri, uri]
    assert places[0]["physicalLocation"]["region"] == {
        **{"startLine": 1, "startColumn": 2},
        **{"endLine": 3, "endColumn": 4},
    }


@pytest.mark.parametrize("format", FORMATS)
def test_a_name_that_is_no_text_can_be_written(format: Format) -> None:
    render(_at(PurePath("\udcff.py")), format).encode()
