"""Applications that are audited, in a process of their own or in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import ModuleType

from fastapi import FastAPI

from scoped_registration.audit.application import Audit
from scoped_registration.audit.loading import Loaded, load
from scoped_registration.audit.rules import Finding
from scoped_registration.registration import Registration

TODAY = date(2030, 1, 31)
BUILT = "built"
"""The file that every factory of the prelude writes: an audit must leave none behind."""

PRELUDE = f"""from datetime import date
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from fastapi.security import OAuth2PasswordBearer
from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    RegistrationBuilder,
    Risk,
    ScopeContext,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.fastapi import attach, leased

bearer = OAuth2PasswordBearer("token")


def user(token: Annotated[str, Depends(bearer)]) -> str:
    return token


class Chat: ...


def build(context: ScopeContext[str]) -> Chat:
    Path({BUILT!r}).touch()
    return Chat()


"""
CLEAN = """app = FastAPI()
chat = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=user)).build()
attach(app, chat)


@app.get("/chat/{thread_id}")
def read(it: Annotated[Chat, Depends(leased(chat))]) -> None: ...
"""
UPSTREAM = """from agent_framework import (
    Agent,
    AgentExecutor,
    BaseChatClient,
    FunctionInvocationLayer,
    Workflow,
    WorkflowBuilder,
)
from agent_framework_ag_ui import AgentFrameworkWorkflow, add_agent_framework_fastapi_endpoint
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run


class Client(FunctionInvocationLayer, BaseChatClient):
    def _inner_get_response(self, **given: Any) -> Any: ...


agent = Agent(client=Client())


def build_workflow(context: object) -> Workflow:
    Path("built").touch()
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


def new_workflow() -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


"""


def run(place: Path, *words: str, workers: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a directory, and see that it has built nothing there."""
    environment = {**os.environ, "COLUMNS": "200"}
    environment.pop("WEB_CONCURRENCY", None)
    if workers is not None:
        environment["WEB_CONCURRENCY"] = workers
    done = subprocess.run(
        [sys.executable, "-m", "scoped_registration", *words],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert not (place / BUILT).exists()
    return done


def write(place: Path, program: str, name: str = "service") -> None:
    """Write a module behind the prelude."""
    (place / f"{name}.py").write_text(PRELUDE + program, encoding="utf-8")


def audited(
    app: FastAPI, *registrations: Registration[object], workers: int = 1, today: date = TODAY
) -> list[Finding]:
    """Audit an application of this process, whose module holds some registrations."""
    module = ModuleType("service")
    vars(module).update({f"name_{number}": one for number, one in enumerate(registrations)})
    loaded = Loaded(app=app, module=module, declared_at="service.py:1")
    return Audit(loaded=loaded, root=Path.cwd(), today=today, workers=workers).findings()


def audited_file(place: Path, name: str, app: str = "app") -> list[Finding]:
    """Audit an application of a module that stands in a directory."""
    try:
        loaded = load(f"{name}:{app}", is_factory=False, root=place)
        return Audit(loaded=loaded, root=place, today=TODAY, workers=1).findings()
    finally:
        sys.modules.pop(name, None)
        sys.path.remove(str(place))


def rules_of(findings: list[Finding]) -> list[str]:
    return [finding.rule for finding in findings]
