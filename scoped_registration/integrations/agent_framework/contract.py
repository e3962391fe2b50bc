"""The contract: which kind of target each mode serves, as data.

The checks look a target up here, and the table of the documentation is written from it. A
cell is None where the target is accepted, and the code of the refusal otherwise.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import attrs
from agent_framework import (
    FunctionalWorkflow,
    FunctionalWorkflowAgent,
    FunctionalWorkflowDefinition,
    RawAgent,
    SupportsAgentRun,
    Workflow,
    WorkflowAgent,
)
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow

from scoped_registration.errors import ReasonCode
from scoped_registration.integrations.agent_framework.upstream import workflow_factory_of

# Any: the options of an agent's chat client, which make no difference here.

__all__ = ["CONTRACT", "PERSISTABLE", "Kind", "Row", "kind_of", "overrides_run"]


class Kind(Enum):
    """What a target is, as far as isolation is concerned."""

    WORKFLOW = "`Workflow`"
    WORKFLOW_RUNNER = "`AgentFrameworkWorkflow(workflow=...)`"
    FACTORY_RUNNER = "`AgentFrameworkWorkflow(workflow_factory=...)`"
    OPAQUE_RUNNER = "subclass of `AgentFrameworkWorkflow` with a `run` of its own"
    EMPTY_RUNNER = "`AgentFrameworkWorkflow()`"
    FUNCTIONAL_WORKFLOW = "`FunctionalWorkflow`"
    FUNCTIONAL_DEFINITION = "`FunctionalWorkflowDefinition`"
    WORKFLOW_AGENT = "`WorkflowAgent`, `FunctionalWorkflowAgent`, or a runner around one"
    AGENT = "`Agent`, `RawAgent`"
    CONTINUING_AGENT = "one with a `conversation_id` in its default options"
    AGENT_RUNNER = "`AgentFrameworkAgent(agent)`"
    SESSION_BY_THREAD = "`AgentFrameworkAgent` with a session id made of the thread id"
    OTHER_AGENT = "any other `SupportsAgentRun`, and a subclass with a `run` of its own"
    BUILDER = "`WorkflowBuilder`, orchestration builder"
    UNSUPPORTED = "anything else"


@attrs.frozen(kw_only=True)
class Row:
    """What each mode says to one kind of target: None accepts it.

    Args:
        single_user: `SingleUser(target)`.
        given: `ScopedFactory(target, ...)` and `SingleUser.per_thread(target)`: a target
            where a factory is wanted, which the modes themselves refuse.
        per_thread: What the factory of `SingleUser.per_thread` returned.
        scoped: What the factory of `ScopedFactory` returned.
        per_run: `per_run(target, ...)`.
        shared: `PersistentShared(target, ...)`.
    """

    single_user: ReasonCode | None = None
    given: ReasonCode | None = ReasonCode.INSTANCE_IS_NOT_A_FACTORY
    per_thread: ReasonCode | None = None
    scoped: ReasonCode | None = None
    per_run: ReasonCode | None
    shared: ReasonCode | None = None


def _unservable(code: ReasonCode, *, per_run: ReasonCode) -> Row:
    return Row(
        single_user=code,
        given=ReasonCode.INSTANCE_IS_NOT_A_FACTORY,
        per_thread=ReasonCode.FACTORY_RETURNED,
        scoped=ReasonCode.FACTORY_RETURNED,
        per_run=per_run,
        shared=code,
    )


_R = ReasonCode

CONTRACT: Final[dict[Kind, Row]] = {
    Kind.WORKFLOW: Row(per_run=_R.STATEFUL_TARGET),
    Kind.WORKFLOW_RUNNER: Row(per_run=_R.STATEFUL_TARGET),
    Kind.FACTORY_RUNNER: Row(per_run=_R.STATEFUL_TARGET, shared=_R.FACTORY_WITH_SHARED_MODE),
    Kind.OPAQUE_RUNNER: Row(per_run=_R.OPAQUE_RUNNER),
    Kind.EMPTY_RUNNER: _unservable(_R.TARGET_UNSUPPORTED, per_run=_R.STATEFUL_TARGET),
    Kind.FUNCTIONAL_WORKFLOW: Row(per_run=_R.AGENT_WRAPS_STATEFUL_WORKFLOW),
    Kind.FUNCTIONAL_DEFINITION: Row(
        given=_R.BUILDER_IS_NOT_A_FACTORY, per_run=_R.BUILDER_IS_NOT_A_FACTORY
    ),
    Kind.WORKFLOW_AGENT: Row(per_run=_R.AGENT_WRAPS_STATEFUL_WORKFLOW),
    Kind.AGENT: Row(per_run=None, shared=_R.SHARED_MODE_NEEDS_A_STATEFUL_TARGET),
    Kind.CONTINUING_AGENT: Row(per_run=_R.SESSION_KEY_IGNORES_SCOPE),
    Kind.AGENT_RUNNER: Row(
        per_run=_R.UNKNOWN_AGENT_TYPE, shared=_R.SHARED_MODE_NEEDS_A_STATEFUL_TARGET
    ),
    Kind.SESSION_BY_THREAD: Row(
        scoped=_R.SESSION_KEY_IGNORES_SCOPE, per_run=_R.SESSION_KEY_IGNORES_SCOPE
    ),
    Kind.OTHER_AGENT: Row(per_run=_R.UNKNOWN_AGENT_TYPE),
    Kind.BUILDER: attrs.evolve(
        _unservable(_R.BUILDER_IS_NOT_A_FACTORY, per_run=_R.BUILDER_IS_NOT_A_FACTORY),
        given=_R.BUILDER_IS_NOT_A_FACTORY,
    ),
    Kind.UNSUPPORTED: _unservable(_R.TARGET_UNSUPPORTED, per_run=_R.UNKNOWN_AGENT_TYPE),
}

PERSISTABLE: Final = frozenset(
    {
        Kind.WORKFLOW,
        Kind.WORKFLOW_RUNNER,
        Kind.AGENT,
        Kind.CONTINUING_AGENT,
        Kind.AGENT_RUNNER,
    }
)
"""Whose whole state of a thread a document can hold: others keep what they like."""


def kind_of(target: object) -> Kind:
    """Tell which row of the contract a target belongs to."""
    if isinstance(target, AgentFrameworkWorkflow):
        kind = _kind_of_workflow_runner(target)
    elif isinstance(target, AgentFrameworkAgent):
        kind = _kind_of_agent_runner(target)
    elif isinstance(target, RawAgent):
        kind = _kind_of_agent(target)  # pyright: ignore[reportUnknownArgumentType]  # of any options
    elif isinstance(target, type):
        kind = Kind.UNSUPPORTED
    else:
        built = callable(getattr(type(target), "build", None))
        otherwise = Kind.BUILDER if built else Kind.UNSUPPORTED
        kind = next((kind for cls, kind in _CLASSES if isinstance(target, cls)), otherwise)
    return kind


# In this order: the first that fits is the kind.
_CLASSES: list[tuple[type, Kind]] = [
    (Workflow, Kind.WORKFLOW),
    (FunctionalWorkflow, Kind.FUNCTIONAL_WORKFLOW),
    (FunctionalWorkflowDefinition, Kind.FUNCTIONAL_DEFINITION),
    (WorkflowAgent, Kind.WORKFLOW_AGENT),
    (FunctionalWorkflowAgent, Kind.WORKFLOW_AGENT),
    (SupportsAgentRun, Kind.OTHER_AGENT),
]


def overrides_run(runner: AgentFrameworkWorkflow) -> bool:
    """Tell whether a subclass replaces the framework's `run`."""
    return type(runner).run is not AgentFrameworkWorkflow.run


def _kind_of_workflow_runner(runner: AgentFrameworkWorkflow) -> Kind:
    if overrides_run(runner):
        return Kind.OPAQUE_RUNNER
    if workflow_factory_of(runner) is not None:
        return Kind.FACTORY_RUNNER
    return Kind.EMPTY_RUNNER if runner.workflow is None else Kind.WORKFLOW_RUNNER


def _kind_of_agent_runner(runner: AgentFrameworkAgent) -> Kind:
    config = runner.config
    if config.legacy_session_id_from_thread_id or config.service_session_id_from_thread_id:
        return Kind.SESSION_BY_THREAD
    inner = kind_of(runner.agent)
    # The framework's wrapper for generated surfaces runs an agent, and lacks its other methods.
    if inner is Kind.UNSUPPORTED and callable(getattr(runner.agent, "run", None)):
        return Kind.OTHER_AGENT
    return Kind.AGENT_RUNNER if inner is Kind.AGENT else inner


def _kind_of_agent(agent: RawAgent[Any]) -> Kind:
    if not type(agent).run.__module__.startswith("agent_framework."):
        return Kind.OTHER_AGENT
    if agent.default_options.get("conversation_id") is not None:
        return Kind.CONTINUING_AGENT
    return Kind.AGENT
