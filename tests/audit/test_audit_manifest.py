"""The manifest that a team commits: its shape, its determinism, and what is a difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.audit_support import CLEAN, PRELUDE, UPSTREAM, run, write

_PROGRAM = """app = FastAPI()
given = Acknowledgement(
    reason="one room",
    owner="team-sre",
    risks={Risk.POLICY_LABELS, Risk.OBJECT_STATE},
    review_by=date(2999, 1, 31),
)
attach(
    app,
    RegistrationBuilder("room")
    .isolation(PersistentShared(Chat(), acknowledgement=given, access=user))
    .build(),
    RegistrationBuilder("desk").isolation(SingleUser(Chat(), owner=user)).build(),
    RegistrationBuilder("chat")
    .isolation(ScopedFactory(build, scope=user, shares=(Chat(), Chat)))
    .concurrency("reject")
    .build(),
    RegistrationBuilder("thread").isolation(SingleUser.per_thread(Other)).build(),
)
"""
_OTHER = "class Other:\n    def __init__(self, context: ScopeContext[str]) -> None: ...\n\n\n"


def _line(source: str, of: str) -> int:
    return source[: source.index(of)].count("\n") + 1


def test_the_manifest_names_everything_that_a_review_needs(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    write(tmp_path / "app", _OTHER + _PROGRAM)
    source = PRELUDE + _OTHER + _PROGRAM
    done = run(tmp_path, "manifest", "app.service:app")
    assert (done.returncode, done.stderr) == (0, "")
    manifest = json.loads(done.stdout)
    assert list(manifest) == ["version", "registrations"]
    assert manifest["version"] == 1
    chat, desk, room, thread = manifest["registrations"]
    declared = _line(source, 'RegistrationBuilder("chat")')
    user = {"name": "app.service.user", "at": f"app/service.py:{_line(source, 'def user')}"}
    assert chat == {
        "name": "chat",
        "mode": "ScopedFactory",
        "meaning": "one instance per (authorization scope, thread id)",
        "factory": {
            "name": "app.service.build",
            "at": f"app/service.py:{_line(source, 'def build')}",
        },
        "scope": user,
        "options": {
            **{"max_instances": 1000, "max_per_scope": 100, "idle_ttl": 3600.0},
            **{"max_age": None, "pin_ttl": 86400.0, "close_timeout": 10.0},
            **{"concurrency": "reject", "max_waiting": 16, "wait_timeout": 30.0},
        },
        "shares": ["app.service.Chat", "Chat"],
        "declared_at": f"app/service.py:{declared}",
    }
    assert (desk["target"], desk["owner"]) == ("app.service.Chat", user)
    assert (room["target"], room["access"]) == ("app.service.Chat", user)
    assert room["acknowledgement"] == {
        "reason": "one room",
        "owner": "team-sre",
        "risks": ["object_state", "policy_labels"],
        "review_by": "2999-01-31",
    }
    assert thread["factory"] == {
        "name": "app.service.Other",
        "at": f"app/service.py:{_line(source, 'class Other')}",
    }
    assert not {"scope", "owner", "access"} & set(thread)


def test_the_manifest_of_ag_ui_endpoints(tmp_path: Path) -> None:
    pytest.importorskip("agent_framework_ag_ui")
    program = """app = FastAPI()
AGUIEndpointBuilder("support", path="/support").isolation(
    ScopedFactory(build_workflow, scope=user)
).mount(app)
AGUIEndpointBuilder("helper", path="/helper").isolation(per_run(agent, scope=user)).mount(app)
"""
    write(tmp_path, UPSTREAM + program)
    helper, support = json.loads(run(tmp_path, "manifest", "service:app").stdout)["registrations"]
    assert (helper["path"], helper["mode"]) == ("/helper", "per_run")
    assert helper["target"] == "agent_framework._agents.Agent"
    assert "factory" not in helper
    assert (support["path"], support["factory"]["name"]) == ("/support", "service.build_workflow")


def test_it_is_the_same_each_time_and_in_each_order_of_attaching(tmp_path: Path) -> None:
    write(tmp_path, CLEAN)
    both = "one = RegistrationBuilder('one').isolation(ScopedFactory(build, scope=user)).build()\n"
    both += "two = RegistrationBuilder('two').isolation(ScopedFactory(build, scope=user)).build()\n"
    outputs: set[str] = set()
    for order in ("one, two", "two, one", "two, one"):
        write(tmp_path, f"{both}app = FastAPI()\nattach(app, {order})\n")
        outputs.add(run(tmp_path, "manifest", "service:app").stdout)
    (text,) = outputs
    assert [one["name"] for one in json.loads(text)["registrations"]] == ["one", "two"]
    assert str(tmp_path) not in text


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    write(tmp_path, CLEAN)
    done = run(tmp_path, "audit", "service:app", "--manifest", "registrations.json")
    assert done.returncode == 0
    return tmp_path


def _check(place: Path, *words: str) -> tuple[int, list[dict[str, Any]]]:
    file = "registrations.json"
    before = (place / file).read_bytes() if (place / file).is_file() else None
    done = run(
        place, "audit", "service:app", "--manifest", file, "--check", "--format=json", *words
    )
    if before is not None:  # comparing writes nothing
        assert (place / file).read_bytes() == before
    return done.returncode, json.loads(done.stdout)["findings"]


def test_what_is_written_is_what_is_printed(committed: Path) -> None:
    written = (committed / "registrations.json").read_text(encoding="utf-8")
    assert written == run(committed, "manifest", "service:app").stdout
    assert _check(committed) == (0, [])


def test_a_line_that_has_moved_is_no_difference(committed: Path) -> None:
    write(committed, "# a comment\n\n" + CLEAN)
    assert _check(committed) == (0, [])


def test_a_difference_is_a_finding_with_a_diff(committed: Path) -> None:
    write(committed, CLEAN.replace(".build()", ".pool(max_instances=5).build()"))
    status, (finding,) = _check(committed)
    assert (status, finding["rule"], finding["path"]) == (1, "SR209", "registrations.json")
    said, *diff = finding["message"].splitlines()
    assert said == "the application registers something else:"
    assert diff[:2] == ["--- registrations.json", "+++ the application"]
    assert [line for line in diff[2:] if line[0] in "+-"] == [
        '-        "max_instances": 1000,',
        '+        "max_instances": 5,',
    ]


def test_the_text_shows_the_diff(committed: Path) -> None:
    write(committed, CLEAN.replace('"chat"', '"talk"'))
    words = ("--manifest", "registrations.json", "--check")
    text = run(committed, "audit", "service:app", *words).stdout
    assert '\n-      "name": "chat",\n+      "name": "talk",\n' in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "the manifest cannot be read (No such file or directory)"),
        (b"{", "the manifest is no JSON"),
        (b'"\xff"', "the manifest is no JSON"),
        (b"[]", "the application registers something else"),
    ],
    ids=["missing", "cut off", "no text", "of another shape"],
)
def test_what_is_no_manifest_is_a_finding(
    committed: Path, content: bytes | None, said: str
) -> None:
    file = committed / "registrations.json"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    status, (finding,) = _check(committed)
    assert (status, finding["rule"]) == (1, "SR209")
    assert finding["message"].startswith(said)


def test_a_manifest_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    write(tmp_path, CLEAN)
    done = run(tmp_path, "audit", "service:app", "--manifest", "absent/registrations.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "absent/registrations.json cannot be written: No such file" in done.stderr


def test_a_check_wants_a_file(tmp_path: Path) -> None:
    done = run(tmp_path, "audit", "service:app", "--check")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--check compares with a manifest: --manifest FILE --check" in done.stderr
