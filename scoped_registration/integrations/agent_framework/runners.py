"""How the framework runs a target: the runner beside each instance, and what it carries."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias, TypeVar, cast

import attrs
from agent_framework import (
    BaseAgent,
    BaseChatClient,
    CheckpointStorage,
    ContextProvider,
    FunctionalWorkflow,
    FunctionalWorkflowDefinition,
    FunctionTool,
    RawAgent,
    SupportsAgentRun,
    Workflow,
    WorkflowAgent,
    WorkflowRunState,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    AGUIThreadSnapshotStore,
)

from scoped_registration.errors import ReasonCode, RegistrationError, describe_type
from scoped_registration.integrations.agent_framework.checkpoints import OwnCheckpoints
from scoped_registration.integrations.agent_framework.contract import overrides_run
from scoped_registration.integrations.agent_framework.options import AgentOptions
from scoped_registration.integrations.agent_framework.upstream import (
    built_in_checkpoints_of,
    drop_undelivered_messages,
    has_undelivered_messages,
    workflow_factory_of,
)
from scoped_registration.runtime.single_flight import manager_of

__all__ = ["Fittings", "Runner", "Target", "runner_for"]

T = TypeVar("T")

Target: TypeAlias = (
    Workflow
    | AgentFrameworkWorkflow
    | AgentFrameworkAgent
    | SupportsAgentRun
    | FunctionalWorkflow
    | FunctionalWorkflowDefinition
)
"""What an AG-UI endpoint can serve."""

Runner: TypeAlias = AgentFrameworkWorkflow | AgentFrameworkAgent
"""The framework's own protocol runners; one of them stands beside each instance."""

_AT_REST = (WorkflowRunState.IDLE, WorkflowRunState.IDLE_WITH_PENDING_REQUESTS)


@attrs.frozen(kw_only=True)
class Fittings:
    """What an endpoint's declaration adds to the runner of each instance."""

    registration: str
    snapshots: AGUIThreadSnapshotStore | None = None
    checkpoints: CheckpointStorage | None = None
    agent: AgentOptions = attrs.field(factory=AgentOptions)


def runner_for(target: Target, fittings: Fittings) -> Runner:
    """Return the framework's runner for an instance, which then lives beside it.

    A runner that the caller made is used as it is, or copied where a store has to be set:
    it is never changed.
    """
    if isinstance(target, AgentFrameworkAgent):
        return _fitted_agent(target, fittings)
    if isinstance(target, FunctionalWorkflowDefinition):
        target = target.build()
    if isinstance(target, FunctionalWorkflow):
        # The agent's `run` is overloaded in another way than the protocol's.
        return _runner_of_agent(cast("SupportsAgentRun", target.as_agent()), fittings)
    if isinstance(target, Workflow):
        target = AgentFrameworkWorkflow(workflow=target)
    if isinstance(target, AgentFrameworkWorkflow):
        return _fitted_workflow(target, fittings)
    return _runner_of_agent(target, fittings)


def _runner_of_agent(agent: SupportsAgentRun, fittings: Fittings) -> AgentFrameworkAgent:
    options = fittings.agent
    return AgentFrameworkAgent(
        agent=agent,
        snapshot_store=fittings.snapshots,
        state_schema=options.state_schema,
        predict_state_config=options.predict_state_config,
        a2ui_config=options.a2ui,
    )


def _fitted_workflow(runner: AgentFrameworkWorkflow, fittings: Fittings) -> AgentFrameworkWorkflow:
    # What keeps state on itself is copied for a declared store alone.
    carried = None if overrides_run(runner) else checkpoints_of(runner)
    checkpoints = given(fittings.checkpoints, carried)
    if fittings.snapshots is None and checkpoints is None:
        return runner
    fitted = copy.copy(runner)
    fitted.snapshot_store = given(fittings.snapshots, runner.snapshot_store)
    if checkpoints is not None:
        fitted.checkpoint_storage = OwnCheckpoints(checkpoints, fittings.registration)
    return fitted


def _fitted_agent(runner: AgentFrameworkAgent, fittings: Fittings) -> AgentFrameworkAgent:
    if fittings.snapshots is None:
        return runner
    fitted = copy.copy(runner)
    fitted.config = copy.copy(runner.config)
    fitted.config.snapshot_store = fittings.snapshots
    return fitted


def threaded_factory_of(target: object) -> Callable[[str], Workflow] | None:
    """Return the per-thread factory inside a runner that the framework would cache."""
    if isinstance(target, AgentFrameworkWorkflow) and not overrides_run(target):
        return workflow_factory_of(target)
    return None


def served(target: object) -> object:
    """Return what a target keeps its state in, without the wrappers around it."""
    if isinstance(target, AgentFrameworkAgent):
        target = target.agent
    if isinstance(target, AgentFrameworkWorkflow | WorkflowAgent):
        # A subclass with a run of its own need not have called its base.
        return getattr(target, "workflow", None) or target
    return target


def core_of(product: object) -> object:
    """Return what only one key may have of a product: the workflow inside, not an agent."""
    inner = served(product)
    return inner if isinstance(inner, Workflow) else product


def stores_of(target: object) -> dict[str, object]:
    """Return the stores that a runner carries already, by the option that would set them."""
    stores: dict[str, object] = {"snapshots": None, "checkpoints": None}
    if isinstance(target, AgentFrameworkWorkflow):
        stores["checkpoints"] = target.checkpoint_storage
    if isinstance(target, AgentFrameworkWorkflow | AgentFrameworkAgent):
        stores["snapshots"] = target.snapshot_store
    return stores


def check_store(option: str, store: object, target: object) -> None:
    """Refuse what is no store of the framework, or a second one.

    Raises:
        RegistrationError: ``option_invalid``, ``store_already_configured``.
    """
    # CheckpointStorage cannot be asked with isinstance.
    load = "get" if option == "snapshots" else "load"
    if isinstance(store, type) or not all(
        callable(getattr(store, method, None)) for method in ("save", load, "delete")
    ):
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            f".{option}() takes a store of the framework, and was given {describe_type(store)}",
        )
    carried = stores_of(target)[option]
    if carried is not None and carried is not store:
        raise RegistrationError(
            ReasonCode.STORE_ALREADY_CONFIGURED,
            f"the runner carries other {option} already",
            instead="give the store in one place",
        )


def checkpoints_of(target: object) -> CheckpointStorage | None:
    """Return the checkpoint storage that runs of a target write to already, if any."""
    inner = served(target)
    built_in = built_in_checkpoints_of(inner) if isinstance(inner, Workflow) else None
    carried = target.checkpoint_storage if isinstance(target, AgentFrameworkWorkflow) else None
    return given(carried, built_in)


async def is_spent(runner: Runner) -> bool:
    """Tell whether the framework refuses for ever to run a workflow again.

    A run that failed, or whose client has left, may end before its workflow is at rest. A
    `WorkflowAgent` starts from rest alone; a workflow, unless messages were left undelivered.
    """
    workflow = served(runner)
    if not isinstance(workflow, Workflow) or workflow.status in _AT_REST:
        return False
    return isinstance(runner, AgentFrameworkAgent) or await has_undelivered_messages(workflow)


async def bring_to_rest(runner: Runner) -> None:
    """Let a workflow be run again, if it can be, without what the last run had under way."""
    workflow = served(runner)
    if isinstance(workflow, Workflow):
        await drop_undelivered_messages(workflow)


def manager_of_product(product: object) -> AbstractAsyncContextManager[object] | None:
    """Return what to enter of a product: never an agent, which would open its client.

    The client may be shared by agents of several keys, and leaving one agent would close
    it for all. An agent's own `close` closes what that agent has opened.
    """
    return None if isinstance(product, BaseAgent) else manager_of(product)


def is_shareable(cls: type) -> bool:
    """Tell whether the framework makes instances of a class to be shared.

    Agents, clients, tools and context providers keep what they learn in a session. The agent
    that a workflow makes keeps the workflow.
    """
    kinds = (RawAgent, BaseChatClient, FunctionTool, ContextProvider)
    return issubclass(cls, kinds) and not issubclass(cls, WorkflowAgent)


def is_agent(target: object) -> bool:
    """Tell whether a target runs on the framework's agent path, which has no checkpoints."""
    return not isinstance(target, Workflow | AgentFrameworkWorkflow)


def given(store: T | None, otherwise: T | None) -> T | None:
    """Return the first that is there: a store that is empty may be falsy."""
    return otherwise if store is None else store
