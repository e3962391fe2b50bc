"""The seven checker runs, each as one process over one directory.

A run knows how to write the checker's configuration, how to start it and how to read what
it prints. It looks at the package that is installed beside an interpreter: this one, or the
one that ``SCOPED_REGISTRATION_TYPING_PYTHON`` names (an environment made from the wheel).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import attrs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TARGET = "SCOPED_REGISTRATION_TYPING_PYTHON"
_CACHE = ROOT / ".mypy_cache" / "typing"  # of third-party modules; the corpora are read anew
_CONCISE = re.compile(r"(?P<path>[^:]+):(?P<line>\d+):(?P<column>\d+): ")
_MYPY = re.compile(_CONCISE.pattern + r"(?P<level>\w+): (?P<text>.*?)(?:  \[(?P<code>[\w-]+)\])?")
_TY = re.compile(_CONCISE.pattern + r"(?P<level>\w+)\[(?P<code>[\w-]+)\] (?P<text>.*)")


def target_python() -> Path:
    """Return the interpreter whose installed package is checked."""
    return Path(os.environ.get(TARGET, sys.executable)).absolute()


@attrs.frozen
class Diagnostic:
    """What a checker says about one place. Lines and columns are counted from 1."""

    path: str
    line: int
    column: int
    code: str
    text: str
    level: str = "error"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.level}: {self.text}  [{self.code}]"


@attrs.frozen
class Project:
    """A directory to check: top-level folders of it, as seen from its root."""

    root: Path
    folders: tuple[str, ...]
    python: Path = attrs.field(factory=target_python)
    version: str = "3.11"

    @property
    def uses_this_environment(self) -> bool:
        """Tell whether it checks what is installed here, and no changed copy of it."""
        changed = (self.root / "scoped_registration").exists()
        return self.python == Path(sys.executable) and not changed

    @property
    def files(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.root))
            for folder in self.folders
            for path in (self.root / folder).rglob("*.py")
        )


@attrs.frozen
class Checker:
    """One column of the table."""

    name: str
    # The name under which a corpus line gives the code that this checker reports.
    column: str
    program: str
    _run: Callable[[Project], Iterable[Diagnostic]]

    def run(self, project: Project) -> list[Diagnostic]:
        """Return what the checker says about the project's files, and about no others."""
        files = set(project.files)
        return [found for found in self._run(project) if found.path in files]


class CheckerFailedError(Exception):
    """A checker did not do its work."""


def _execute(project: Project, *command: str | Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
        env={key: value for key, value in os.environ.items() if key not in _FOREIGN},
    )
    if done.returncode not in (0, 1):
        raise CheckerFailedError(
            f"{command[0]}: status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


_FOREIGN = frozenset({"MYPYPATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"})


def _tool(name: str) -> Path:
    """Return a checker's program, from the environment that runs the tests."""
    return Path(sys.executable).with_name(name)


def _lines(project: Project, output: str, pattern: re.Pattern[str]) -> Iterable[Diagnostic]:
    for line in output.splitlines():
        if found := pattern.fullmatch(line):
            yield Diagnostic(
                path=os.path.relpath(project.root / found["path"], project.root),
                line=int(found["line"]),
                column=int(found["column"]),
                code=found["code"] or "",
                text=found["text"],
                level=found["level"],
            )


def _errors(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in found if diagnostic.level != "note"]


def _mypy_ini(project: Project) -> str:
    # pydantic's plugin is not needed: the corpora use no feature that wants it.
    return f"[mypy]\nstrict = True\nexplicit_package_bases = True\nmypy_path = {project.root}\n"


def _mypy(project: Project) -> Iterable[Diagnostic]:
    (project.root / "mypy.ini").write_text(_mypy_ini(project))
    # One for each kind of run: two processes at a time do not share one.
    kind = "-".join([project.version, *(Path(folder).name for folder in project.folders)])
    cache = (_CACHE if project.uses_this_environment else project.root / ".mypy_cache") / kind
    output = _execute(
        project,
        *(_tool("mypy"), "--config-file", "mypy.ini", "--cache-dir", cache),
        *("--python-version", project.version, "--python-executable", project.python),
        *("--show-column-numbers", "--no-pretty", "--no-error-summary", "--no-color-output"),
        *project.files,
    )
    return _errors(_lines(project, output, _MYPY))


def _zuban(project: Project) -> Iterable[Diagnostic]:
    (project.root / "mypy.ini").write_text(_mypy_ini(project))
    output = _execute(
        project,
        *(_tool("zuban"), "check", "--strict", "--config-file", "mypy.ini"),
        *("--python-version", project.version, "--python-executable", project.python),
        *("--show-column-numbers", "--no-pretty", "--no-error-summary"),
        *project.files,
    )
    return _errors(_lines(project, output, _MYPY))


def _pyright(program: str, mode: str) -> Callable[[Project], Iterable[Diagnostic]]:
    def run(project: Project) -> Iterable[Diagnostic]:
        configuration = project.root / f"{program}-{mode}.json"
        configuration.write_text(
            json.dumps(
                {
                    "include": list(project.folders),
                    "pythonVersion": project.version,
                    "typeCheckingMode": mode,
                }
            )
        )
        output = _execute(
            project,
            *(_tool(program), "--outputjson", "--pythonpath", project.python),
            *("-p", configuration),
        )
        for found in json.loads(output)["generalDiagnostics"]:
            start = found["range"]["start"]
            yield Diagnostic(
                path=os.path.relpath(found["file"], project.root),
                line=start["line"] + 1,
                column=start["character"] + 1,
                code=found.get("rule", ""),
                text=found["message"],
                level=found["severity"],
            )

    return run


def _ty(project: Project) -> Iterable[Diagnostic]:
    output = _execute(
        project,
        *(_tool("ty"), "check", "--project", project.root, "--python", project.python),
        *("--python-version", project.version, "--output-format", "concise", "--color", "never"),
        *project.folders,
    )
    return _lines(project, output, _TY)


def _pyrefly(project: Project) -> Iterable[Diagnostic]:
    (project.root / "pyrefly.toml").write_text(
        f'preset = "default"\nsearch-path = ["{project.root}"]\n'
        f'python-version = "{project.version}"\npython-interpreter-path = "{project.python}"\n'
    )
    output = _execute(
        project,
        *(_tool("pyrefly"), "check", "--config", "pyrefly.toml", "--output-format", "json"),
        *project.files,
    )
    for found in json.loads(output)["errors"]:
        yield Diagnostic(
            path=os.path.relpath(project.root / found["path"], project.root),
            line=found["line"],
            column=found["column"],
            code=found["name"],
            text=found["description"],
            level=found.get("severity", "error"),
        )


CHECKERS: Sequence[Checker] = (
    Checker("mypy --strict", "mypy", "mypy", _mypy),
    Checker("pyright basic", "pyright", "pyright", _pyright("pyright", "basic")),
    Checker("pyright strict", "pyright", "pyright", _pyright("pyright", "strict")),
    Checker("basedpyright", "pyright", "basedpyright", _pyright("basedpyright", "recommended")),
    Checker("ty", "ty", "ty", _ty),
    Checker("pyrefly", "pyrefly", "pyrefly", _pyrefly),
    Checker("zuban --strict", "zuban", "zuban", _zuban),
)
