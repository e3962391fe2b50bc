"""The command line, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from scoped_registration.__main__ import main

_APP = """
from typing import Annotated

from fastapi import Depends, FastAPI
from fastapi.security import OAuth2PasswordBearer

from scoped_registration import RegistrationBuilder, ScopedFactory, SingleUser
from scoped_registration.integrations.fastapi import attach, leased


def user() -> str:
    return "alice"


class Chat:
    def __init__(self, context: object) -> None: ...


app = FastAPI()
attach(
    app,
    RegistrationBuilder("chat").isolation(ScopedFactory(Chat, scope=user)).build(),
    RegistrationBuilder("desk").isolation(SingleUser.per_thread(Chat)).build(),
)
empty = FastAPI()
nothing = object()


def create() -> FastAPI:
    made = FastAPI()
    attach(made, RegistrationBuilder("made").isolation(ScopedFactory(Chat, scope=user)).build())
    return made


behind = FastAPI(dependencies=[Depends(OAuth2PasswordBearer("token"))])
one = RegistrationBuilder("one").isolation(SingleUser.per_thread(Chat)).build()
attach(behind, one)


@behind.get("/{thread_id}")
def read(chat: Annotated[Chat, Depends(leased(one))]) -> None: ...
"""
_REFUSED = """
from scoped_registration import RegistrationBuilder
app = RegistrationBuilder("chat").build()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "service.py").write_text(_APP)
    (tmp_path / "refused.py").write_text(_REFUSED)
    return tmp_path


def _run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scoped_registration", *words],
        cwd=place,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def _names(manifest: str) -> list[str]:
    return [one["name"] for one in json.loads(manifest)["registrations"]]


@pytest.mark.parametrize("target", ["service:app", "service"])
def test_manifest_prints_every_registration(place: Path, target: str) -> None:
    done = _run(place, "manifest", target)
    assert (done.returncode, done.stderr) == (0, "")
    manifest = json.loads(done.stdout)
    assert manifest["version"] == 1
    listed = manifest["registrations"]
    assert [(one["name"], one["mode"]) for one in listed] == [
        ("chat", "ScopedFactory"),
        ("desk", "SingleUser.per_thread"),
    ]
    assert listed[0]["declared_at"].startswith("service.py:")


def test_manifest_of_an_application_factory(place: Path) -> None:
    done = _run(place, "manifest", "--factory", "service:create")
    assert (done.returncode, done.stderr) == (0, "")
    assert _names(done.stdout) == ["made"]


def test_manifest_fails_where_the_application_would_not_start(place: Path) -> None:
    done = _run(place, "manifest", "service:behind")
    assert (done.returncode, done.stdout) == (1, "")
    assert "service:behind would not start: [single_user_behind_authentication]" in done.stderr


def test_manifest_of_an_application_without_registrations(place: Path) -> None:
    done = _run(place, "manifest", "service:empty")
    assert (done.returncode, _names(done.stdout)) == (0, [])


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("absent:app", "absent:app cannot be loaded: No module named 'absent'"),
        ("service:absent", "cannot be loaded: module 'service' has no attribute 'absent'"),
        ("", "cannot be loaded"),
        (":app", "cannot be loaded"),
        (".service:app", "cannot be loaded"),
        ("service.py:app", "cannot be loaded"),
        ("service:nothing", "service:nothing is no FastAPI application"),
        ("refused:app", "[mode_required] registration 'chat'"),
    ],
)
def test_an_application_that_cannot_be_loaded(place: Path, target: str, said: str) -> None:
    done = _run(place, "manifest", target)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_scan_reads_source_and_imports_neither_a_framework_nor_the_application(
    place: Path,
) -> None:
    (place / "leaking.py").write_text(
        "raise SystemExit('imported')\n"
        "from scoped_registration import ScopedFactory\n"
        "chat = object()\n"
        "ScopedFactory(lambda context: chat, scope=user)\n"
    )
    program = (
        "import sys\n"
        "from scoped_registration.__main__ import main\n"
        "status = main(['scan', 'leaking.py', '--format', 'json'])\n"
        "loaded = {'fastapi', 'starlette', 'pydantic', 'agent_framework', 'service'}\n"
        "print(status, loaded & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=place, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "1 set()\n")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["path"], finding["rule"]) == ("leaking.py", "SR102")


@pytest.mark.parametrize(
    ("paths", "status", "last"),
    [
        (("refused.py",), 0, "0 findings, 1 file read"),
        (("absent.py",), 2, "0 findings, 0 files read, 1 unreadable"),
    ],
)
def test_scan_answers_with_the_status_of_the_scan(
    place: Path, paths: tuple[str, ...], status: int, last: str
) -> None:
    done = _run(place, "scan", *paths)
    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.splitlines()[-1] == last


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nonsense",),
        ("manifest",),
        ("scan",),
        ("audit",),
        ("scan", ".", "--format", "xml"),
        ("audit", "service:app", "--check"),
    ],
    ids=str,
)
def test_wrong_words_are_answered_with_usage(place: Path, words: tuple[str, ...]) -> None:
    done = _run(place, *words)
    assert done.returncode == 2
    assert "usage: scoped-registration" in done.stderr


def test_version(place: Path) -> None:
    done = _run(place, "--version")
    assert done.stdout.split() == ["scoped-registration", version("scoped-registration")]


def test_main_can_be_called_in_this_process(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(["manifest", "service:app"]) == 0
    assert _names(capsys.readouterr().out) == ["chat", "desk"]
    assert main(["manifest", "service:nothing"]) == 2
    assert main(["manifest", "absent:app"]) == 2
