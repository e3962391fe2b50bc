"""What the scan says about the programs of this repository, which are judged elsewhere too."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scoped_registration.audit.scan import scan
from tests.audit.support import ROOT, scanned

OVERLAY = ROOT / "tests/typing/overlay"

# Leaks of shapes that no rule claims: what the program hands on is decided elsewhere, or what
# leaks is no target and no resolver. docs/scan.md names them.
UNCLAIMED = {
    "mode_unknown",
    "no_mode_as_none",
    "no_mode_for_agent",
    "no_mode_for_factory",
    "runner_attribute_annotated",
    "runner_in_list",
    "runner_parameter_annotated",
    "runner_return_annotated",
    "runner_variable_annotated",
    "service_session_id_of_client",
    "session_id_of_client",
    "session_id_of_client_in_call",
    "two_modes",
    "two_modes_for_agent",
    "unknown_agent",
    "wrapped_unknown_agent",
}


def _found(directory: Path) -> dict[str, list[str]]:
    """Return the rules that are found in each file below a directory, by its name."""
    report = scan([directory])
    assert report.unreadable == ()
    assert report.files
    found: dict[str, list[str]] = {}
    for one in report.findings:
        found.setdefault(one.place.path.relative_to(directory).as_posix(), []).append(one.rule)
    return found


def test_the_programs_that_leak_are_found_where_their_shape_is_claimed() -> None:
    found = _found(OVERLAY / "leaking")
    programs = {path.stem for path in (OVERLAY / "leaking").glob("*.py")}
    assert {name.removesuffix(".py") for name in found} == programs - UNCLAIMED
    assert programs > UNCLAIMED
    assert {rule for rules in found.values() for rule in rules} == {"SR101", "SR107"}


@pytest.mark.parametrize("path", sorted((OVERLAY / "leaking").glob("*.py")), ids=lambda p: p.stem)
def test_a_finding_stands_in_the_statement_that_leaks(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    marks = {number for number, line in enumerate(source.splitlines(), 1) if "# leaks" in line}
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    assert marks
    for one in scanned(source):
        around = [it for it in calls if it.lineno <= one.place.line <= (it.end_lineno or 0)]
        # This one is found where it is registered, and marked where it is made.
        elsewhere = path.stem == "wrapped_workflow_as_agent_returned"
        assert elsewhere or any(it.end_lineno in marks for it in around)


def test_nothing_is_found_in_the_programs_that_are_safe() -> None:
    assert _found(OVERLAY / "safe") == {}


def test_of_what_the_types_accept_only_the_constant_scope_is_found() -> None:
    # The types cannot refuse a constant; the scan is there to say what they cannot.
    assert _found(ROOT / "tests/typing/accept") == {"resolvers.py": ["SR106"]}
    (finding,) = scan([ROOT / "tests/typing/accept/resolvers.py"]).findings
    lines = (ROOT / "tests/typing/accept/resolvers.py").read_text(encoding="utf-8").splitlines()
    assert 'scope=lambda: "user"' in lines[finding.place.line - 1]


def test_of_the_examples_only_those_that_leak_on_purpose_are_found() -> None:
    assert _found(ROOT / "docs/examples") == {
        "demo/run.py": ["SR101"],  # its endpoint /raw shows the leak
        "demo/unsafe.py": ["SR108"],
    }


def test_nothing_is_found_in_the_library_itself() -> None:
    assert _found(ROOT / "scoped_registration") == {}


def _blocks(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```python[^\n]*\n(.*?)```", text, re.DOTALL)
    return [block for block in blocks if "--8<--" not in block]


def test_nothing_is_found_in_the_programs_of_the_readme() -> None:
    blocks = _blocks(ROOT / "README.md")
    assert len(blocks) > 1
    assert [one for block in blocks for one in scanned(block)] == []
    # The control: the same programs with the mistake that the text speaks of.
    wrong = blocks[0].replace(
        "ScopedFactory(build_workflow,", "ScopedFactory(build_workflow(None),"
    )
    assert [one.rule for one in scanned(wrong)] == ["SR108"]
