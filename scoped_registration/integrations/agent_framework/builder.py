"""The builder for AG-UI endpoints: only the safe (mode, target) pairs have a stage."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Generic, Self, TypeAlias, cast, overload

from agent_framework import CheckpointStorage, SupportsAgentRun, Workflow
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    AGUIThreadSnapshotStore,
)
from fastapi import FastAPI
from typing_extensions import TypeVar, override

from scoped_registration.errors import ReasonCode, RegistrationError, caller, describe_type
from scoped_registration.integrations.agent_framework.mounting import (
    EndpointSettings,
    check_target,
    mount,
)
from scoped_registration.integrations.agent_framework.per_run import PerRun
from scoped_registration.integrations.agent_framework.runners import is_agent, stores_of
from scoped_registration.modes import Mode, PersistentShared, PerThread, ScopedFactory, SingleUser
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from scoped_registration.scope import ScopeValue
from scoped_registration.stages import Declaration, ScopedStage, Stage, ThreadPoolStage

# Any: the implementation of an overload is seen by nobody, its overloads are.

__all__ = ["AGUIEndpointBuilder"]

S = TypeVar("S", bound=ScopeValue)
W = TypeVar("W", bound=Workflow | AgentFrameworkWorkflow)
A = TypeVar("A", bound=AgentFrameworkAgent | SupportsAgentRun)
R_co = TypeVar("R_co", bound=Registration[Any], covariant=True)
T = TypeVar("T")

# T is bound where this is used, so no coroutine or context manager can be a T, and one
# member alone fits: with a free T, mypy and ty cannot solve the union.
Product: TypeAlias = (
    AbstractAsyncContextManager[T, bool | None]
    | AbstractContextManager[T, bool | None]
    | Awaitable[T]
    | T
)

# CheckpointStorage cannot be asked with isinstance.
_METHODS = {"snapshots": ("save", "get", "delete"), "checkpoints": ("save", "load", "delete")}


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
        return _stage_of(declared)(settings, declared)


class _Stage(Stage[EndpointSettings], Generic[R_co]):
    """A stage that ends with an endpoint on an application."""

    def snapshots(self, store: AGUIThreadSnapshotStore) -> Self:
        """Keep each thread's transcript, so that a client can come back to it.

        Rows are stored under a digest of the registration and the principal.

        Args:
            store: The framework's snapshot store.

        Raises:
            RegistrationError: ``store_already_configured`` if the runner has another.
        """
        return self._with(snapshots=self._only("snapshots", store))

    def mount(self, app: FastAPI) -> R_co:
        """Add the endpoint to an application and join the registration to its life.

        Args:
            app: The root application.

        Returns:
            The registration, of the mode that was declared.

        Raises:
            RegistrationError: ``duplicate_name``, ``duplicate_route``,
                ``runner_already_registered``, ``single_user_behind_authentication``,
                ``risk_not_acknowledged``, ``checkpoint_of_shared_state``.
        """
        # The overloads of `isolation` tie the registration's type to the mode's.
        return cast(R_co, mount(app, self._mode, self._settings))

    def _only(self, option: str, store: T) -> T:
        if isinstance(store, type) or not all(
            callable(getattr(store, method, None)) for method in _METHODS[option]
        ):
            raise RegistrationError(
                ReasonCode.OPTION_INVALID,
                f".{option}() takes a store of the framework, and was given {describe_type(store)}",
                registration=self._settings.name,
                declared_at=self._settings.declared_at,
            )
        carried = stores_of(getattr(self._mode, "target", None))[option]
        if carried is not None and carried is not store:
            raise RegistrationError(
                ReasonCode.STORE_ALREADY_CONFIGURED,
                f"the runner carries other {option} already",
                instead="give the store in one place",
                registration=self._settings.name,
                declared_at=self._settings.declared_at,
            )
        return store


class _WorkflowOptions(_Stage[R_co]):
    """The options that workflows alone have."""

    def checkpoints(self, storage: CheckpointStorage) -> Self:
        """Keep checkpoints of the workflow, owned by (scope, thread).

        Args:
            storage: The framework's checkpoint storage. On a shared workflow their
                contents cross, which `Risk.CHECKPOINT_CONTENTS` acknowledges.

        Raises:
            RegistrationError: ``store_already_configured`` if the runner has another.
        """
        return self._with(checkpoints=self._only("checkpoints", storage))


class WorkflowStage(_WorkflowOptions[R_co]):
    """One workflow: `SingleUser` or `PersistentShared`."""


class ThreadWorkflowStage(ThreadPoolStage[EndpointSettings], _WorkflowOptions[R_co]):
    """A workflow per thread: `SingleUser.per_thread`."""


class ScopedWorkflowStage(
    ScopedStage[EndpointSettings, S], _WorkflowOptions[R_co], Generic[R_co, S]
):
    """A workflow per (scope, thread): `ScopedFactory`."""


class AgentStage(_Stage[R_co]):
    """One agent: `SingleUser` or `PersistentShared`."""


class ThreadAgentStage(ThreadPoolStage[EndpointSettings], _Stage[R_co]):
    """An agent per thread: `SingleUser.per_thread`."""


class ScopedAgentStage(ScopedStage[EndpointSettings, S], _Stage[R_co], Generic[R_co, S]):
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


def _check_path(path: object, name: str) -> None:
    if not isinstance(path, str) or not path.startswith("/"):
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            "the path of an endpoint is a str that begins with '/'",
            registration=name,
            declared_at=caller(),
        )


def _stage_of(mode: Mode) -> type[_Stage[Any]]:
    match mode:
        case PerThread():
            return ThreadWorkflowStage
        case PerRun():
            return ScopedAgentStage
        case ScopedFactory():
            return ScopedWorkflowStage
        case _:
            return AgentStage if is_agent(mode.target) else WorkflowStage
