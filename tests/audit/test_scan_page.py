"""docs/scan.md and the rules say the same, and its examples are what they are called."""

from __future__ import annotations

import re

import pytest

from scoped_registration.audit.rules import RULES, Rule
from tests.audit.support import PRELUDE, ROOT, scanned

PAGE = (ROOT / "docs/scan.md").read_text(encoding="utf-8")
# What the examples take for given, and the prelude does not hold.
_GIVEN = """
from elsewhere import bearer, verified
class Chat: ...
def build_workflow(context: ScopeContext[str]) -> Workflow:
    return new_workflow()
"""


def _sections() -> dict[str, str]:
    parts = re.split(r"^### (SR\d+) \{ #(SR\d+) \}$", PAGE.partition("## Accept")[0], flags=re.M)
    assert parts[1::3] == parts[2::3]
    return dict(zip(parts[1::3], parts[3::3], strict=True))


def _examples(section: str) -> dict[str, str]:
    found = re.findall(r'```python title="([\w ]+)"\n(.*?)```', section, re.DOTALL)
    return dict(found)


def test_each_rule_has_a_heading_and_no_other_has() -> None:
    assert list(_sections()) == [rule.id for rule in RULES]


def test_ids_and_names_are_unique_and_never_change() -> None:
    # A rule may be added. None is renamed, removed or given to something else.
    assert {rule.id: rule.name for rule in RULES} == {
        "SR101": "shared-workflow-on-endpoint",
        "SR102": "factory-returns-captured-object",
        "SR103": "cached-factory",
        "SR104": "builder-outside-factory",
        "SR105": "workflow-state-keeps-one-workflow",
        "SR106": "resolver-returns-constant",
        "SR107": "resolver-reads-body",
        "SR108": "instance-as-factory",
        "SR109": "factory-shares-part",
        "SR110": "target-without-mode",
        "SR901": "suppression-without-reason",
        "SR902": "unused-suppression",
    }
    assert len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_example_is_found_and_its_correction_is_not(rule: Rule) -> None:
    section = _sections()[rule.id]
    kind = "leaks" if rule.id < "SR9" else "is found"
    examples = _examples(section)
    assert set(examples) == {kind, "instead"}
    before = PRELUDE + _GIVEN + ("chat = Chat()\n" if rule.id == "SR901" else "")
    assert rule.id in [one.rule for one in scanned(before + examples[kind])]
    assert scanned(before + examples["instead"]) == []


def test_the_hook_that_the_page_names_exists() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    named = re.findall(r"- id: ([\w-]+)", PAGE)
    assert named == re.findall(r"- id: ([\w-]+)", hooks)
    assert "entry: scoped-registration scan\n" in hooks
