"""docs/audit.md and the rules say the same, and its examples are what they are called."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoped_registration.__main__ import main
from scoped_registration.audit.application_rules import AUDIT_RULES
from scoped_registration.audit.rules import RULES, Rule
from tests.audit.audit_support import CLEAN, PRELUDE, UPSTREAM, audited_file, rules_of
from tests.audit.support import ROOT

PAGE = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
_UPSTREAM_RULES = ("SR201", "SR202")


def _sections() -> dict[str, str]:
    rules = PAGE.partition("## The manifest in review")[0]
    parts = re.split(r"^### (SR\d+) \{ #(SR\d+) \}$", rules, flags=re.MULTILINE)
    assert parts[1::3] == parts[2::3]
    return dict(zip(parts[1::3], parts[3::3], strict=True))


def _examples(rule: Rule) -> dict[str, str]:
    pattern = r'```(?:python|console) title="([\w ]+)"\n(.*?)```'
    found = dict(re.findall(pattern, _sections()[rule.id], re.DOTALL))
    assert set(found) == {"is found", "instead"}
    return found


def _is_command(rule: Rule) -> bool:
    return _examples(rule)["is found"].startswith("$ ")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("WEB_CONCURRENCY", raising=False)
    yield tmp_path
    sys.modules.pop("service", None)


def test_each_rule_has_a_heading_and_no_other_has() -> None:
    assert list(_sections()) == [rule.id for rule in AUDIT_RULES]


def test_ids_and_names_are_unique_and_never_change() -> None:
    # A rule may be added. None is renamed, removed or given to something else.
    assert {rule.id: rule.name for rule in AUDIT_RULES} == {
        "SR201": "upstream-endpoint-shares-state",
        "SR202": "one-runner-on-two-endpoints",
        "SR203": "review-overdue",
        "SR204": "single-user-beside-authentication",
        "SR205": "registration-never-attached",
        "SR206": "unbounded-option",
        "SR207": "several-workers-with-state-in-memory",
        "SR208": "start-up-refuses",
        "SR209": "manifest-differs",
    }
    both = [*RULES, *AUDIT_RULES]
    assert len({rule.id for rule in both}) == len({rule.name for rule in both}) == len(both)


@pytest.mark.parametrize(
    "rule",
    [rule for rule in AUDIT_RULES if not _is_command(rule)],
    ids=lambda rule: rule.id,
)
def test_the_example_is_found_and_its_correction_is_not(place: Path, rule: Rule) -> None:
    before = PRELUDE
    if rule.id in _UPSTREAM_RULES:
        pytest.importorskip("agent_framework_ag_ui")
        before += UPSTREAM
    examples = _examples(rule)
    for number, (kind, rules) in enumerate({"is found": [rule.id], "instead": []}.items()):
        name = f"example_{number}_{rule.id}"
        program = f"{before}app = FastAPI()\n{examples[kind]}"
        (place / f"{name}.py").write_text(program, encoding="utf-8")
        assert rules_of(audited_file(place, name)) == rules


@pytest.mark.parametrize(
    "rule", [rule for rule in AUDIT_RULES if _is_command(rule)], ids=lambda rule: rule.id
)
def test_the_command_finds_and_its_correction_does_not(
    place: Path, rule: Rule, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "service.py").write_text(PRELUDE + CLEAN, encoding="utf-8")
    examples = _examples(rule)
    for kind, status in {"is found": 1, "instead": 0}.items():
        program, *words = examples[kind].removeprefix("$ ").split()
        assert program == "scoped-registration"
        assert main(words) == status
        assert (f": {rule.id} " in capsys.readouterr().out) is (status == 1)
    found = examples["is found"].removeprefix("$ ").split()[1:]
    if rule.id == "SR209":  # what was written holds
        assert main(found) == 0


def test_the_page_names_every_option_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    options = set(re.findall(r"--[a-z]+", capsys.readouterr().out)) - {"--help"}
    assert options == {"--factory", "--format", "--manifest", "--check", "--workers"}
    assert all(option in PAGE.partition("## Rules")[0] for option in options)
