"""A leased request costs no more than it may, against the same request without the library."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.benchmarks import agui, http
from tests.benchmarks.figures import Report


@pytest.mark.parametrize("report", [http.report, agui.report], ids=["FastAPI", "AG-UI"])
def test_a_request_costs_no_more_than_it_must(
    report: Callable[[], Report], capsys: pytest.CaptureFixture[str]
) -> None:
    found = report()
    with capsys.disabled():
        print(f"\n{found.title}", *found.figures, sep="\n  ")
    assert found.failures == []
