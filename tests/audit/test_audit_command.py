"""`scoped-registration audit`, in a process of its own: one application for each finding."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scoped_registration.audit.application import NOTHING
from tests.audit.audit_support import BUILT, CLEAN, PRELUDE, UPSTREAM, run, write

_PROGRAMS: dict[str, tuple[str, str]] = {
    "SR201": (
        UPSTREAM
        + """app = FastAPI()
add_agent_framework_fastapi_endpoint(
    app, new_workflow(), "/raw", authorization_scope_resolver=user
)
""",
        "POST /raw serves one workflow to every principal",
    ),
    "SR202": (
        UPSTREAM
        + """app = FastAPI()
runner = AgentFrameworkWorkflow(workflow_factory=build_workflow)
add_agent_framework_fastapi_endpoint(app, runner, "/one", authorization_scope_resolver=user)
add_agent_framework_fastapi_endpoint(app, runner, "/two", authorization_scope_resolver=user)
""",
        "POST /two runs the AgentFrameworkWorkflow that POST /one runs too",
    ),
    "SR203": (
        """app = FastAPI()
given = Acknowledgement(
    reason="one room",
    owner="team-sre",
    risks={Risk.OBJECT_STATE},
    review_by=date(2020, 1, 31),
)
attach(
    app,
    RegistrationBuilder("room").isolation(PersistentShared(Chat(), acknowledgement=given)).build(),
)
""",
        "registration 'room': team-sre was to review what it shares by 2020-01-31",
    ),
    "SR204": (
        """app = FastAPI()
attach(app, RegistrationBuilder("desk").isolation(SingleUser(Chat())).build())


@app.get("/private")
def private(who: Annotated[str, Depends(user)]) -> None: ...
""",
        "registration 'desk': it has no owner, and /private of the application authenticates",
    ),
    "SR205": (
        CLEAN
        + """lost = RegistrationBuilder("lost").isolation(ScopedFactory(build, scope=user)).build()
""",
        "registration 'lost': it is attached nowhere",
    ),
    "SR206": (
        """app = FastAPI()
chat = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=user))
attach(app, chat.pool(max_instances=None, max_per_scope=None, idle_ttl=None).build())
""",
        "registration 'chat': no bound: max_instances=None, max_per_scope=None, idle_ttl=None",
    ),
    "SR208": (
        """app = FastAPI()
desk = RegistrationBuilder("desk").isolation(SingleUser.per_thread(build)).build()
attach(app, desk)


@app.get("/{thread_id}", dependencies=[Depends(bearer)])
def read(it: Annotated[Chat, Depends(leased(desk))]) -> None: ...
""",
        "registration 'desk': [single_user_behind_authentication] /{thread_id} authenticates",
    ),
}


@pytest.mark.parametrize("format", ["text", "json", "sarif"])
def test_a_clean_application(tmp_path: Path, format: str) -> None:
    write(tmp_path, CLEAN)
    done = run(tmp_path, "audit", "service:app", "--format", format)
    assert (done.returncode, done.stderr) == (0, "")
    if format == "text":
        assert done.stdout.endswith("\n\n0 findings, 1 registration read\n")
    else:
        assert json.loads(done.stdout)["version"] in (1, "2.1.0")


@pytest.mark.parametrize(("rule", "program", "said"), [(r, *it) for r, it in _PROGRAMS.items()])
def test_an_application_with_one_finding(
    tmp_path: Path, rule: str, program: str, said: str
) -> None:
    if program.startswith(UPSTREAM):
        pytest.importorskip("agent_framework_ag_ui")
    write(tmp_path, program)
    done = run(tmp_path, "audit", "service:app", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["path"]) == (rule, "service.py")
    assert finding["message"].startswith(said)
    assert finding["line"] > PRELUDE.count("\n")


def test_a_finding_about_an_endpoint_stands_where_it_is_added(tmp_path: Path) -> None:
    pytest.importorskip("agent_framework_ag_ui")
    routes = """from service_parts import new_workflow, user
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint as add


def add_routes(app):
    add(
        app, new_workflow(), "/raw", authorization_scope_resolver=user
    )
"""
    write(tmp_path, UPSTREAM, "service_parts")
    (tmp_path / "routes.py").write_text(routes)
    write(tmp_path, "from routes import add_routes\napp = FastAPI()\nadd_routes(app)\n")
    done = run(tmp_path, "audit", "service:app", "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["path"], finding["line"]) == ("routes.py", 6)
    assert "not known" not in finding["message"]


def test_nothing_is_built_where_a_lease_would_build(tmp_path: Path) -> None:
    """The positive control of what `run` asserts each time."""
    write(tmp_path, CLEAN)
    program = (
        "import asyncio, service\n"
        "async def use():\n"
        "    async with service.chat.lease('alice', 'one'): pass\n"
        "    await service.chat.shutdown()\n"
        "asyncio.run(use())\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert (tmp_path / BUILT).exists()


@pytest.mark.parametrize(
    ("words", "environment", "rules"),
    [
        (("--workers", "2"), None, ["SR207"]),
        ((), "3", ["SR207"]),
        ((), None, []),
        ((), "1", []),
        ((), "", []),
        (("--workers", "1"), "3", []),
    ],
    ids=str,
)
def test_workers_are_declared_by_an_option_or_by_the_environment(
    tmp_path: Path, words: tuple[str, ...], environment: str | None, rules: list[str]
) -> None:
    write(tmp_path, CLEAN)
    done = run(tmp_path, "audit", "service:app", "--format=json", *words, workers=environment)
    assert done.returncode == (1 if rules else 0)
    assert [one["rule"] for one in json.loads(done.stdout)["findings"]] == rules


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5"])
@pytest.mark.parametrize("by_option", [True, False], ids=["option", "environment"])
def test_what_is_no_number_of_workers_is_answered_with_usage(
    tmp_path: Path, number: str, by_option: bool
) -> None:
    words = [f"--workers={number}"] if by_option else []
    environment = None if by_option else number
    done = run(tmp_path, "audit", "service:app", *words, workers=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"argument --workers: {number!r} is no number of workers" in done.stderr


def test_an_application_factory(tmp_path: Path) -> None:
    write(tmp_path, "def create() -> FastAPI:\n    return FastAPI()\n")
    done = run(tmp_path, "audit", "--factory", "service:create")
    assert (done.returncode, done.stdout) == (0, f"0 findings, 0 registrations read\n{NOTHING}\n")
    called = run(tmp_path, "audit", "service:create()")
    assert (called.returncode, called.stdout) == (0, done.stdout)


@pytest.mark.parametrize("format", ["text", "json", "sarif"])
def test_that_there_is_nothing_to_audit_is_said(tmp_path: Path, format: str) -> None:
    write(tmp_path, "app = FastAPI()\n")
    done = run(tmp_path, "audit", "service:app", "--format", format)
    assert (done.returncode, done.stderr) == (0, "")
    assert NOTHING in done.stdout
    write(tmp_path, CLEAN)
    assert NOTHING not in run(tmp_path, "audit", "service:app", "--format", format).stdout


def test_an_endpoint_of_the_framework_is_something_to_audit(tmp_path: Path) -> None:
    pytest.importorskip("agent_framework_ag_ui")
    add = "add_agent_framework_fastapi_endpoint(app, agent, authorization_scope_resolver=user)"
    write(tmp_path, f"{UPSTREAM}app = FastAPI()\n{add}\n")
    done = run(tmp_path, "audit", "service:app")
    assert (done.returncode, done.stdout) == (0, "0 findings, 0 registrations read\n")


@pytest.mark.parametrize("command", ["audit", "manifest", "scan"])
def test_a_reader_who_leaves_is_no_error(tmp_path: Path, command: str) -> None:
    names = ", ".join(f'"n{number}"' for number in range(600))  # more than a pipe holds
    program = f"""app = FastAPI()
for name in ({names}):
    mode = ScopedFactory(build, scope=user)
    attach(app, RegistrationBuilder(name).isolation(mode).pool(idle_ttl=None).build())
chat = Chat()
"""
    program += "ScopedFactory(lambda c: chat, scope=user)\n" * 1200
    write(tmp_path, program)
    target = "service.py" if command == "scan" else "service:app"
    words = [sys.executable, "-m", "scoped_registration", command, target]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == ""
        # What was found stays what was found.
        assert process.wait(timeout=60) == (0 if command == "manifest" else 1)


def test_what_the_module_prints_does_not_disturb_the_output(tmp_path: Path) -> None:
    write(tmp_path, "print('starting')\n" + CLEAN)
    done = run(tmp_path, "audit", "service:app", "--format", "json")
    assert json.loads(done.stdout)["findings"] == []
    assert done.stderr == "starting\n"


_UNLOADABLE = {
    "no module": ("", "service:app cannot be loaded: No module named 'elsewhere'"),
    "no name": ("x = 1", "service:app cannot be loaded: module 'service' has no attribute 'app'"),
    "no application": ("app = object()", "service:app is no FastAPI application"),
    "function": (
        "def app(): ...",
        "service:app is no FastAPI application: if it returns one, service:app() or --factory\n",
    ),
    "coroutine": ("async def app(): ...", "service:app is no FastAPI application"),
    "syntax": ("def f(:", "service:app cannot be loaded: invalid syntax (service.py, line "),
    "error": (
        "class Secret(ValueError): ...\nraise Secret('alice')",
        "service:app cannot be loaded: Secret (service.py, line ",
    ),
    "exit": ("raise SystemExit('alice')", "service:app cannot be loaded: SystemExit (service.py"),
    "refused": (
        'app = RegistrationBuilder("chat").build()',
        "service:app cannot be loaded: [mode_required] registration 'chat'",
    ),
}


@pytest.mark.parametrize(("program", "said"), _UNLOADABLE.values(), ids=_UNLOADABLE)
def test_an_application_that_cannot_be_loaded(tmp_path: Path, program: str, said: str) -> None:
    write(tmp_path, program or "import elsewhere\n")
    done = run(tmp_path, "audit", "service:app")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert "alice" not in done.stderr


def test_programs_are_told_too_that_an_application_cannot_be_loaded(tmp_path: Path) -> None:
    write(tmp_path, "app = 1")
    said = "service:app is no FastAPI application"
    done = run(tmp_path, "audit", "service:app", "--format", "json")
    assert (done.returncode, done.stderr) == (2, f"{said}\n")
    assert json.loads(done.stdout) == {
        **{"version": 1, "registrations": 0, "findings": []},
        "unreadable": [{"path": "service.py", "reason": said}],
    }
    done = run(tmp_path, "audit", "service:app", "--format", "sarif")
    (invocation,) = json.loads(done.stdout)["runs"][0]["invocations"]
    assert (done.returncode, invocation["executionSuccessful"]) == (2, False)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("def app():\n    raise KeyError('alice')", "cannot be loaded: KeyError (service.py"),
        ("async def app(): ...", "service:app is no FastAPI application"),
        ("app = 1", "service:app cannot be loaded: it is not callable"),
        ("def app(name): ...", "service:app cannot be loaded: it wants arguments"),
        ("def app(): ...", "service:app is no FastAPI application"),
    ],
)
def test_an_application_factory_that_gives_none(tmp_path: Path, program: str, said: str) -> None:
    write(tmp_path, program)
    done = run(tmp_path, "audit", "--factory", "service:app")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()  # and no warning of a coroutine
    assert said in line
    assert "alice" not in done.stderr
