"""The builder for AG-UI endpoints: only the safe (mode, target) pairs have a stage."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, TypeAlias, overload

from agent_framework import (
    FunctionalWorkflow,
    FunctionalWorkflowAgent,
    FunctionalWorkflowDefinition,
    SupportsAgentRun,
    Workflow,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
)
from typing_extensions import TypeVar

from scoped_registration.errors import ReasonCode, RegistrationError, caller
from scoped_registration.integrations.agent_framework.mounting import check_target
from scoped_registration.integrations.agent_framework.settings import EndpointSettings
from scoped_registration.integrations.agent_framework.stages import (
    AgentStage,
    ScopedAgentStage,
    ScopedWorkflowStage,
    ThreadAgentStage,
    ThreadWorkflowStage,
    WorkflowStage,
    stage_of,
)
from scoped_registration.modes import PersistentShared, PerThread, ScopedFactory, SingleUser
from scoped_registration.registration import (
    PerThreadRegistration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from scoped_registration.scope import ScopeValue
from scoped_registration.stages import Declaration

# Any: the implementation of an overload is seen by nobody, its overloads are.

__all__ = ["AGUIEndpointBuilder"]

S = TypeVar("S", bound=ScopeValue)
W = TypeVar("W", bound=Workflow | AgentFrameworkWorkflow)
A = TypeVar(
    "A",
    bound=AgentFrameworkAgent
    | SupportsAgentRun
    | FunctionalWorkflow
    | FunctionalWorkflowAgent
    | FunctionalWorkflowDefinition,
)
T = TypeVar("T")

# T is bound where this is used, so no coroutine or context manager can be a T, and one
# member alone fits: with a free T, mypy and ty cannot solve the union.
Product: TypeAlias = (
    AbstractAsyncContextManager[T, bool | None]
    | AbstractContextManager[T, bool | None]
    | Awaitable[T]
    | T
)


class AGUIEndpointBuilder(Declaration[EndpointSettings]):
    """Declares an AG-UI endpoint; there is nothing to mount before its isolation mode.

    Args:
        name: The registration's name; see `RegistrationBuilder`.
        path: The path of the endpoint.

    Raises:
        RegistrationError: ``name_invalid``, ``option_invalid`` for a path that does not
            begin with a slash.

    Example:
        ```python
        AGUIEndpointBuilder("support", path="/support").isolation(
            ScopedFactory(build_workflow, scope=current_user)
        ).mount(app)
        ```
    """

    def __init__(self, name: str, path: str = "/") -> None:
        super().__init__(EndpointSettings(name=name, declared_at=caller(), path=path))
        _check_path(path, name)

    # A checker that reports one overload names the last: it shall be the usual mode.
    @overload
    def isolation(self, mode: SingleUser[W]) -> WorkflowStage[SingleUserRegistration[W]]: ...
    @overload
    def isolation(self, mode: PersistentShared[W]) -> WorkflowStage[SharedRegistration[W]]: ...
    @overload
    def isolation(
        self, mode: PerThread[Product[W]]
    ) -> ThreadWorkflowStage[PerThreadRegistration[W]]: ...
    @overload
    def isolation(
        self, mode: ScopedFactory[Product[W], S]
    ) -> ScopedWorkflowStage[ScopedRegistration[W, S], S]: ...
    @overload
    def isolation(self, mode: SingleUser[A]) -> AgentStage[SingleUserRegistration[A]]: ...
    @overload
    def isolation(self, mode: PersistentShared[A]) -> AgentStage[SharedRegistration[A]]: ...
    @overload
    def isolation(
        self, mode: PerThread[Product[A]]
    ) -> ThreadAgentStage[PerThreadRegistration[A]]: ...
    @overload
    def isolation(
        self, mode: ScopedFactory[Product[A], S]
    ) -> ScopedAgentStage[ScopedRegistration[A, S], S]: ...
    def isolation(self, mode: Any) -> Any:
        """Declare who may share the target.

        Args:
            mode: `SingleUser` or `PersistentShared` of a workflow, a runner or an agent;
                `SingleUser.per_thread` or `ScopedFactory` of a factory for one; or
                `per_run` of a plain agent.

        Returns:
            The stage of that mode and target, with the options that are safe for it.

        Raises:
            RegistrationError: ``mode_required``, ``mode_conflict``, and the code of the
                contract's cell for a target that the mode cannot serve.
        """
        settings, declared = self._declare(mode)
        check_target(declared, settings)
        return stage_of(declared)(settings, declared)


def _check_path(path: object, name: str) -> None:
    if not isinstance(path, str) or not path.startswith("/"):
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            "the path of an endpoint is a str that begins with '/'",
            registration=name,
            declared_at=caller(),
        )
