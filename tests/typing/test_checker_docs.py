"""The configurations that docs/checkers.md prints catch R2, as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import attrs
import pytest

from tests.typing.checkers import ROOT, target_python

PAGE = (ROOT / "docs" / "checkers.md").read_text()
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CHECKERS = ("mypy", "pyright", "basedpyright", "ty", "pyrefly", "zuban")
_STATUS_OF_MISTAKES = 1


@attrs.frozen
class Section:
    configuration: str
    command: list[str]


def blocks(text: str) -> dict[str, str]:
    return {language: body for language, _, body in _BLOCK.findall(text)}


def section(checker: str) -> Section:
    text = PAGE.split(f"\n## {checker}\n")[1].split("\n## ")[0]
    found = blocks(text)
    return Section(found["toml"], found["sh"].split())


PROGRAM = blocks(PAGE.split("\n## ")[0])["python"]
LINE = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if ".isolation(" in text)
SAFE = PROGRAM.replace(
    "import RegistrationBuilder", "import RegistrationBuilder, SingleUser"
).replace("isolation(Chat())", "isolation(SingleUser(Chat()))")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    # The environment that is checked, as the page has it.
    (tmp_path / ".venv").symlink_to(target_python().parents[1], target_is_directory=True)
    (tmp_path / "app.py").write_text(PROGRAM)
    return tmp_path


def run(directory: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    import sys

    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    program = Path(sys.executable).with_name(command[0])
    return subprocess.run(
        [str(program), *command[1:]],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_page_says_which_line() -> None:
    assert f"reports line {LINE} and" in PAGE


@pytest.mark.parametrize("checker", _CHECKERS)
def test_the_configuration_catches_a_bare_instance(checker: str, directory: Path) -> None:
    printed = section(checker)
    assert printed.command[0] == checker
    (directory / "pyproject.toml").write_text(printed.configuration)

    mistaken = run(directory, printed.command)
    (directory / "app.py").write_text(SAFE)
    safe = run(directory, printed.command)

    assert mistaken.returncode == _STATUS_OF_MISTAKES, mistaken.stdout + mistaken.stderr
    assert re.search(rf"app\.py:{LINE}\b", mistaken.stdout + mistaken.stderr), mistaken.stdout
    assert "isolation" in mistaken.stdout
    # basedpyright's preset warns of a result that is left unused; that is no error.
    assert "error:" not in safe.stdout, safe.stdout
    assert safe.returncode == 0 or checker == "basedpyright", safe.stdout + safe.stderr


def test_pyrefly_without_configuration_reports_nothing(directory: Path) -> None:
    silent = run(
        directory,
        ["pyrefly", "check", "--python-interpreter-path", ".venv/bin/python", "app.py"],
    )

    assert silent.returncode == 0, silent.stdout + silent.stderr
    assert "app.py" not in silent.stdout


def test_pyright_basic_is_enough(directory: Path) -> None:
    printed = section("pyright")
    basic = printed.configuration.replace('"strict"', '"basic"')
    (directory / "pyproject.toml").write_text(basic)

    assert run(directory, printed.command).returncode == _STATUS_OF_MISTAKES
