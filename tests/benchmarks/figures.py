"""A figure of a benchmark, with what it must be and what is wished for."""

from __future__ import annotations

import os
from collections.abc import Sequence

import attrs

__all__ = ["LONG", "Bar", "Figure", "Report"]

LONG = os.environ.get("SCOPED_REGISTRATION_BENCHMARKS") == "long"
"""Whether to take the time that figures for the documentation need."""


@attrs.frozen
class Figure:
    """One measured number. Less is better in all of them.

    Attributes:
        what: What was measured, against what.
        measured: The number.
        must: What it may be at most; None: it is only reported.
        stretch: What it is wished to be.
        today: What it may be as long as `must` is out of reach; docs/performance.md says why.
        noise: How far the A/A ratio of the same run was from 1.
        unit: What stands behind the number; a ratio has none.
    """

    what: str
    measured: float
    must: float | None = None
    stretch: float | None = None
    today: float | None = None
    noise: float = 0.0
    unit: str = ""

    @property
    def held(self) -> bool:
        """Whether the number is within its limit, as it was measured."""
        return self.must is None or self.measured <= self.must

    @property
    def failed(self) -> bool:
        """Whether it is over the limit of today by more than this machine's noise explains."""
        limit = self.must if self.today is None else self.today
        return limit is not None and self.measured > limit * (1 + self.noise)

    def __str__(self) -> str:
        limit = "only reported" if self.must is None else f"at most {self.must:g}"
        noise = f", A/A ±{self.noise:.1%}" if self.noise else ""
        return f"{self.what}: {self.measured:.3g}{self.unit}, {limit}{noise}"


@attrs.frozen
class Bar:
    """One bar of the plot: what a peer costs, as a multiple of the group's base."""

    name: str
    ratio: float
    ours: bool = False


@attrs.frozen
class Report:
    """What one kind of benchmark found.

    Attributes:
        title: The kind.
        figures: The numbers, those with a limit first.
        bars: The peers side by side.
        base: What the bars are multiples of.
    """

    title: str
    figures: Sequence[Figure]
    bars: Sequence[Bar] = ()
    base: str = ""

    @property
    def failures(self) -> list[str]:
        """Return the figures that are over their limits."""
        return [str(figure) for figure in self.figures if figure.failed]
