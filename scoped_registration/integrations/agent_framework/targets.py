"""Which agent-framework object may be served under which mode.

This is the contract table, cell by cell: what a mode refuses, it refuses with the cell's
reason code, before anything is served.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from agent_framework import (
    FunctionalWorkflow,
    FunctionalWorkflowAgent,
    FunctionalWorkflowDefinition,
    RawAgent,
    SupportsAgentRun,
    Workflow,
    WorkflowAgent,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
)

from scoped_registration.acknowledgement import Risk
from scoped_registration.errors import ReasonCode, RegistrationError, describe_type
from scoped_registration.integrations.agent_framework.runners import overrides_run
from scoped_registration.integrations.agent_framework.upstream import workflow_factory_of

__all__ = ["SHARED_RISKS", "check_per_run", "check_product", "check_shared", "check_single_user"]

SHARED_RISKS = frozenset(Risk) - {Risk.CHECKPOINT_CONTENTS, Risk.OBJECT_STATE}
"""What was shown to cross on a shared workflow, or an agent made of one."""

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
        RegistrationError: ``stateful_target``, ``opaque_runner``,
            ``agent_wraps_stateful_workflow``, ``session_key_ignores_scope``,
            ``builder_is_not_a_factory``, ``unknown_agent_type``.
    """
    inner = agent.agent if isinstance(agent, AgentFrameworkAgent) else agent
    if isinstance(inner, WorkflowAgent | FunctionalWorkflowAgent | FunctionalWorkflow):
        raise _refusal(
            ReasonCode.AGENT_WRAPS_STATEFUL_WORKFLOW,
            f"{describe_type(inner)} keeps its workflow's state for every caller",
            "ScopedFactory(lambda context: build_workflow(context).as_agent(), scope=...)",
        )
    if isinstance(agent, AgentFrameworkWorkflow) and overrides_run(agent):
        raise _refusal(
            ReasonCode.OPAQUE_RUNNER,
            f"{describe_type(agent)} has a run of its own, which keeps what it likes",
            "ScopedFactory(build_runner, scope=...), which builds one for each key",
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
        _check_plain(agent)  # pyright: ignore[reportUnknownArgumentType]  # of any options
        return
    _refuse_builder(agent)
    raise _refusal(
        ReasonCode.UNKNOWN_AGENT_TYPE,
        f"per_run takes a RawAgent, and was given {describe_type(agent)}",
        "per_run(the_plain_agent, scope=...), or ScopedFactory(build_agent, scope=...)",
    )


def _check_plain(agent: RawAgent[Any]) -> None:
    if not type(agent).run.__module__.startswith("agent_framework."):
        raise _refusal(
            ReasonCode.UNKNOWN_AGENT_TYPE,
            f"{describe_type(agent)} has a run of its own, which keeps what it likes",
            "ScopedFactory(build_agent, scope=...)",
        )
    if agent.default_options.get("conversation_id") is not None:
        raise _refusal(
            ReasonCode.SESSION_KEY_IGNORES_SCOPE,
            "a conversation_id in the agent's default options is one conversation for everybody",
            "leave conversation_id out of default_options",
        )


def check_product(product: object, *, several_principals: bool) -> None:
    """Refuse what a factory returned for a key.

    Raises:
        RegistrationError: ``factory_returned``, and ``session_key_ignores_scope`` where
            two principals may use one thread id.
    """
    if several_principals and _keys_session_by_thread(product):
        raise _session_key_ignores_scope()
    try:
        _check_servable(product)
    except RegistrationError as error:
        raise _refusal(
            ReasonCode.FACTORY_RETURNED,
            f"the factory returned {describe_type(product)}, which AG-UI cannot serve",
            error.instead or _FACTORY,
        ) from None


def _check_servable(target: object) -> None:
    if isinstance(target, AgentFrameworkWorkflow):
        if (
            target.workflow is None
            and workflow_factory_of(target) is None
            and not overrides_run(target)
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
