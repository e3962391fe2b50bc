"""The framework's own endpoints: each is recognised, and judged by what it runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from types import FunctionType
from typing import Annotated, Any

import pytest

pytest.importorskip("agent_framework_ag_ui")

import agent_framework_ag_ui
from ag_ui.core import BaseEvent
from agent_framework import Agent, AgentExecutor, Workflow, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import APIRouter, FastAPI, Header
from typing_extensions import override

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    Risk,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.audit import endpoints
from scoped_registration.audit.loading import CannotAuditError
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from tests.audit.audit_support import audited, rules_of
from tests.integrations.agent_framework.kit import RecordingModel
from tests.integrations.agent_framework.samples import functional_agent

# Any: what the framework takes for a runner has no common type.

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


def user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def _agent(**options: Any) -> Agent[Any]:
    return Agent(client=RecordingModel(), **options)


def _workflow() -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(_agent())).build()


def _never(key: object) -> Workflow:
    raise AssertionError("an audit builds nothing")


class _OwnRun(AgentFrameworkWorkflow):
    @override
    def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        raise AssertionError("an audit runs nothing")


def _add(app: FastAPI | APIRouter, target: Any, path: str = "/raw", **options: Any) -> None:
    chosen: dict[str, Any] = options or {"authorization_scope_resolver": user}
    add: Any = add_agent_framework_fastapi_endpoint  # it works on a router too
    add(app, target, path, **chosen)


_STATEFUL: dict[str, tuple[Callable[[], Any], str]] = {
    "workflow": (_workflow, "one workflow"),
    "runner": (lambda: AgentFrameworkWorkflow(workflow=_workflow()), "one workflow"),
    "as agent": (lambda: _workflow().as_agent(), "an agent that runs one workflow"),
    "as agent in a runner": (
        lambda: AgentFrameworkAgent(_workflow().as_agent()),
        "an agent that runs one workflow",
    ),
    "functional": (lambda: functional_agent(RecordingModel()), "an agent that runs one workflow"),
    "own run": (_OwnRun, "one runner with a run of its own"),
    "session by thread": (
        lambda: AgentFrameworkAgent(_agent(), service_session_id_from_thread_id=True),
        "an agent whose session depends on the thread id alone",
    ),
    "one conversation": (
        lambda: _agent(default_options={"conversation_id": "one"}),
        "an agent whose session depends on the thread id alone",
    ),
}
_HARMLESS: dict[str, Callable[[], Any]] = {
    "agent": _agent,
    "agent in a runner": lambda: AgentFrameworkAgent(_agent()),
    "factory": lambda: AgentFrameworkWorkflow(workflow_factory=_never),
}


@pytest.mark.parametrize("resolver", ["authorization_scope_resolver", "snapshot_scope_resolver"])
@pytest.mark.parametrize(("make", "what"), _STATEFUL.values(), ids=_STATEFUL)
def test_an_endpoint_that_tells_principals_apart_and_shares_its_state(
    make: Callable[[], Any], what: str, resolver: str
) -> None:
    app = FastAPI()
    chosen: dict[str, Any] = {resolver: user}
    _add(app, make(), **chosen)
    (finding,) = audited(app)
    assert finding.rule == "SR201"
    assert finding.message.startswith(f"POST /raw serves {what} to every principal")


@pytest.mark.parametrize("make", _HARMLESS.values(), ids=_HARMLESS)
def test_an_endpoint_of_what_keeps_no_state_or_makes_it_anew(make: Callable[[], Any]) -> None:
    app = FastAPI()
    _add(app, make())
    assert len(list(endpoints.raw_endpoints(app))) == 1  # it is seen
    assert audited(app) == []


@pytest.mark.parametrize("make", [make for make, _ in _STATEFUL.values()], ids=_STATEFUL)
def test_an_endpoint_of_one_declared_principal(make: Callable[[], Any]) -> None:
    app = FastAPI()
    _add(app, make(), single_user=True)
    assert len(list(endpoints.raw_endpoints(app))) == 1
    assert audited(app) == []


def _shared(target: Any) -> Any:
    given = Acknowledgement(reason="a room", owner="team", risks=set(Risk))
    return PersistentShared(target, acknowledgement=given)


_OURS: dict[str, Callable[[], Any]] = {
    "ScopedFactory": lambda: ScopedFactory(_never, scope=user),
    "per_run": lambda: per_run(_agent(), scope=user),
    "SingleUser": lambda: SingleUser(_workflow()),
    "SingleUser of a runner": lambda: SingleUser(AgentFrameworkWorkflow(workflow_factory=_never)),
    "PersistentShared": lambda: _shared(_workflow()),
}


@pytest.mark.parametrize("mode", _OURS.values(), ids=_OURS)
def test_the_endpoints_of_the_builder_are_recognised(mode: Callable[[], Any]) -> None:
    app = FastAPI()
    builder: Any = AGUIEndpointBuilder("ours", "/ours")
    builder.isolation(mode()).mount(app)
    assert list(endpoints.raw_endpoints(app)) == []
    assert audited(app) == []


_TWICE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "workflow": lambda: (it := _workflow(), it),
    "in two runners": lambda: (it := _workflow(), AgentFrameworkWorkflow(workflow=it)),
    "as agent": lambda: ((it := _workflow()).as_agent(), it),
    "runner of a factory": lambda: (it := AgentFrameworkWorkflow(workflow_factory=_never), it),
    "runner of an agent": lambda: (it := AgentFrameworkAgent(_agent()), it),
    "functional": lambda: (it := functional_agent(RecordingModel()), it),
}


@pytest.mark.parametrize("make", _TWICE.values(), ids=_TWICE)
def test_two_endpoints_that_run_one_object(make: Callable[[], tuple[Any, Any]]) -> None:
    app = FastAPI()
    for path, target in zip(("/one", "/two"), make(), strict=True):
        _add(app, target, path, single_user=True)
    (finding,) = audited(app)
    assert finding.rule == "SR202"
    assert finding.message.startswith("POST /two runs the ")
    assert " that POST /one runs too" in finding.message


def test_two_endpoints_may_serve_one_plain_agent_or_two_workflows() -> None:
    app, agent = FastAPI(), _agent()
    for path, target in {"/a": agent, "/b": agent}.items():
        _add(app, target, path)
    for path in ("/c", "/d"):
        _add(app, _workflow(), path, single_user=True)
    assert audited(app) == []


@pytest.mark.parametrize("mode", [SingleUser, _shared], ids=["SingleUser", "PersistentShared"])
def test_an_endpoint_that_runs_what_a_registration_serves(mode: Callable[[Any], Any]) -> None:
    app, shared = FastAPI(), _workflow()
    builder: Any = AGUIEndpointBuilder("ours", "/ours")
    builder.isolation(mode(shared)).mount(app)
    _add(app, shared, single_user=True)
    (finding,) = audited(app)
    assert finding.rule == "SR202"
    assert finding.message.startswith(
        "POST /raw runs the Workflow that registration 'ours' runs too"
    )


def test_routers_and_mounted_applications_are_looked_into() -> None:
    app, inner, router = FastAPI(), FastAPI(), APIRouter()
    _add(inner, _workflow(), "/inner")
    app.mount("/mounted", inner)
    _add(router, _workflow(), "/routed")
    app.include_router(router, prefix="/v1")
    app.include_router(router, prefix="/v2")  # one endpoint at two paths
    found = audited(app)
    assert rules_of(found) == ["SR201", "SR201"]
    assert {one.message.split(" serves")[0] for one in found} == {
        "POST /inner",
        "POST /v1/routed",
    }


def test_the_private_names_of_the_framework_are_there() -> None:
    endpoints.check_upstream()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("protocol_runner", "other_runner"), "its endpoint keeps no protocol_runner"),
        (
            ("snapshot_scope_resolver", "other_resolver"),
            "its endpoint keeps no snapshot_scope_resolver",
        ),
        (("agent_endpoint", "other_endpoint"), "it makes no agent_endpoint"),
    ],
    ids=["runner", "resolver", "function"],
)
def test_a_name_that_has_gone_is_said_and_never_taken_for_clean(
    monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], said: str
) -> None:
    app = FastAPI()
    _add(app, _workflow())
    maker: FunctionType = vars(agent_framework_ag_ui)["add_agent_framework_fastapi_endpoint"]
    monkeypatch.setattr(endpoints, "add_agent_framework_fastapi_endpoint", _renamed(maker, *change))
    with pytest.raises(CannotAuditError) as caught:
        audited(app)
    assert said in str(caught.value)


def _renamed(function: FunctionType, before: str, after: str) -> FunctionType:
    """Return the framework's function as it would be with one name changed."""

    def renamed(code: Any) -> Any:
        return code.replace(
            co_name=after if code.co_name == before else code.co_name,
            co_freevars=tuple(after if one == before else one for one in code.co_freevars),
            co_consts=tuple(renamed(it) if hasattr(it, "co_code") else it for it in code.co_consts),
        )

    return FunctionType(renamed(function.__code__), function.__globals__)
