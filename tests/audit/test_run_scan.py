"""The command: paths, order, exit statuses, and what cannot be read."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from scoped_registration.audit.scan import run_scan, scan

CLEAN = "x = 1\n"
LEAKING = """from scoped_registration import ScopedFactory
chat = object()
ScopedFactory(lambda context: chat, scope=user)
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of every kind in a directory, which the test runs in."""
    for name in (
        *("b/leaking.py", "a/leaking.py", "a.py", ".hidden/leaking.py", "a/__pycache__/x.py"),
        *("venv/lib/leaking.py", "venv/pyvenv.cfg", "a/notes.txt", "a/stub.pyi", "env.py/deep.py"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LEAKING)
    (tmp_path / "clean.py").write_text(CLEAN)
    (tmp_path / "loop").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _found(*paths: str) -> list[str]:
    report = scan(map(Path, paths))
    assert report.unreadable == ()
    return [one.place.path.as_posix() for one in report.findings]


def test_directories_are_walked_in_order_without_what_is_hidden(tree: Path) -> None:
    assert _found(".") == ["a/leaking.py", "a.py", "b/leaking.py", "env.py/deep.py"]
    assert scan([Path()]).files == 5


def test_a_path_that_is_named_is_read_whatever_it_is(tree: Path) -> None:
    assert _found(".hidden") == [".hidden/leaking.py"]
    assert _found("venv") == ["venv/lib/leaking.py"]
    assert _found("a/stub.pyi") == ["a/stub.pyi"]


def test_each_file_is_read_once(tree: Path) -> None:
    assert _found("a", "a/leaking.py", str(tree / "a")) == ["a/leaking.py"]


def test_the_order_of_the_arguments_does_not_show(tree: Path) -> None:
    assert _found("b", "a") == _found("a", "b") == ["a/leaking.py", "b/leaking.py"]


@pytest.mark.parametrize(
    ("paths", "status", "last_line"),
    [
        (["clean.py"], 0, "0 findings, 1 file read"),
        (["a.py"], 1, "1 finding, 1 file read"),
        (["absent.py"], 2, "0 findings, 0 files read, 1 unreadable"),
        (["broken.py", "a.py"], 2, "1 finding, 1 file read, 1 unreadable"),
        (["empty"], 0, "0 findings, 0 files read"),
    ],
)
def test_the_exit_status_tells(tree: Path, paths: list[str], status: int, last_line: str) -> None:
    (tree / "broken.py").write_text("def f(:\n")
    (tree / "empty").mkdir()
    out = io.StringIO()
    assert run_scan([Path(one) for one in paths], stream=out) == status
    assert out.getvalue().splitlines()[-1] == last_line


def test_it_writes_to_the_standard_output(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_scan([Path("a.py")]) == 1
    assert capsys.readouterr().out.startswith("a.py:3:15: SR102 ")


_BROKEN: dict[str, tuple[bytes, str]] = {
    "syntax": (b"x = 1\ndef f(:\n", "line 2: invalid syntax"),
    "encoding": (b"# coding: no-such\n", "unknown encoding: no-such"),
    "bytes": (b"x = '\xff'\n", "(unicode error) 'utf-8' codec can't decode byte 0xff"),
    "null": (b"x = 1\0", "source code string cannot contain null bytes"),
    "depth": (b"(" * 5000 + b")" * 5000, ""),  # each version of Python has words of its own
    "long sum": (b"import scoped_registration\nx = " + b"+".join([b"1"] * 100_000), ""),
}


@pytest.mark.parametrize(("source", "reason"), _BROKEN.values(), ids=_BROKEN)
def test_what_cannot_be_parsed_is_said_and_the_others_are_scanned(
    tree: Path, source: bytes, reason: str
) -> None:
    (tree / "broken.py").write_bytes(source)
    report = scan([Path("broken.py"), Path("a.py")])
    assert [one.path for one in report.unreadable] == [Path("broken.py")]
    assert reason in report.unreadable[0].reason
    assert report.unreadable[0].reason
    assert [one.place.path for one in report.findings] == [Path("a.py")]


def test_what_cannot_be_opened_is_said(tree: Path) -> None:
    (tree / "gone.py").symlink_to(tree / "absent.py")
    report = scan([Path()])
    assert [(one.path, one.reason) for one in report.unreadable] == [
        (Path("gone.py"), "No such file or directory")
    ]
    assert len(report.findings) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe in the file system")
def test_a_pipe_is_passed_over(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    assert scan([Path()]).files == 5


def test_nothing_is_imported(tree: Path) -> None:
    (tree / "effect.py").write_text(f"raise SystemExit\n{LEAKING}")
    before = set(sys.modules)
    assert _found("effect.py") == ["effect.py"]
    assert set(sys.modules) == before


def test_warnings_of_the_source_are_not_raised(tree: Path) -> None:
    (tree / "escape.py").write_text(r"x = '\d' is 1" + "\n" + LEAKING)
    assert _found("escape.py") == ["escape.py"]


@pytest.mark.parametrize(
    ("encoding", "newline"), [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("latin-1", "\r")]
)
def test_columns_count_characters_from_one(tree: Path, encoding: str, newline: str) -> None:
    cookie = "# coding: latin-1" if encoding == "latin-1" else "#"
    lines = [cookie, "from scoped_registration import ScopedFactory", "chat = object()"]
    lines.append("é = ('éé'); ScopedFactory(lambda é: chat, scope=é)\f")
    text = newline.join([*lines, ""])
    (tree / "text.py").write_bytes(text.encode(encoding))
    (finding,) = scan([Path("text.py")]).findings
    place = finding.place
    assert (place.line, place.end_line) == (4, 4)
    assert lines[3][place.column - 1 : place.end_column - 1] == "lambda é: chat"
