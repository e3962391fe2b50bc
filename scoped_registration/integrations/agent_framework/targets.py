"""Which agent-framework object may be served under which mode.

This is the contract table, cell by cell: what a mode refuses, it refuses with the cell's
reason code, before anything is served.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias, TypeVar, cast

from agent_framework import (
    BaseAgent,
    CheckpointStorage,
    FunctionalWorkflow,
    FunctionalWorkflowAgent,
    FunctionalWorkflowDefinition,
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

from scoped_registration.acknowledgement import Risk
from scoped_registration.errors import ReasonCode, RegistrationError, describe_type
from scoped_registration.integrations.agent_framework.upstream import (
    built_in_checkpoints_of,
    workflow_factory_of,
)
from scoped_registration.runtime.single_flight import manager_of

__all__ = ["Runner", "Target"]

T = TypeVar("T")

Target: TypeAlias = Workflow | AgentFrameworkWorkflow | AgentFrameworkAgent | SupportsAgentRun
"""What an AG-UI endpoint can serve."""

Runner: TypeAlias = AgentFrameworkWorkflow | AgentFrameworkAgent
"""The framework's own protocol runners; one of them stands beside each instance."""

SHARED_RISKS = frozenset(Risk) - {Risk.CHECKPOINT_CONTENTS, Risk.OBJECT_STATE}
"""What was shown to cross on a shared workflow, or an agent made of one."""

_AT_REST = (WorkflowRunState.IDLE, WorkflowRunState.IDLE_WITH_PENDING_REQUESTS)
_FACTORY = "def build(context: ScopeContext[...]) -> Workflow: construct everything here"


def check_single_user(target: object) -> None:
    """Refuse what one principal cannot be served with.

    Raises:
        RegistrationError: ``builder_is_not_a_factory``, ``target_unsupported``,
            ``factory_signature``.
    """
    _check_servable(target)


def check_shared(target: object) -> None:
    """Refuse what is not to be shared, or needs not be.

    Raises:
        RegistrationError: ``factory_with_shared_mode``,
            ``shared_mode_needs_a_stateful_target``, ``builder_is_not_a_factory``,
            ``target_unsupported``.
    """
    _check_servable(target)
    if isinstance(target, AgentFrameworkWorkflow) and workflow_factory_of(target) is not None:
        raise _refusal(
            ReasonCode.FACTORY_WITH_SHARED_MODE,
            "a workflow_factory makes an instance per thread, and PersistentShared shares one",
            "ScopedFactory(factory, scope=...), or PersistentShared(workflow, ...)",
        )
    inner = target.agent if isinstance(target, AgentFrameworkAgent) else target
    if isinstance(inner, RawAgent) and not _keys_session_by_thread(target):
        raise _refusal(
            ReasonCode.SHARED_MODE_NEEDS_A_STATEFUL_TARGET,
            "a plain agent keeps nothing between runs: the framework makes a session per run",
            "per_run(agent, scope=...)",
        )


def check_per_run(agent: object) -> None:
    """Refuse what keeps state between runs, or may.

    Raises:
        RegistrationError: ``stateful_target``, ``agent_wraps_stateful_workflow``,
            ``session_key_ignores_scope``, ``builder_is_not_a_factory``,
            ``unknown_agent_type``.
    """
    inner = agent.agent if isinstance(agent, AgentFrameworkAgent) else agent
    if isinstance(inner, WorkflowAgent | FunctionalWorkflowAgent | FunctionalWorkflow):
        raise _refusal(
            ReasonCode.AGENT_WRAPS_STATEFUL_WORKFLOW,
            f"{describe_type(inner)} keeps its workflow's state for every caller",
            "ScopedFactory(lambda context: build_workflow(context).as_agent(), scope=...)",
        )
    if isinstance(agent, Workflow | AgentFrameworkWorkflow):
        raise _refusal(
            ReasonCode.STATEFUL_TARGET,
            f"per_run takes a plain agent, and {describe_type(agent)} keeps state",
            "ScopedFactory(build_workflow, scope=...)",
        )
    if _keys_session_by_thread(agent):
        raise _session_key_ignores_scope()
    if isinstance(agent, RawAgent):
        return
    _refuse_builder(agent)
    raise _refusal(
        ReasonCode.UNKNOWN_AGENT_TYPE,
        f"per_run takes a RawAgent, and was given {describe_type(agent)}",
        "per_run(the_plain_agent, scope=...), or ScopedFactory(build_agent, scope=...)",
    )


def check_product(product: object) -> None:
    """Refuse what a factory returned for a key.

    Raises:
        RegistrationError: ``factory_returned``, ``session_key_ignores_scope``.
    """
    if isinstance(product, AgentFrameworkAgent) and _keys_session_by_thread(product):
        raise _session_key_ignores_scope()
    try:
        _check_servable(product)
    except RegistrationError as error:
        raise _refusal(
            ReasonCode.FACTORY_RETURNED,
            f"the factory returned {describe_type(product)}, which AG-UI cannot serve",
            error.instead or _FACTORY,
        ) from None


def manager_of_product(product: object) -> AbstractAsyncContextManager[object] | None:
    """Return what to enter of a product: never an agent, which would open its client.

    The client may be shared by agents of several keys, and leaving one agent would close
    it for all. An agent's own `close` closes what that agent has opened.
    """
    return None if isinstance(product, BaseAgent) else manager_of(product)


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
    if isinstance(target, AgentFrameworkWorkflow) and not _overrides_run(target):
        return workflow_factory_of(target)
    return None


def served(target: object) -> object:
    """Return what a target keeps its state in, without the wrappers around it."""
    if isinstance(target, AgentFrameworkAgent):
        target = target.agent
    if isinstance(target, AgentFrameworkWorkflow | WorkflowAgent):
        return target.workflow or target
    return target


def is_spent(runner: Runner) -> bool:
    """Tell whether an agent refuses for ever to run its workflow again.

    A `WorkflowAgent` starts its workflow only from rest; a run that failed, or whose client
    has left, does not bring it there.
    """
    agent = runner.agent if isinstance(runner, AgentFrameworkAgent) else None
    return isinstance(agent, WorkflowAgent) and agent.workflow.status not in _AT_REST


def checkpoints_of(target: object) -> object:
    """Return the checkpoint storage that runs of a target write to already, if any."""
    inner = served(target)
    built_in = built_in_checkpoints_of(inner) if isinstance(inner, Workflow) else None
    return given(stores_of(target)["checkpoints"], built_in)


def is_agent(target: object) -> bool:
    """Tell whether a target runs on the framework's agent path, which has no checkpoints."""
    return not isinstance(target, Workflow | AgentFrameworkWorkflow)


def stores_of(target: object) -> dict[str, object]:
    """Return the stores that a runner carries already, by the option that would set them."""
    stores: dict[str, object] = {"snapshots": None, "checkpoints": None}
    if isinstance(target, AgentFrameworkWorkflow):
        stores["checkpoints"] = target.checkpoint_storage
    if isinstance(target, AgentFrameworkWorkflow | AgentFrameworkAgent):
        stores["snapshots"] = target.snapshot_store
    return stores


def given(store: T | None, otherwise: T | None) -> T | None:
    """Return the first that is there: a store that is empty may be falsy."""
    return otherwise if store is None else store


def _check_servable(target: object) -> None:
    if isinstance(target, AgentFrameworkWorkflow):
        if (
            target.workflow is None
            and workflow_factory_of(target) is None
            and not _overrides_run(target)
        ):
            raise _refusal(
                ReasonCode.TARGET_UNSUPPORTED,
                "an AgentFrameworkWorkflow without workflow, factory or own run serves nothing",
                "AgentFrameworkWorkflow(workflow=...)",
            )
        _check_workflow_factory(target)
        return
    if isinstance(target, Workflow | AgentFrameworkAgent):
        return
    if isinstance(target, SupportsAgentRun) and not isinstance(target, type):
        return
    if isinstance(target, FunctionalWorkflow | FunctionalWorkflowDefinition):
        raise _refusal(
            ReasonCode.TARGET_UNSUPPORTED,
            f"{describe_type(target)} is served as an agent",
            "definition.build().as_agent()",
        )
    _refuse_builder(target)
    raise _refusal(
        ReasonCode.TARGET_UNSUPPORTED,
        f"{describe_type(target)} is no workflow, agent or AG-UI runner",
        "a Workflow, an AgentFrameworkWorkflow, an AgentFrameworkAgent or an agent",
    )


def _check_workflow_factory(runner: AgentFrameworkWorkflow) -> None:
    """Refuse at registration what the framework would find out on every request."""
    factory: object = workflow_factory_of(runner)
    if factory is None:
        return
    try:
        inspect.signature(cast("Callable[..., object]", factory)).bind("thread")
    except TypeError:  # not callable, or not with one argument
        raise _refusal(
            ReasonCode.FACTORY_SIGNATURE,
            "the workflow_factory cannot be called with one argument, the thread id",
            "AgentFrameworkWorkflow(workflow_factory=lambda thread_id: ...)",
        ) from None
    except ValueError:  # some builtins have no signature
        return


def _refuse_builder(target: object) -> None:
    if callable(getattr(type(target), "build", None)):
        raise _refusal(
            ReasonCode.BUILDER_IS_NOT_A_FACTORY,
            f"{describe_type(target)} builds workflows from parts that they then share",
            _FACTORY,
        )


def _overrides_run(runner: AgentFrameworkWorkflow) -> bool:
    return type(runner).run is not AgentFrameworkWorkflow.run


def _keys_session_by_thread(target: object) -> bool:
    return isinstance(target, AgentFrameworkAgent) and (
        target.config.legacy_session_id_from_thread_id
        or target.config.service_session_id_from_thread_id
    )


def _session_key_ignores_scope() -> RegistrationError:
    return _refusal(
        ReasonCode.SESSION_KEY_IGNORES_SCOPE,
        "a session id made of the thread id alone is the same for every principal",
        "leave legacy_session_id_from_thread_id and service_session_id_from_thread_id out",
    )


def _refusal(code: ReasonCode, problem: str, instead: str) -> RegistrationError:
    return RegistrationError(code, problem, instead=instead)
