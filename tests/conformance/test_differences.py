import pytest

from tests.conformance.differences import FILE, Difference, compare, expand, read
from tests.conformance.suite import Mode, Outcome

PASSED, FAILED = Outcome("passed"), Outcome("failed", "AssertionError: assert 401 == 500\nmore")
KNOWN = Difference("no scope, no service", frozenset({Mode.SHARED}), "401 == 500", ("a",))

GROUP = """
count = 2
[[difference]]
reason = "because"
modes = ["shared"]
shows = "x"
tests = ["a[{1,2}]"{more}]
"""


def test_a_line_with_choices_stands_for_every_combination() -> None:
    assert expand("t[{a,b}-x-{1,2}]") == ["t[a-x-1]", "t[a-x-2]", "t[b-x-1]", "t[b-x-2]"]
    assert expand("t[{}-x]") == ["t[{}-x]"]


def test_the_expected_difference_is_no_problem() -> None:
    routed = {"a": FAILED, "b": PASSED}
    assert list(compare({"a": PASSED, "b": PASSED}, routed, {"a": KNOWN})) == []


def test_a_difference_that_is_not_on_the_list_is_a_problem() -> None:
    (problem,) = compare({"a": PASSED}, {"a": FAILED}, {})
    assert "a: failed" in problem
    assert "401 == 500" in problem


@pytest.mark.parametrize("routed", [{}, {"a": Outcome("skipped", "Skipped: why")}])
def test_a_test_that_did_not_run_is_a_problem(routed: dict[str, Outcome]) -> None:
    assert len(list(compare({"a": PASSED}, routed, {}))) == 1


def test_a_listed_difference_that_does_not_occur_is_a_problem() -> None:
    (problem,) = compare({"a": PASSED}, {"a": PASSED}, {"a": KNOWN})
    assert "no scope, no service" in problem
    assert len(list(compare({}, {}, {"a": KNOWN}))) == 1


def test_a_listed_test_that_fails_in_another_way_is_a_problem() -> None:
    (problem,) = compare({"a": PASSED}, {"a": Outcome("failed", "KeyError: 'x'")}, {"a": KNOWN})
    assert "KeyError" in problem


def test_a_mode_has_the_differences_that_name_it() -> None:
    expected = read(GROUP.replace("{more}", ""))
    assert set(expected.of(Mode.SHARED)) == {"tests/ag_ui/a[1]", "tests/ag_ui/a[2]"}
    assert expected.of(Mode.STRICT) == {}


def test_a_test_that_stands_there_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        read(GROUP.replace("{more}", ', "a[2]"'))


@pytest.mark.parametrize("field", ["reason", "shows", "tests"])
def test_a_group_that_leaves_something_out_is_refused(field: str) -> None:
    empty = "[]" if field == "tests" else '" "' if field == "reason" else '""'
    lines = [
        f"{field} = {empty}" if line.startswith(field) else line
        for line in GROUP.replace("{more}", "").splitlines()
    ]
    with pytest.raises(ValueError, match="missing"):
        read("\n".join(lines))


def test_the_list_can_be_read_and_has_differences_in_both_modes() -> None:
    expected = read(FILE.read_text())
    shared, strict = expected.of(Mode.SHARED), expected.of(Mode.STRICT)
    assert shared
    assert strict
    assert all(not difference.modes - {Mode.SHARED, Mode.STRICT} for difference in shared.values())
