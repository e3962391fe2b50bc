"""The pool costs no more than it may, against peers that ran side by side with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.benchmarks import builds, lease, memory
from tests.benchmarks.figures import Report


@pytest.mark.parametrize(
    "report",
    [lease.report, builds.report, memory.report],
    ids=["a warm lease", "builds", "memory"],
)
def test_the_pool_costs_no_more_than_it_must(
    report: Callable[[], Report], capsys: pytest.CaptureFixture[str]
) -> None:
    found = report()
    with capsys.disabled():
        print(f"\n{found.title}", *found.figures, sep="\n  ")
    assert found.failures == []
