"""The stages of the builder for AG-UI endpoints: what each mode and kind of target offers."""

from __future__ import annotations

from typing import Any, Generic

from typing_extensions import TypeVar, override

from scoped_registration.errors import ReasonCode, RegistrationError, caller
from scoped_registration.integrations.agent_framework.per_run import PerRun
from scoped_registration.integrations.agent_framework.runners import is_agent
from scoped_registration.integrations.agent_framework.settings import EndpointSettings
from scoped_registration.integrations.agent_framework.stage_options import (
    EndpointStage,
    ForAgents,
    ForScopes,
    ForThreads,
    ForWorkflows,
)
from scoped_registration.modes import Mode, PerThread, ScopedFactory
from scoped_registration.registration import Registration
from scoped_registration.scope import ScopeValue
from scoped_registration.stages import ScopedStage, ThreadPoolStage

# Any: a stage holds whichever mode opened it; state and its schema are JSON.

__all__ = [
    "AgentStage",
    "ScopedAgentStage",
    "ScopedWorkflowStage",
    "ThreadAgentStage",
    "ThreadWorkflowStage",
    "WorkflowStage",
    "stage_of",
]

S = TypeVar("S", bound=ScopeValue)
R_co = TypeVar("R_co", bound=Registration[Any], covariant=True)
T = TypeVar("T")


class WorkflowStage(ForWorkflows[R_co]):
    """One workflow: `SingleUser` or `PersistentShared`."""


class ThreadWorkflowStage(ThreadPoolStage[EndpointSettings], ForThreads[R_co], ForWorkflows[R_co]):
    """A workflow per thread: `SingleUser.per_thread`."""


class ScopedWorkflowStage(
    ScopedStage[EndpointSettings, S],
    ForScopes[R_co],
    ForThreads[R_co],
    ForWorkflows[R_co],
    Generic[R_co, S],
):
    """A workflow per (scope, thread): `ScopedFactory`."""


class AgentStage(ForAgents[R_co]):
    """One agent: `SingleUser` or `PersistentShared`."""


class ThreadAgentStage(ThreadPoolStage[EndpointSettings], ForThreads[R_co], ForAgents[R_co]):
    """An agent per thread: `SingleUser.per_thread`."""


class ScopedAgentStage(
    ScopedStage[EndpointSettings, S],
    ForScopes[R_co],
    ForThreads[R_co],
    ForAgents[R_co],
    Generic[R_co, S],
):
    """An agent per (scope, thread), or one with a session per run: `per_run`."""

    @override
    def _checked_samples(self, samples: object) -> tuple[object, ...]:
        if isinstance(self._mode, PerRun):
            raise RegistrationError(
                ReasonCode.OPTION_UNAVAILABLE,
                "per_run serves one agent to all, so there are no instances to compare",
                instead="leave .verify_at_startup(...) out",
                registration=self._settings.name,
                declared_at=caller(),
            )
        return super()._checked_samples(samples)


class _ThreadStage(ThreadWorkflowStage[R_co], ThreadAgentStage[R_co]):
    """Of a factory whose products nobody knows yet: checkers see one of its bases."""


class _ScopedStage(ScopedWorkflowStage[R_co, S], ScopedAgentStage[R_co, S], Generic[R_co, S]):
    """Likewise."""


def stage_of(mode: Mode) -> type[EndpointStage[Any]]:
    """Return the stage that a mode opens, where no checker has told."""
    match mode:
        case PerThread():
            return _ThreadStage
        case PerRun():
            return ScopedAgentStage
        case ScopedFactory():
            return _ScopedStage
        case _:
            return AgentStage if is_agent(mode.target) else WorkflowStage
