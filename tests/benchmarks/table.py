"""The table and the plot of the benchmarks, for the documentation.

``python -m tests.benchmarks.table`` takes all figures, and writes them to
``docs/_generated/``. With ``--unmeasured`` it measures nothing: where the files are missing
it writes what the page says without them.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

from tests.benchmarks import agui, builds, http, lease, memory, stores
from tests.benchmarks.figures import LONG, Figure, Report
from tests.benchmarks.plot import plot

__all__ = ["main", "table"]

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / "docs" / "_generated"
TABLE = DIRECTORY / "performance_table.md"
PLOT = DIRECTORY / "performance_plot.svg"
UNMEASURED = "No figures were taken for this build of the documentation: `make bench` takes them.\n"

_MODULES = (lease, builds, memory, http, agui, stores)
_PEERS = ("fastapi", "starlette", "agent-framework-ag-ui", "async-lru", "cachetools")


def table(reports: Iterable[Report]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield f"{'Long' if LONG else 'Short'} form, {date.today():%Y-%m-%d}; {_machine()}."
    yield ""
    yield "| figure | measured | must | stretch | A/A | |"
    yield "|---|---|---|---|---|---|"
    for report in reports:
        yield f"| **{report.title}** | | | | | |"
        for figure in report.figures:
            yield _row(figure)


def _row(figure: Figure) -> str:
    cells = [
        figure.what,
        f"{_number(figure.measured)}{figure.unit}",
        _number(figure.must),
        _number(figure.stretch),
        f"±{figure.noise:.1%}" if figure.noise else "",
        _verdict(figure),
    ]
    return f"| {' | '.join(cells)} |"


def _verdict(figure: Figure) -> str:
    if figure.must is None:
        return "reported"
    if figure.stretch is not None and figure.measured <= figure.stretch:
        return "held, stretch too"
    if figure.held:
        return "held"
    within = figure.measured <= figure.must * (1 + figure.noise)
    return "**not held**, by less than A/A" if within else "**not held**"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value == round(value) or value >= 100 else f"{value:.3g}"


def _machine() -> str:
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PEERS]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    processors = f"{os.cpu_count()} processors ({_processor()})"
    return f"{python}, {platform.system()}, {processors}; {', '.join(versions)}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # another system than Linux
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def main(arguments: Sequence[str]) -> None:
    """Write the files."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    if "--unmeasured" in arguments:
        for path, text in ((TABLE, UNMEASURED), (PLOT, "")):
            if not path.exists():
                path.write_text(text, encoding="utf-8")
        return
    reports: list[Report] = []
    for module in _MODULES:
        reports.append(module.report())
        print(f"\n{reports[-1].title}", *reports[-1].figures, sep="\n  ", flush=True)
    TABLE.write_text("\n".join(table(reports)) + "\n", encoding="utf-8")
    PLOT.write_text(plot(reports), encoding="utf-8")
    print(f"\nwrote {TABLE.relative_to(ROOT)} and {PLOT.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
