"""Environments with the framework beside an interpreter of their own, with and without the stubs.

Their packages are links to those of the interpreter that runs the tests. The stubs alone are
installed, by pip, from `stubs/`; `scoped_registration` is not in there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

STUBS = Path(__file__).parents[3] / "stubs"
_HIDDEN = ("scoped_registration", "_editable_impl", "__pycache__", "agent_framework_ag_ui-stubs")
# The A2UI names need this at run time. It is no dependency of agent-framework-ag-ui.
_TOOLKIT = """from unittest.mock import MagicMock

def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return MagicMock(name=name)
"""


def create(at: Path, *, stubs: bool) -> Path:
    """Make an environment and return its interpreter."""
    venv.create(at, with_pip=False, symlinks=True)
    packages = next(at.glob("lib/python*/site-packages"))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(_HIDDEN) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    if not (packages / "ag_ui_a2ui_toolkit").exists():
        (packages / "ag_ui_a2ui_toolkit.py").write_text(_TOOLKIT)
    python = at / "bin" / "python"
    if stubs:
        # With hatchling at hand no index is needed.
        offline = ["--no-index", "--no-build-isolation"] if find_spec("hatchling") else []
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"),
                *("--no-deps", "--disable-pip-version-check", *offline, str(_copy(at))),
            ],
            check=True,
            env={**os.environ, "PIP_NO_INPUT": "1"},
        )
    return python


def _copy(at: Path) -> Path:
    """Copy the sources, so that several test processes may build them at once."""
    copy = at / "stubs"
    for path in STUBS.rglob("*"):
        if path.is_file() and "dist" not in path.parts:
            target = copy / path.relative_to(STUBS)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return copy
