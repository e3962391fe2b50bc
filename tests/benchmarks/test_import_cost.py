"""What `import scoped_registration` costs, as a multiple of `import attrs, anyio`.

Fresh interpreters, strictly alternated: base, package, base again. The second base row is
the A/A control: how far apart two equal rows are here and now. Processor time, not wall time:
an import waits for nothing, and a busy machine would be measured instead. Bytecode is cached
for both, in a directory of this test, whatever the environment says about writing it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 21
TARGET = 1.5
BASE = "import attrs, anyio"
PACKAGE = "import scoped_registration"
_TIMED = """
import time
begun = time.process_time()
{statement}
print(time.process_time() - begun)
"""


def _seconds(statement: str, bytecode: Path) -> float:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(statement=statement)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def test_import_costs_at_most_half_as_much_again_as_attrs_and_anyio(tmp_path: Path) -> None:
    for statement in (BASE, PACKAGE):  # bytecode is written, files are in the cache
        _seconds(statement, tmp_path)
    rows: dict[str, list[float]] = {BASE: [], PACKAGE: [], f"{BASE} (A/A)": []}
    for _ in range(ROUNDS):
        for name, seconds in rows.items():
            seconds.append(_seconds(name.removesuffix(" (A/A)"), tmp_path))

    base = statistics.median(rows[BASE])
    print(f"\n{'':32} {'median':>9} {'min':>9} {'max':>9} {'ratio':>6}")
    for name, seconds in rows.items():
        median = statistics.median(seconds)
        spread = (median, min(seconds), max(seconds))
        print(f"{name:32}", *(f"{1000 * it:6.1f} ms" for it in spread), f"{median / base:6.2f}")

    ratio = statistics.median(rows[PACKAGE]) / base
    control = statistics.median(rows[f"{BASE} (A/A)"]) / base
    band = abs(control - 1)
    assert ratio <= TARGET * (1 + band), f"{ratio:.2f} times, target {TARGET}, A/A {control:.2f}"
