"""The six type checkers, pyright in two modes, each as one process over one directory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_LINE = re.compile(r"([^:]+):(\d+):(?:\d+:)? (\w+)(?:\[[\w-]+\])?:? (.*)")
_QUIET = ("note", "info", "information", "warning")


class Diagnostic(NamedTuple):
    """What a checker says about a line."""

    path: str
    line: int
    level: str
    text: str

    @property
    def is_error(self) -> bool:
        return self.level not in _QUIET


def _run(root: Path, program: str, *arguments: str | Path) -> str:
    foreign = {"MYPYPATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"}
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={key: value for key, value in os.environ.items() if key not in foreign},
    )
    assert done.returncode in (0, 1), f"{program}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def _files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.py"))


def _parsed(output: str) -> list[Diagnostic]:
    found = filter(None, map(_LINE.fullmatch, output.splitlines()))
    return [Diagnostic(each[1], int(each[2]), each[3], each[4]) for each in found]


def _mypy(program: str, *arguments: str) -> Callable[[Path, Path], list[Diagnostic]]:
    def run(root: Path, python: Path) -> list[Diagnostic]:
        (root / "mypy.ini").write_text(
            f"[mypy]\nstrict = True\nexplicit_package_bases = True\nmypy_path = {root}\n"
        )
        shape = ("--no-pretty", "--no-error-summary")
        options = ("--config-file", "mypy.ini", "--python-executable", python, *shape)
        return _parsed(_run(root, program, *arguments, *options, *_files(root)))

    return run


def _pyright(program: str, mode: str) -> Callable[[Path, Path], list[Diagnostic]]:
    def run(root: Path, python: Path) -> list[Diagnostic]:
        configuration = root / f"{program}-{mode}.json"
        configuration.write_text(json.dumps({"include": ["."], "typeCheckingMode": mode}))
        output = _run(root, program, "--outputjson", "--pythonpath", python, "-p", configuration)
        return [
            Diagnostic(
                os.path.relpath(found["file"], root),
                found["range"]["start"]["line"] + 1,
                found["severity"],
                found["message"],
            )
            for found in json.loads(output)["generalDiagnostics"]
        ]

    return run


def _ty(root: Path, python: Path) -> list[Diagnostic]:
    shape = ("--output-format", "concise", "--color", "never")
    return _parsed(_run(root, "ty", "check", "--project", root, "--python", python, *shape))


def _pyrefly(root: Path, python: Path) -> list[Diagnostic]:
    (root / "pyrefly.toml").write_text(
        f'preset = "default"\nsearch-path = ["{root}"]\npython-interpreter-path = "{python}"\n'
    )
    options = ("--config", "pyrefly.toml", "--output-format", "json")
    output = _run(root, "pyrefly", "check", *options, *_files(root))
    found: list[dict[str, Any]] = json.loads(output)["errors"]
    return [
        Diagnostic(each["path"], each["line"], each.get("severity", "error"), each["description"])
        for each in found
    ]


CHECKERS: dict[str, Callable[[Path, Path], list[Diagnostic]]] = {
    "mypy": _mypy("mypy", "--cache-dir", os.devnull),
    "pyright basic": _pyright("pyright", "basic"),
    "pyright strict": _pyright("pyright", "strict"),
    "basedpyright": _pyright("basedpyright", "recommended"),
    "ty": _ty,
    "pyrefly": _pyrefly,
    "zuban": _mypy("zuban", "check", "--strict"),
}
