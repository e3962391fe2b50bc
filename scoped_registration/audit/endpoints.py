"""The framework's own AG-UI endpoints in an application, and what each of them runs.

The framework keeps what an endpoint was given in a closure and nowhere else. The names that
are looked for there are not public; each stands in this file, and `check_upstream` tells when
one of them has gone.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import TypeGuard

import attrs
from agent_framework import FunctionalWorkflowAgent, Workflow
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI

from scoped_registration.audit.loading import CannotAuditError
from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.integrations.agent_framework.endpoint import Endpoint
from scoped_registration.integrations.agent_framework.runners import served, threaded_factory_of
from scoped_registration.integrations.agent_framework.targets import check_per_run
from scoped_registration.integrations.operations import applications, each_route

__all__ = ["RawEndpoint", "check_upstream", "is_plain_agent", "raw_endpoints", "state_of"]

_FUNCTION = "agent_endpoint"
_RUNNER = "protocol_runner"
_RESOLVERS = ("authorization_scope_resolver", "snapshot_scope_resolver")

_SHARED = {
    ReasonCode.STATEFUL_TARGET: "one workflow",
    ReasonCode.AGENT_WRAPS_STATEFUL_WORKFLOW: "an agent that runs one workflow",
    ReasonCode.OPAQUE_RUNNER: "one runner with a run of its own",
    ReasonCode.SESSION_KEY_IGNORES_SCOPE: "an agent whose session depends on the thread id alone",
}


@attrs.frozen(kw_only=True)
class RawEndpoint:
    """An endpoint that was added without the builder.

    Attributes:
        path: Its path in the application that has it.
        runner: What the framework runs for it.
        tells_apart: Whether a resolver tells principals apart.
    """

    path: str
    runner: AgentFrameworkAgent | AgentFrameworkWorkflow
    tells_apart: bool

    def shares(self) -> str | None:
        """Say what it serves to several principals although that keeps state, if it does.

        A `workflow_factory` is not called, and an agent of an unknown type not judged.
        """
        runner = self.runner
        if not self.tells_apart:
            return None
        if isinstance(runner, AgentFrameworkWorkflow) and threaded_factory_of(runner) is not None:
            return None
        # What an agent's own options say is read off the agent, not off its runner.
        inner = runner.agent if isinstance(runner, AgentFrameworkAgent) else runner
        for target in (runner, inner):
            try:
                check_per_run(target)
            except RegistrationError as error:
                if error.code in _SHARED:
                    return _SHARED[error.code]
        return None


def check_upstream() -> None:
    """Make sure that the framework's endpoints can be recognised.

    Raises:
        CannotAuditError: A name has gone. An audit would find nothing, and say so.
    """
    code = add_agent_framework_fastapi_endpoint.__code__
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_name == _FUNCTION:
            missing = {_RUNNER, *_RESOLVERS} - set(inner.co_freevars)
            if not missing:
                return
            raise _unknown(f"its endpoint keeps no {', '.join(sorted(missing))}")
    raise _unknown(f"it makes no {_FUNCTION}")


def raw_endpoints(app: FastAPI) -> Iterator[RawEndpoint]:
    """Yield the endpoints of an application, and of those mounted in it, without the builder's.

    An endpoint that is included at several paths is one endpoint.
    """
    seen: set[int] = set()
    for inner in applications(app):
        for route in each_route(inner.routes):
            function = getattr(route, "endpoint", None)
            if not _is_upstream(function) or id(function) in seen:
                continue
            seen.add(id(function))
            kept = inspect.getclosurevars(function).nonlocals
            runner = kept[_RUNNER]
            if not isinstance(runner, Endpoint):
                tells_apart = any(kept[name] is not None for name in _RESOLVERS)
                yield RawEndpoint(path=route.path, runner=runner, tells_apart=tells_apart)


def is_plain_agent(target: object) -> bool:
    """Tell whether a target is an agent that keeps nothing between its runs."""
    try:
        check_per_run(target)
    except RegistrationError:
        return False
    return True


def state_of(target: object) -> object:
    """Return the object in which a runner or a target keeps state, to compare by identity.

    A plain agent keeps none, and may be run by several runners.
    """
    inner = served(target)
    if isinstance(inner, Workflow | AgentFrameworkWorkflow | FunctionalWorkflowAgent):
        return inner
    return target


def _unknown(reason: str) -> CannotAuditError:
    return CannotAuditError(f"the endpoints of this agent-framework-ag-ui are not known: {reason}")


def _is_upstream(function: object) -> TypeGuard[FunctionType]:
    maker = add_agent_framework_fastapi_endpoint
    return (
        isinstance(function, FunctionType)
        and function.__module__ == maker.__module__
        and function.__qualname__ == f"{maker.__qualname__}.<locals>.{_FUNCTION}"
    )
