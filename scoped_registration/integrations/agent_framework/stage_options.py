"""What the stages of the builder for AG-UI endpoints offer, by what they are for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Self, cast

from agent_framework import CheckpointStorage
from agent_framework_ag_ui import AgentFrameworkAgent, AGUIThreadSnapshotStore
from fastapi import FastAPI
from fastapi.params import Depends
from typing_extensions import TypeVar, override

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.inspection import refuse_bad_calls
from scoped_registration.integrations.agent_framework.mounting import mount
from scoped_registration.integrations.agent_framework.options import (
    AgentOptions,
    Detached,
    EndpointOptions,
)
from scoped_registration.integrations.agent_framework.runners import check_store
from scoped_registration.integrations.agent_framework.settings import EndpointSettings
from scoped_registration.integrations.deployment import Workers, check_declared
from scoped_registration.registration import Registration
from scoped_registration.runtime.options import invalid_option
from scoped_registration.settings import Persisted
from scoped_registration.stages import Stage
from scoped_registration.stores.protocol import ThreadStore

# Any: a stage holds whichever mode opened it; state and its schema are JSON.

__all__ = ["EndpointStage", "ForAgents", "ForScopes", "ForThreads", "ForWorkflows"]

R_co = TypeVar("R_co", bound=Registration[Any], covariant=True)
T = TypeVar("T")


class EndpointStage(Stage[EndpointSettings], Generic[R_co]):
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
        checkpoints hold what it did. Shutdown waits `close_timeout` for such runs, and cancels
        them then.

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


class ForWorkflows(EndpointStage[R_co]):
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


class ForAgents(EndpointStage[R_co]):
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


class ForScopes(EndpointStage[R_co]):
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


class ForThreads(EndpointStage[R_co]):
    """The options of an endpoint with an instance per thread, made by a factory."""

    def persisted(
        self, store: ThreadStore, *, ttl: float = 15.0, checkpoint_types: Iterable[type] = ()
    ) -> Self:
        """Keep each thread in a store, so that any worker serves it (promise P11).

        One document holds a thread's transcript and, of a workflow, its last checkpoint: they
        take the place of `.snapshots` and `.checkpoints`. A run begins with what was committed
        last, in whichever worker, and says that it has finished when it is committed. A run
        that fails, or loses its thread to another worker, commits nothing. A workflow is told
        only the messages that it has not heard yet, so a client may send all of them or the
        new ones. While another worker holds a thread, a request waits or is refused as
        `.concurrency` says.

        Args:
            store: A `MemoryStore`, `SQLiteStore`, `PostgresStore` or `RedisStore`, or one of
                your own. Who can write to it can run code in the workers: the framework's
                checkpoints hold pickles.
            ttl: Seconds after which another worker may take a thread over from one that has
                died in a run.
            checkpoint_types: Classes of yours in a workflow's state and messages. A checkpoint
                restores these and the framework's own.

        Raises:
            RegistrationError: ``option_invalid``; ``store_already_configured`` beside
                `.snapshots` or `.checkpoints`.
        """
        self._check_no_owner()
        checkpoint_types = tuple(checkpoint_types)
        if not _are_classes(checkpoint_types):
            raise invalid_option("checkpoint_types", "a list of classes")
        names = frozenset(f"{one.__module__}:{one.__qualname__}" for one in checkpoint_types)
        return self._with(persisted=Persisted(store=store, ttl=ttl), checkpoint_types=names)


def _are_classes(values: Iterable[object]) -> bool:
    return all(isinstance(value, type) for value in values)


_OPTIONS = "an option of this mode and kind of target, by its keyword"
refuse_bad_calls(EndpointStage, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="options")
refuse_bad_calls(EndpointStage, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="detached")
refuse_bad_calls(ForAgents, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="options")
refuse_bad_calls(ForScopes, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="detached")
