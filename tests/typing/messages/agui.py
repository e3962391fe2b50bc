"""The same mistakes on an AG-UI endpoint."""

from typing import Any

from agent_framework import Agent, Workflow, WorkflowAgent

from scoped_registration import PersistentShared, ScopeContext, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run


def user() -> str:
    raise NotImplementedError


def maybe_user() -> str | None:
    raise NotImplementedError


def number() -> int:
    raise NotImplementedError


def build(context: ScopeContext[str]) -> Workflow:
    raise NotImplementedError


def no_context() -> Workflow:
    raise NotImplementedError


def mistakes(workflow: Workflow, workflow_agent: WorkflowAgent, agent: Agent[Any]) -> None:
    AGUIEndpointBuilder("R2", path="/support").isolation(  # at agui-R2
        workflow
    )
    AGUIEndpointBuilder("R3", path="/support").isolation(
        ScopedFactory(
            workflow,  # at agui-R3
            scope=user,
        )
    )
    AGUIEndpointBuilder("R4", path="/support").isolation(
        ScopedFactory(  # at agui-R4
            build,
        )
    )
    AGUIEndpointBuilder("R5", path="/support").isolation(
        ScopedFactory(
            build,
            scope=maybe_user,  # at agui-R5
        )
    )
    AGUIEndpointBuilder("R5-lambda", path="/support").isolation(
        ScopedFactory(
            lambda context: build(context),
            scope=maybe_user,  # at agui-R5-lambda
        )
    )
    AGUIEndpointBuilder("R6", path="/support").isolation(
        ScopedFactory(
            build,  # at agui-R6 (mypy)
            scope=number,  # at agui-R6 (pyright)
        )
    )
    AGUIEndpointBuilder("R7", path="/support").isolation(
        ScopedFactory(
            no_context,  # at agui-R7
            scope=user,
        )
    )
    AGUIEndpointBuilder("R8", path="/support").isolation(
        SingleUser(  # at agui-R8 (mypy)
            workflow,
            scope=user,  # at agui-R8 (pyright)
        )
    )
    AGUIEndpointBuilder("R9", path="/support").isolation(
        PersistentShared(
            workflow,
            acknowledgement=True,  # at agui-R9
        )
    )
    AGUIEndpointBuilder("R12", path="/support").isolation(
        per_run(
            workflow_agent,  # at agui-R12
            scope=user,
        )
    )
    AGUIEndpointBuilder("R12-scope", path="/support").isolation(
        per_run(
            agent,
            scope=maybe_user,  # at agui-R12-scope
        )
    )
