"""The tests of the framework that end otherwise through the builder, and why.

They stand in ``differences.toml``, grouped by reason. A run has to differ from the unrouted
one in exactly these tests, each in the way that is told.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from tests.conformance.suite import Mode, Outcome

__all__ = ["FILE", "Difference", "Expected", "compare", "expand", "read"]

FILE = Path(__file__).with_name("differences.toml")
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")


@attrs.frozen
class Difference:
    """One reason, and the tests that fail for it.

    Args:
        reason: Why, in plain English, and which promise asks for it.
        modes: Where.
        shows: What the failure says, so that none hides behind another.
        tests: Which tests, each spelt out.
    """

    reason: str
    modes: frozenset[Mode]
    shows: str
    tests: tuple[str, ...]


@attrs.frozen
class Expected:
    """What a run has to show: as many tests, and these differences."""

    count: int
    differences: tuple[Difference, ...]

    def of(self, mode: Mode) -> dict[str, Difference]:
        """Return the difference of each test that fails in a mode."""
        return {
            test: difference
            for difference in self.differences
            if mode in difference.modes
            for test in difference.tests
        }


def read(text: str) -> Expected:
    """Read the list.

    Raises:
        ValueError: A test stands there twice for one mode, or a reason is missing.
    """
    data = tomllib.loads(text)
    differences = [
        Difference(
            reason=group["reason"].strip(),
            modes=frozenset(map(Mode, group["modes"])),
            shows=group["shows"],
            tests=tuple(f"tests/ag_ui/{test}" for line in group["tests"] for test in expand(line)),
        )
        for group in data["difference"]
    ]
    seen: set[tuple[Mode, str]] = set()
    for difference in differences:
        if not (difference.reason and difference.shows and difference.tests):
            raise ValueError(f"a reason, what shows or the tests are missing: {difference}")
        for key in itertools.product(difference.modes, difference.tests):
            if key in seen:
                raise ValueError(f"{key} stands there twice")
            seen.add(key)
    return Expected(data["count"], tuple(differences))


def expand(line: str) -> list[str]:
    """Return the tests that a line stands for: ``t[{a,b}-{c,d}]`` are four."""
    parts = _CHOICE.split(line)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def compare(
    unrouted: Mapping[str, Outcome], routed: Mapping[str, Outcome], expected: dict[str, Difference]
) -> Iterator[str]:
    """Yield what is wrong with a routed run, a line for each test."""
    for test in sorted(unrouted.keys() | routed.keys() | expected.keys()):
        before, after = unrouted.get(test, _ABSENT), routed.get(test, _ABSENT)
        difference = expected.get(test)
        if difference is None:
            if before.outcome != after.outcome:
                yield f"{test}: {after.outcome}, which no reason is given for ({_short(after)})"
        elif before.outcome == after.outcome:
            yield f"{test}: {after.outcome}, and should differ: {difference.reason}"
        elif difference.shows not in after.told:
            yield f"{test}: should show {difference.shows!r}, and shows {_short(after)}"


def _short(outcome: Outcome) -> str:
    return outcome.told.partition("\n")[0][:200]


_ABSENT = Outcome("absent")
