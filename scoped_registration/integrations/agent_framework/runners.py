"""How the framework runs a target: the runner beside each instance, and what it carries."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias, TypeVar

from agent_framework import (
    BaseAgent,
    BaseChatClient,
    CheckpointStorage,
    ContextProvider,
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

from scoped_registration.integrations.agent_framework.upstream import (
    built_in_checkpoints_of,
    drop_undelivered_messages,
    has_undelivered_messages,
    workflow_factory_of,
)
from scoped_registration.runtime.single_flight import manager_of

__all__ = ["Runner", "Target", "runner_for"]

T = TypeVar("T")

Target: TypeAlias = Workflow | AgentFrameworkWorkflow | AgentFrameworkAgent | SupportsAgentRun
"""What an AG-UI endpoint can serve."""

Runner: TypeAlias = AgentFrameworkWorkflow | AgentFrameworkAgent
"""The framework's own protocol runners; one of them stands beside each instance."""

_AT_REST = (WorkflowRunState.IDLE, WorkflowRunState.IDLE_WITH_PENDING_REQUESTS)


def runner_for(
    target: Target, snapshots: AGUIThreadSnapshotStore | None, checkpoints: CheckpointStorage | None
) -> Runner:
    """Return the framework's runner for an instance, which then lives beside it.

    A runner that the caller made is used as it is, or copied where a store has to be set:
    it is never changed.
    """
    if isinstance(target, AgentFrameworkWorkflow):
        if snapshots is None and checkpoints is None:
            return target
        workflow_runner = copy.copy(target)
        workflow_runner.snapshot_store = given(snapshots, target.snapshot_store)
        workflow_runner.checkpoint_storage = given(checkpoints, target.checkpoint_storage)
        return workflow_runner
    if isinstance(target, AgentFrameworkAgent):
        if snapshots is None:
            return target
        agent_runner = copy.copy(target)
        agent_runner.config = copy.copy(target.config)
        agent_runner.config.snapshot_store = snapshots
        return agent_runner
    if isinstance(target, Workflow):
        return AgentFrameworkWorkflow(
            workflow=target, snapshot_store=snapshots, checkpoint_storage=checkpoints
        )
    return AgentFrameworkAgent(agent=target, snapshot_store=snapshots)


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
        return target.workflow or target
    return target


def stores_of(target: object) -> dict[str, object]:
    """Return the stores that a runner carries already, by the option that would set them."""
    stores: dict[str, object] = {"snapshots": None, "checkpoints": None}
    if isinstance(target, AgentFrameworkWorkflow):
        stores["checkpoints"] = target.checkpoint_storage
    if isinstance(target, AgentFrameworkWorkflow | AgentFrameworkAgent):
        stores["snapshots"] = target.snapshot_store
    return stores


def checkpoints_of(target: object) -> object:
    """Return the checkpoint storage that runs of a target write to already, if any."""
    inner = served(target)
    built_in = built_in_checkpoints_of(inner) if isinstance(inner, Workflow) else None
    return given(stores_of(target)["checkpoints"], built_in)


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


def overrides_run(runner: AgentFrameworkWorkflow) -> bool:
    return type(runner).run is not AgentFrameworkWorkflow.run
