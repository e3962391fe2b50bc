"""What a scan costs, as a multiple of `ast.parse` alone on the same files.

Two kinds of files: those of the standard library, which name no package of the rules, and
programs that do, each of which is read in full. Processor time in this process, alternated,
the best of each; the A/A figure is the parser against itself.
"""

from __future__ import annotations

import ast
import sysconfig
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from scoped_registration.audit.checks import check_module
from scoped_registration.audit.scan import scan
from scoped_registration.audit.symbols import MARKERS

ROOT = Path(__file__).parents[2]
STDLIB = Path(sysconfig.get_path("stdlib"))
PACKAGES = Path(sysconfig.get_path("purelib"))
TARGET = 2.0
_ROUNDS = 3


def _names_a_package(path: Path) -> bool:
    source = path.read_bytes()
    return any(one in source for one in MARKERS)


def _files(kind: str) -> list[Path]:
    if kind == "standard library":
        return sorted(STDLIB.glob("*.py"))[::3]
    places = [ROOT / "tests", ROOT / "docs", PACKAGES / "agent_framework_ag_ui"]
    return [
        path for place in places for path in sorted(place.rglob("*.py")) if _names_a_package(path)
    ]


@pytest.mark.parametrize("kind", ["standard library", "programs with registrations"])
def test_a_scan_costs_at_most_as_much_again_as_parsing(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = _files(kind)
    assert len(files) > 40

    def parse() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in files:
                ast.parse(path.read_bytes())

    def whole_scan() -> None:
        assert scan(files).files == len(files)

    def rules_alone() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for path in files:
                list(check_module(ast.parse(path.read_bytes())))

    rows: dict[str, Callable[[], None]] = {
        "parse": parse,
        "scan": whole_scan,
        "every rule on every file": rules_alone,
        "parse again": parse,
    }
    best = dict.fromkeys(rows, float("inf"))
    for _ in range(_ROUNDS):
        for name, run in rows.items():
            begun = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - begun)

    ratios = {name: seconds / best["parse"] for name, seconds in best.items()}
    with capsys.disabled():
        figures = " | ".join(f"{name} {best[name]:.2f} s ({ratios[name]:.2f})" for name in rows)
        print(f"\n{kind}, {len(files)} files: {figures} | at most {TARGET}")
    assert ratios["scan"] <= TARGET
    assert ratios["every rule on every file"] <= TARGET
