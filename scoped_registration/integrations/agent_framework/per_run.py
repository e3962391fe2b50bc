"""`per_run`: a plain agent, for which the framework makes a session per run."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar, cast

from agent_framework import FunctionTool, RawAgent, ToolApprovalMiddleware
from typing_extensions import override

from scoped_registration.errors import RegistrationError, caller, describe_type
from scoped_registration.integrations.agent_framework.targets import check_per_run
from scoped_registration.modes import ScopedFactory
from scoped_registration.resolvers import check_resolver
from scoped_registration.scope import ScopeResolver, ScopeValue

# Any: the options of an agent's chat client, which make no difference here.

__all__ = ["PerRun", "notes_on_agent", "per_run"]

S = TypeVar("S", bound=ScopeValue)


class PerRun(ScopedFactory[RawAgent[Any], S]):
    """The mode that `per_run` returns: one agent, which keeps nothing between runs."""

    keeps_state: ClassVar[bool] = False
    label: ClassVar[str] = "per_run"
    meaning: ClassVar[str] = "one agent for all, with a session of its own for each run"

    agent: RawAgent[Any]

    @override
    def describe_target(self) -> str:
        return describe_type(self.agent)


def per_run(agent: RawAgent[Any], *, scope: ScopeResolver[S]) -> ScopedFactory[RawAgent[Any], S]:
    """Serve one plain agent to several principals, with a session of its own for each run.

    Args:
        agent: A `RawAgent` or `Agent`, and nothing else that satisfies
            `SupportsAgentRun`: a `WorkflowAgent` does, and keeps state for all.
        scope: The FastAPI dependency that returns who calls.

    Returns:
        A mode for `AGUIEndpointBuilder.isolation`.

    Raises:
        RegistrationError: ``stateful_target``, ``opaque_runner``,
            ``agent_wraps_stateful_workflow``,
            ``unknown_agent_type``, ``session_key_ignores_scope``,
            ``builder_is_not_a_factory``, or what `ScopedFactory` raises for the scope.

    Example:
        ```python
        AGUIEndpointBuilder("assistant", path="/assistant").isolation(
            per_run(agent, scope=current_user)
        ).mount(app)
        ```
    """
    try:
        check_per_run(agent)
    except RegistrationError as error:
        error.declared_at = caller()
        raise
    check_resolver(scope, "scope")
    mode: PerRun[S] = PerRun(lambda _: agent, scope=scope)
    mode.agent = agent
    mode.declared_at = caller()
    return mode


def notes_on_agent(agent: RawAgent[Any]) -> tuple[str, ...]:
    """Return what is worth knowing of an agent that serves everybody, run by run."""
    tools: object = agent.default_options.get("tools")
    limited = [
        f"{tool.name!r} ({tool.max_invocations})"
        for tool in (cast("list[object]", tools) if isinstance(tools, list) else [])
        if isinstance(tool, FunctionTool) and tool.max_invocations is not None
    ]
    notes: list[str] = []
    if limited:
        notes.append(
            f"availability: max_invocations of {', '.join(limited)} is counted on the tool, so one "
            "principal can use up what all have; build the agent per key with ScopedFactory"
        )
    if any(isinstance(one, ToolApprovalMiddleware) for one in agent.middleware or ()):
        notes.append(
            "standing approvals of ToolApprovalMiddleware end with their run: "
            "each run has a session of its own"
        )
    return tuple(notes)
