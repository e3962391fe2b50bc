"""Which options which endpoints offer: one of each mode and kind of target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import per_run
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    acknowledge,
    current_user,
    factory_of,
    make_agent,
    make_workflow,
)
from tests.integrations.agent_framework.samples import functional_workflow

Make = Callable[[RecordingModel], Any]

WORKFLOWS: dict[str, Make] = {
    "single workflow": lambda model: SingleUser(make_workflow(model)),
    "runner with a factory": lambda model: SingleUser(
        AgentFrameworkWorkflow(workflow_factory=lambda thread_id: make_workflow(model))
    ),
    "workflow per thread": lambda model: SingleUser.per_thread(factory_of(model)),
    "scoped workflow": lambda model: ScopedFactory(factory_of(model), scope=current_user),
    "shared workflow": lambda model: shared(make_workflow(model)),
}
AGENTS: dict[str, Make] = {
    "single agent": lambda model: SingleUser(make_agent(model)),
    "functional workflow": lambda model: SingleUser(functional_workflow(model)),
    "agent per thread": lambda model: SingleUser.per_thread(lambda context: make_agent(model)),
    "scoped agent": lambda model: ScopedFactory(
        lambda context: make_agent(model), scope=current_user
    ),
    "per_run": lambda model: per_run(make_agent(model), scope=current_user),
    "shared workflow agent": lambda model: shared(make_workflow(model).as_agent()),
}
MODES = WORKFLOWS | AGENTS
SCHEMA: dict[str, Any] = {"language": {"type": "string"}}


def shared(target: Any) -> Any:
    return PersistentShared(target, acknowledgement=acknowledge(), access=current_user)


FOR_AGENTS: dict[str, Any] = {
    "state_schema": SCHEMA,
    "predict_state_config": {"language": {"tool": "choose", "tool_argument": "code"}},
    "a2ui": {"inject_a2ui_tool": True},
}
RETURNED: dict[str, Make] = {
    "agent runner": lambda model: AgentFrameworkAgent(make_agent(model)),
    "workflow runner": lambda model: AgentFrameworkWorkflow(workflow=make_workflow(model)),
    "workflow": make_workflow,
}
