"""A finding can be accepted where it stands, with a reason; what accepts nothing is found."""

from __future__ import annotations

import pytest

from tests.audit.support import PRELUDE, check, scanned

_MARK = "scoped-registration: ignore"
_CALL = "ScopedFactory(lambda c: workflow, scope=user)"


@pytest.mark.parametrize(
    "comment",
    [
        f"# {_MARK}[SR102] one operator uses it",
        f"#{_MARK}[ SR102 ] one operator uses it",
        f"# noqa: E501 # {_MARK}[SR102]: one operator uses it",
        f"# {_MARK}[SR102] one operator uses it # noqa: E501",
        f"# {_MARK}[SR102] - one",
    ],
)
def test_a_reason_silences_the_rule_that_is_named(comment: str) -> None:
    check(f"{_CALL}  {comment}")


def test_it_may_stand_on_any_line_of_the_call_and_on_no_other() -> None:
    for line in range(1, 5):
        lines = ["ScopedFactory(", "    lambda c: workflow,  # SR102", "    scope=user,", ")"]
        plain = [one.partition("  #")[0] for one in lines]
        plain[line - 1] += f"  # {_MARK}[SR102] one operator uses it"
        check("\n".join(plain))
    outside = f"# {_MARK}[SR102] one operator uses it"
    found = scanned(f"{PRELUDE}{outside}\n{_CALL}\n{outside}\n")
    assert [one.rule for one in found] == ["SR902", "SR102", "SR902"]


def test_only_the_rules_that_are_named_are_silenced() -> None:
    both = "ScopedFactory(lambda c: workflow, scope=lambda: 'a')"
    assert [one.rule for one in scanned(f"{PRELUDE}{both}")] == ["SR102", "SR106"]
    found = scanned(f"{PRELUDE}{both}  # {_MARK}[SR106] one tenant")
    assert [one.rule for one in found] == ["SR102"]
    assert scanned(f"{PRELUDE}{both}  # {_MARK}[SR106, SR102] one tenant") == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        (f"# {_MARK}[SR102]", "the suppression gives no reason"),
        (f"# {_MARK}[SR102]  :", "the suppression gives no reason"),
        (f"# {_MARK}[SR102] # noqa", "the suppression gives no reason"),
        (f"# {_MARK}", "the suppression names no rule: ignore[SR101]"),
        (f"# {_MARK} one operator uses it", "the suppression names no rule: ignore[SR101]"),
        (f"# {_MARK}[] one operator uses it", "the suppression names no rule: ignore[SR101]"),
    ],
)
def test_without_a_reason_or_a_rule_it_silences_nothing_and_is_found(
    comment: str, message: str
) -> None:
    found = scanned(f"{PRELUDE}{_CALL}  {comment}")
    assert [one.rule for one in found] == ["SR102", "SR901"]
    assert found[1].message == message
    assert found[1].place.column == len(_CALL) + 3


def test_one_that_silences_nothing_is_found_for_each_of_its_rules() -> None:
    found = scanned(f"{PRELUDE}{_CALL}  # {_MARK}[SR102, SR103, SR999] one operator")
    assert [(one.rule, one.message) for one in found] == [
        ("SR902", "nothing is found here by SR103"),
        ("SR902", "nothing is found here by SR999"),
    ]
    # In a file that holds nothing else of interest, too.
    assert [one.rule for one in scanned(f"x = 1  # {_MARK}[SR101] a reason")] == ["SR902"]


def test_the_findings_about_suppressions_cannot_be_suppressed() -> None:
    found = scanned(f"x = 1  # {_MARK}[SR902] a reason")
    assert [one.rule for one in found] == ["SR902"]


def test_a_string_is_no_suppression() -> None:
    check(f'note = "# {_MARK}[SR102]"\n{_CALL}  # SR102')
    check(f'"""\n# {_MARK}\n"""')
