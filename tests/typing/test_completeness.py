"""Every public type is known, on every supported Python, and each `Any` has its reason."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.typing.anys import without_reason
from tests.typing.checkers import CHECKERS, Checker, target_python
from tests.typing.corpus import copy, judge

_OTHER_VERSIONS = ("3.12", "3.13")  # test_checkers.py has 3.11
_BY_NAME = {checker.name: checker for checker in CHECKERS}


def environment_with_the_package(directory: Path) -> Path:
    """Return an interpreter beside which the package lies as a wheel puts it.

    pyright answers nothing about an editable install.
    """
    ask = "import sysconfig, scoped_registration as s; print(sysconfig.get_path('purelib'), s.__file__)"
    python = target_python()
    done = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=True)
    installed, file = map(Path, done.stdout.split())
    if file.is_relative_to(installed):
        return python
    venv.create(directory, symlinks=True)
    here = next(directory.glob("lib/python*/site-packages"))
    shutil.copytree(file.parent, here / file.parent.name)
    (here / "others.pth").write_text(f"{installed}\n")
    return directory / "bin" / "python"


def test_every_public_type_is_known(tmp_path: Path) -> None:
    pyright = Path(sys.executable).with_name("pyright")
    python = environment_with_the_package(tmp_path / "environment")
    done = subprocess.run(
        [
            *(str(pyright), "--verifytypes", "scoped_registration", "--ignoreexternal"),
            "--outputjson",
        ],
        # --pythonpath has no effect together with --verifytypes.
        env=os.environ | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)["typeCompleteness"]
    unknown = [
        f"{symbol['name']}: {[each['message'] for each in symbol['diagnostics']]}"
        for symbol in report["symbols"]
        if symbol["isExported"] and not symbol["isTypeKnown"]
    ]

    assert unknown == []
    assert report["completenessScore"] == 1
    assert report["symbols"]


@pytest.mark.parametrize("version", _OTHER_VERSIONS)
@pytest.mark.parametrize("name", ["mypy --strict", "pyright basic"])
def test_other_versions_of_python_see_the_same(version: str, name: str, tmp_path: Path) -> None:
    checker: Checker = _BY_NAME[name]
    project = copy(tmp_path, "accept", "reject", version=version)

    assert list(judge(checker, checker.run(project)).problems) == []


def test_each_any_in_a_public_signature_has_a_reason() -> None:
    assert list(without_reason()) == []
