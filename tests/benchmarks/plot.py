"""The plot of the documentation: bars, as an SVG that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from tests.benchmarks.figures import Report

__all__ = ["plot"]

_WIDTH, _LABEL, _BAR, _LINE = 760, 330, 340, 22
# Fit for the light and for the dark scheme of the documentation; the text takes its colour.
_OURS, _OTHERS, _TEXT = "#3f51b5", "#9e9e9e", "currentColor"


def plot(reports: Iterable[Report]) -> str:
    """Return bars of all reports, each group to a scale of its own."""
    drawn: list[str] = []
    top = _LINE
    for report in reports:
        group = list(_group(report, top))
        drawn += group
        top += _LINE * (len(report.bars) + 2)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="{_TEXT}">'
    )
    title = (
        "<title>What peers and this library cost, as multiples of the first of each group</title>"
    )
    return "\n".join([head, title, *drawn, "</svg>"]) + "\n"


def _group(report: Report, top: int) -> Iterator[str]:
    yield _text(0, top, f"{report.title}, as multiples of: {report.base}", weight="bold")
    most = max(bar.ratio for bar in report.bars)
    for number, bar in enumerate(report.bars, start=1):
        line = top + number * _LINE
        width = max(1.0, bar.ratio / most * _BAR)
        colour = _OURS if bar.ours else _OTHERS
        yield _text(0, line, bar.name)
        yield (
            f'<rect x="{_LABEL}" y="{line - 12}" width="{width:.1f}" height="15" fill="{colour}"/>'
        )
        yield _text(_LABEL + width + 6, line, f"{bar.ratio:.2f}")


def _text(left: float, line: int, text: str, *, weight: str = "normal") -> str:
    return f'<text x="{left:.1f}" y="{line}" font-weight="{weight}">{escape(text)}</text>'
