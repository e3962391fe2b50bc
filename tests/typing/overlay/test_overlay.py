"""The overlay stubs, as they are installed, over programs that know nothing of them."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.typing.overlay import environments, surface
from tests.typing.overlay.checkers import CHECKERS, Diagnostic

HERE = Path(__file__).parent
FOLDERS = ("leaking", "safe", "declared")
ROOT = HERE.parents[2]
# For some checkers a functional workflow's agent is no SupportsAgentRun, without the overlay too.
REFUSED_BY_UPSTREAM = {
    "leaking/functional_workflow_agent.py",
    "leaking/wrapped_functional_workflow_agent.py",
}


def marked(folder: str) -> dict[str, tuple[range, str]]:
    """Return, for each program with a mark, the lines of the marked statement and the mark."""
    found: dict[str, tuple[range, str]] = {}
    for path in sorted((HERE / folder).glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            if "# leaks" in line:
                statement = min(
                    (
                        node
                        for node in ast.walk(ast.parse(text))
                        if isinstance(node, ast.Expr | ast.Return | ast.Assign | ast.AnnAssign)
                        and node.lineno <= number <= (node.end_lineno or 0)
                    ),
                    key=lambda node: (node.end_lineno or 0) - node.lineno,
                )
                lines = range(statement.lineno, (statement.end_lineno or 0) + 1)
                found[f"{folder}/{path.name}"] = lines, line.partition("# leaks")[2]
    return found


@pytest.fixture(scope="session")
def with_stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environments.create(tmp_path_factory.mktemp("with"), stubs=True)


@pytest.fixture(scope="session")
def without_stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environments.create(tmp_path_factory.mktemp("without"), stubs=False)


def project(at: Path, *folders: str) -> Path:
    for folder in folders:
        shutil.copytree(HERE / folder, at / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (at / "surface.py").write_text(surface.program())
    return at


def outside(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the errors in programs, which are not about the surface."""
    return [each for each in found if each.is_error and each.path != "surface.py"]


def revealed(found: list[Diagnostic]) -> dict[int, str]:
    return {
        each.line: surface.normalized(each.text)
        for each in found
        if each.path == "surface.py" and each.level in ("note", "info", "information")
    }


@pytest.mark.parametrize("checker", CHECKERS)
def test_leaks_are_refused_and_nothing_else_changes(
    checker: str, with_stubs: Path, without_stubs: Path, tmp_path: Path
) -> None:
    (tmp_path / "with").mkdir()
    found = CHECKERS[checker](project(tmp_path / "with", *FOLDERS), with_stubs)
    leaks = marked("leaking") | marked("declared")
    assert len(leaks) > 50
    refused = {
        path
        for path, (lines, _) in leaks.items()
        if any(each.path == path and each.line in lines for each in outside(found))
    }
    unseen = {path for path, (_, mark) in leaks.items() if f"unseen by {checker}" in mark}
    assert set(leaks) - refused == unseen
    elsewhere = [
        each
        for each in outside(found)
        if each.path not in leaks or each.line not in leaks[each.path][0]
    ]
    assert elsewhere == []

    page = (ROOT / "docs" / "stubs.md").read_text(encoding="utf-8")
    shown = [each.text for each in found if each.path == "leaking/runner_by_keyword.py"]
    assert [text.splitlines()[0] in page for text in shown] == [True], shown

    if checker == "pyright strict":
        return  # the engine of "pyright basic": the same types
    (tmp_path / "without").mkdir()
    bare = CHECKERS[checker](project(tmp_path / "without", "leaking", "safe"), without_stubs)
    assert {each.path for each in outside(bare)} <= REFUSED_BY_UPSTREAM
    here, there = revealed(found), revealed(bare)
    names = surface.names()
    assert len(there) == len(names) > 150
    different = {
        names[line]: (here.get(line), there[line])
        for line in there
        if here.get(line) != there[line]
    }
    assert different == {}


def test_every_released_declaration_is_in_the_stubs(with_stubs: Path, tmp_path: Path) -> None:
    configuration = tmp_path / "mypy.ini"
    configuration.write_text("[mypy]\n[mypy-ag_ui_a2ui_toolkit.*]\nignore_missing_imports = True\n")
    done = subprocess.run(
        [
            *(with_stubs, "-m", "mypy.stubtest", "--concise", "--strict-type-check-only"),
            *("--mypy-config-file", configuration),
            *("--allowlist", HERE / "stubtest-allowlist.txt", "agent_framework_ag_ui"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_programs_run_as_they_are(without_stubs: Path) -> None:
    program = (
        "import pathlib, runpy, sys, warnings\nwarnings.simplefilter('ignore')\n"
        "for path in sys.argv[1:]:\n"
        "    try:\n        runpy.run_path(path)\n"
        "    except ValueError as error:\n        print(pathlib.Path(path).stem)\n"
    )
    files = [str(path) for folder in FOLDERS for path in sorted((HERE / folder).glob("*.py"))]
    done = subprocess.run(
        [without_stubs, "-c", program, *files], capture_output=True, text=True, check=True
    )
    # Upstream itself refuses these two mistakes, at start-up. It accepts all the others.
    assert {name.partition("_mode")[0] for name in done.stdout.split()} == {"no", "two"}
    assert len(files) > 70
