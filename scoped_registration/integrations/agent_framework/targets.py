"""What a mode answers to a target: the contract's cell, in words.

What a mode refuses, it refuses with the cell's reason code, before anything is served.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import cast

from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow

from scoped_registration.acknowledgement import Risk
from scoped_registration.errors import ReasonCode, RegistrationError, describe_type
from scoped_registration.integrations.agent_framework.contract import CONTRACT, Kind, kind_of
from scoped_registration.integrations.agent_framework.upstream import workflow_factory_of

__all__ = [
    "SHARED_RISKS",
    "check_per_run",
    "check_product",
    "check_session",
    "check_shared",
    "check_single_user",
]

SHARED_RISKS = frozenset(Risk) - {Risk.CHECKPOINT_CONTENTS, Risk.OBJECT_STATE}
"""What was shown to cross on a shared workflow, or an agent made of one."""

_FACTORY = "def build(context: ScopeContext[...]) -> Workflow: construct everything here"

# Of each refusal, what is wrong with a target of some type, and what to write instead.
_TEXTS: dict[ReasonCode, tuple[str, str]] = {
    ReasonCode.STATEFUL_TARGET: (
        "per_run takes a plain agent, and {type} keeps state",
        "ScopedFactory(build_workflow, scope=...)",
    ),
    ReasonCode.AGENT_WRAPS_STATEFUL_WORKFLOW: (
        "{type} keeps its workflow's state for every caller",
        "ScopedFactory(lambda context: build_workflow(context).as_agent(), scope=...)",
    ),
    ReasonCode.OPAQUE_RUNNER: (
        "{type} has a run of its own, which keeps what it likes",
        "ScopedFactory(build_runner, scope=...), which builds one for each key",
    ),
    ReasonCode.UNKNOWN_AGENT_TYPE: (
        "per_run takes a RawAgent with the framework's own run, and was given {type}",
        "per_run(the_plain_agent, scope=...), or ScopedFactory(build_agent, scope=...)",
    ),
    ReasonCode.SESSION_KEY_IGNORES_SCOPE: (
        "a session id made of the thread id alone is the same for every principal",
        "leave legacy_session_id_from_thread_id and service_session_id_from_thread_id out",
    ),
    ReasonCode.FACTORY_WITH_SHARED_MODE: (
        "a workflow_factory makes an instance per thread, and PersistentShared shares one",
        "ScopedFactory(factory, scope=...), or PersistentShared(workflow, ...)",
    ),
    ReasonCode.SHARED_MODE_NEEDS_A_STATEFUL_TARGET: (
        "a plain agent keeps nothing between runs: the framework makes a session per run",
        "per_run(agent, scope=...)",
    ),
    ReasonCode.BUILDER_IS_NOT_A_FACTORY: (
        "{type} builds workflows from parts that they then share",
        _FACTORY,
    ),
    ReasonCode.FACTORY_RETURNED: (
        "the factory returned {type}, which AG-UI cannot serve",
        _FACTORY,
    ),
    ReasonCode.TARGET_UNSUPPORTED: (
        "{type} is no workflow, agent or AG-UI runner",
        "a Workflow, an AgentFrameworkWorkflow, an AgentFrameworkAgent or an agent",
    ),
}
_KIND_TEXTS: dict[Kind, tuple[str, str]] = {
    Kind.EMPTY_RUNNER: (
        "{type} without workflow, factory or own run serves nothing",
        "AgentFrameworkWorkflow(workflow=...)",
    ),
    Kind.CONTINUING_AGENT: (
        "a conversation_id in the agent's default options is one conversation for everybody",
        "leave conversation_id out of default_options",
    ),
}


def check_single_user(target: object) -> None:
    """Refuse what one principal cannot be served with.

    Raises:
        RegistrationError: The code of the cell, or ``factory_signature``.
    """
    kind = kind_of(target)
    _refuse(CONTRACT[kind].single_user, kind, target)
    _check_runner(target)


def check_shared(target: object) -> None:
    """Refuse what is not to be shared, or needs not be.

    Raises:
        RegistrationError: The code of the cell.
    """
    kind = kind_of(target)
    _refuse(CONTRACT[kind].shared, kind, target)
    _check_runner(target)


def check_per_run(agent: object) -> None:
    """Refuse what keeps state between runs, or may.

    Raises:
        RegistrationError: The code of the cell.
    """
    kind = kind_of(agent)
    _refuse(CONTRACT[kind].per_run, kind, agent)


def check_product(product: object, *, several_principals: bool) -> None:
    """Refuse what a factory returned for a key.

    Raises:
        RegistrationError: ``factory_returned``, and ``session_key_ignores_scope`` where
            two principals may use one thread id.
    """
    kind = kind_of(product)
    row = CONTRACT[kind]
    _refuse(row.scoped if several_principals else row.per_thread, kind, product)
    try:
        _check_runner(product)
    except RegistrationError as error:
        raise RegistrationError(
            ReasonCode.FACTORY_RETURNED,
            f"of what the factory returned, {error.problem}",
            instead=error.instead,
        ) from None


def check_session(target: object, *, snapshots: bool) -> None:
    """Refuse a runner whose every run would want a session that it does not get.

    Raises:
        RegistrationError: ``capability_needs_session``.
    """
    if not isinstance(target, AgentFrameworkAgent) or not target.config.use_service_session:
        return
    config = target.config
    options: object = getattr(target.agent, "default_options", None)
    if isinstance(options, dict) and cast("dict[str, object]", options).get("store") is False:
        raise RegistrationError(
            ReasonCode.CAPABILITY_NEEDS_SESSION,
            "use_service_session wants the provider to store the conversation, and the agent's "
            "default options say store=False",
            instead='leave use_service_session out, or "store" out of default_options',
        )
    if not (snapshots or config.snapshot_store or config.service_session_id_from_thread_id):
        raise RegistrationError(
            ReasonCode.CAPABILITY_NEEDS_SESSION,
            "use_service_session wants to find the provider's conversation again, and there is "
            "no snapshot store that would keep its id",
            instead="declare .snapshots(store), or leave use_service_session out",
        )


def _check_runner(target: object) -> None:
    """Refuse at registration what the framework would find out on every request."""
    if isinstance(target, AgentFrameworkWorkflow):
        _check_workflow_factory(workflow_factory_of(target))


def _check_workflow_factory(factory: object) -> None:
    if factory is None:
        return
    try:
        inspect.signature(cast("Callable[..., object]", factory)).bind("thread")
    except TypeError:  # not callable, or not with one argument
        raise RegistrationError(
            ReasonCode.FACTORY_SIGNATURE,
            "the workflow_factory cannot be called with one argument, the thread id",
            instead="AgentFrameworkWorkflow(workflow_factory=lambda thread_id: ...)",
        ) from None
    except ValueError:  # some builtins have no signature
        return


def _refuse(code: ReasonCode | None, kind: Kind, target: object) -> None:
    if code is None:
        return
    problem, instead = _TEXTS[code]
    problem, instead = _KIND_TEXTS.get(kind, (problem, instead))
    if code is ReasonCode.FACTORY_RETURNED:
        problem = _TEXTS[code][0]
    raise RegistrationError(code, problem.format(type=describe_type(target)), instead=instead)
