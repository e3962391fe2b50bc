"""The stages of the builder for AG-UI endpoints: what each mode and kind of target offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Self, cast

from agent_framework import CheckpointStorage
from agent_framework_ag_ui import AgentFrameworkAgent, AGUIThreadSnapshotStore
from fastapi import FastAPI
from fastapi.params import Depends
from typing_extensions import TypeVar, override

from scoped_registration.errors import ReasonCode, RegistrationError, caller
from scoped_registration.inspection import refuse_bad_calls
from scoped_registration.integrations.agent_framework.mounting import mount
from scoped_registration.integrations.agent_framework.options import (
    AgentOptions,
    Detached,
    EndpointOptions,
)
from scoped_registration.integrations.agent_framework.per_run import PerRun
from scoped_registration.integrations.agent_framework.runners import check_store, is_agent
from scoped_registration.integrations.agent_framework.settings import EndpointSettings
from scoped_registration.integrations.deployment import Workers, check_declared
from scoped_registration.modes import Mode, PerThread, ScopedFactory
from scoped_registration.registration import Registration
from scoped_registration.scope import ScopeValue
from scoped_registration.stages import ScopedStage, Stage, ThreadPoolStage

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

    def options(
        self,
        *,
        default_state: dict[str, Any] | None = None,
        keepalive: float | None = 15.0,
        tags: Sequence[str] | None = None,
        dependencies: Sequence[Depends] = (),
    ) -> Self:
        """Set what the framework's endpoint takes beside its target.

        Args:
            default_state: Shared state for the keys that neither the client nor a stored
                snapshot has.
            keepalive: Seconds between the comments that keep an idle stream open; None for
                none.
            tags: Of the OpenAPI operation; ``["AG-UI"]`` if left out.
            dependencies: Run before the endpoint, each a `Depends(...)`. What they return
                does not say who calls: the mode's resolver does.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        return self._with(
            endpoint=EndpointOptions(
                default_state=default_state,
                keepalive=keepalive,
                tags=tags,
                dependencies=dependencies,
            )
        )

    def detached(self, *, max_runs: int = 32, timeout: float = 3600.0) -> Self:
        """Let a run go on when its client leaves, so that what it does is not cut short.

        Its events are dropped, and its thread is busy until it ends; then the snapshot and the
        checkpoints hold what it did. A run that has not begun when its client leaves does not
        begin. Shutdown waits `close_timeout` for such runs, and cancels them then.

        Args:
            max_runs: Runs of this endpoint at once, whether their clients are there or not;
                one more is refused (503). A request for the stored transcript is not counted.
            timeout: Seconds after its client has left at which a run is cancelled.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        return self._with(detached=Detached(max_runs=max_runs, timeout=timeout))

    def mount(self, app: FastAPI, *, workers: Workers | None = None) -> R_co:
        """Add the endpoint to an application and join the registration to its life.

        Args:
            app: The root application.
            workers: ``"single"`` or ``"many"``, if that is declared; see `attach`.

        Returns:
            The registration, of the mode that was declared.

        Raises:
            RegistrationError: ``duplicate_name``, ``duplicate_route``,
                ``runner_already_registered``, ``single_user_behind_authentication``,
                ``risk_not_acknowledged``, ``checkpoint_of_shared_state``.
        """
        # The overloads of `isolation` tie the registration's type to the mode's.
        return cast(R_co, mount(app, self._mode, self._settings, check_declared(workers)))

    def _only(self, option: str, store: T) -> T:
        try:
            check_store(option, store, getattr(self._mode, "target", None))
        except RegistrationError as error:
            settings = self._settings
            raise error.located(
                registration=settings.name, declared_at=settings.declared_at
            ) from None
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


class _AgentOptions(_Stage[R_co]):
    """The options that agents alone have."""

    @override
    def options(
        self,
        *,
        default_state: dict[str, Any] | None = None,
        keepalive: float | None = 15.0,
        tags: Sequence[str] | None = None,
        dependencies: Sequence[Depends] = (),
        state_schema: Any = None,
        predict_state_config: dict[str, dict[str, str]] | None = None,
        a2ui: dict[str, Any] | None = None,
    ) -> Self:
        """Set what the framework's endpoint and its runner take beside the agent.

        Args:
            default_state: See the endpoints of workflows.
            keepalive: Likewise.
            tags: Likewise.
            dependencies: Likewise.
            state_schema: The shape of the shared state: a JSON schema's properties, or a
                pydantic model.
            predict_state_config: Which tool's argument foretells which key of the state.
            a2ui: The framework's configuration for surfaces that an agent generates.

        Raises:
            RegistrationError: ``option_invalid``; ``option_unavailable`` if the target is a
                runner, which has a configuration of its own.
        """
        stage = super().options(
            default_state=default_state,
            keepalive=keepalive,
            tags=tags,
            dependencies=dependencies,
        )
        agent = AgentOptions(
            state_schema=state_schema, predict_state_config=predict_state_config, a2ui=a2ui
        )
        if agent.given and isinstance(getattr(self._mode, "target", None), AgentFrameworkAgent):
            raise RegistrationError(
                ReasonCode.OPTION_UNAVAILABLE,
                "the runner has a state schema, a prediction and an a2ui configuration of its own",
                instead="give them to the AgentFrameworkAgent",
                registration=self._settings.name,
                declared_at=self._settings.declared_at,
            )
        return stage._with(agent=agent)


class _ScopedOptions(_Stage[R_co]):
    """The options of an endpoint with instances of several principals."""

    @override
    def detached(
        self,
        *,
        max_runs: int = 32,
        max_runs_per_scope: int | None = 8,
        timeout: float = 3600.0,
    ) -> Self:
        """Let a run go on when its client leaves, so that what it does is not cut short.

        Args:
            max_runs: Runs of this endpoint at once; see `WorkflowStage.detached`.
            max_runs_per_scope: Runs of one principal at once, so that nobody takes them all;
                None for no such bound.
            timeout: Seconds after its client has left at which a run is cancelled.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        chosen = Detached(max_runs=max_runs, max_runs_per_scope=max_runs_per_scope, timeout=timeout)
        return self._with(detached=chosen)


class WorkflowStage(_WorkflowOptions[R_co]):
    """One workflow: `SingleUser` or `PersistentShared`."""


class ThreadWorkflowStage(ThreadPoolStage[EndpointSettings], _WorkflowOptions[R_co]):
    """A workflow per thread: `SingleUser.per_thread`."""


class ScopedWorkflowStage(
    ScopedStage[EndpointSettings, S],
    _ScopedOptions[R_co],
    _WorkflowOptions[R_co],
    Generic[R_co, S],
):
    """A workflow per (scope, thread): `ScopedFactory`."""


class AgentStage(_AgentOptions[R_co]):
    """One agent: `SingleUser` or `PersistentShared`."""


class ThreadAgentStage(ThreadPoolStage[EndpointSettings], _AgentOptions[R_co]):
    """An agent per thread: `SingleUser.per_thread`."""


class ScopedAgentStage(
    ScopedStage[EndpointSettings, S],
    _ScopedOptions[R_co],
    _AgentOptions[R_co],
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


def stage_of(mode: Mode) -> type[_Stage[Any]]:
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


_OPTIONS = "an option of this mode and kind of target, by its keyword"
refuse_bad_calls(_Stage, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="options")
refuse_bad_calls(_Stage, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="detached")
refuse_bad_calls(_AgentOptions, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="options")
refuse_bad_calls(_ScopedOptions, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="detached")
