"""The framework's own endpoint, run on an instance that is leased from the pool.

The dependency `Admission` stands where the framework wants its scope resolver. It finds
out who calls, takes the lease while an error can still be a status, and leaves it in a
context variable. `Endpoint`, whose documented `run` the framework calls for the body,
picks it up there. The framework's endpoint stays the endpoint.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextvars import ContextVar
from functools import partial
from typing import Annotated, Any

from ag_ui.core import BaseEvent
from agent_framework_ag_ui import AgentFrameworkWorkflow, AGUIThreadSnapshotStore
from fastapi import Body, Depends
from pydantic import ValidationError
from starlette.requests import HTTPConnection
from typing_extensions import override

from scoped_registration.errors import RegistrationError
from scoped_registration.integrations.agent_framework.detached import DetachedRun, DetachedRuns
from scoped_registration.integrations.agent_framework.run import Run
from scoped_registration.integrations.agent_framework.runners import (
    Fittings,
    Runner,
    Target,
    runner_for,
)
from scoped_registration.integrations.agent_framework.thread import PersistedRunner
from scoped_registration.integrations.agent_framework.upstream import (
    BODY_PARAMETER,
    AGUIRequest,
    only_replays,
)
from scoped_registration.integrations.application import Application
from scoped_registration.integrations.fastapi import lease_for, refuse, resolver_of
from scoped_registration.persistence.hold import Persistence, take
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    ScopedRegistration,
)
from scoped_registration.runtime.lease import Lease, own_context
from scoped_registration.scope import check_thread_id, scope_digest, scope_text

# Any: the framework's input and its events are untyped; a registration serves any target.

__all__ = ["Admission", "Endpoint"]

_run: ContextVar[Run | None] = ContextVar("scoped_registration_ag_ui_run", default=None)


class Endpoint(AgentFrameworkWorkflow):
    """What the framework's endpoint serves: each run belongs to the request's lease."""

    def __init__(self, fittings: Fittings) -> None:
        super().__init__(name=fittings.registration, snapshot_store=fittings.snapshots)

    # mypy does not see `override` on a property that stands for a variable of the base.
    @property  # type: ignore[explicit-override]
    @override
    def snapshot_store(self) -> AGUIThreadSnapshotStore | None:
        """The store of the run that was admitted: its runner may carry one of its own."""
        run = _run.get()
        return self._store if run is None else run.snapshot_store

    @snapshot_store.setter
    def snapshot_store(self, store: AGUIThreadSnapshotStore | None) -> None:
        self._store = store

    @override
    def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        """Return the events of the run that was admitted for this request."""
        run = _run.get()
        if run is None:
            raise RuntimeError("an AG-UI run was started without being admitted")
        return run.events(input_data)


class Admission:
    """The dependency that admits a request before its response starts.

    It yields the scope under which the framework keeps snapshots, approvals and
    checkpoints: a digest over the registration and the principal, never the principal.
    """

    def __init__(
        self,
        registration: Registration[Any],
        fittings: Fittings,
        *,
        detached: DetachedRuns | None,
        persistence: Persistence | None,
    ) -> None:
        self.registration = registration
        self._fittings = fittings
        self._detached = detached
        self._persistence = persistence
        # The endpoint declares the same body under the same name, so FastAPI reads one body;
        # as Any and optional, so that what is wrong with it is reported once, by the endpoint.
        parameters = [
            _parameter("connection", HTTPConnection),
            _parameter(BODY_PARAMETER, Annotated[Any, Body()], default=None),
        ]
        resolver = resolver_of(registration)
        if resolver is not None:
            parameters.append(_parameter("principal", Annotated[Any, Depends(resolver)]))
        self.__signature__: inspect.Signature = inspect.Signature(parameters)

    async def __call__(
        self, *, connection: HTTPConnection, request_body: object, principal: object = None
    ) -> AsyncIterator[str]:
        """Admit one request, and keep its lease until the response has ended."""
        try:
            body = AGUIRequest.model_validate(request_body)
        except ValidationError:
            yield "not admitted"  # the endpoint finds the same, answers 422 and does not run
            return
        registration = self.registration
        try:
            Application.admit(registration, connection.scope)
            if inspect.isawaitable(principal):
                principal = await principal
            thread_id = check_thread_id(body.thread_id or str(uuid.uuid4()))
            lease = lease_for(registration, principal, thread_id)
            scope = scope_digest(
                registration.name, "" if principal is None else scope_text(principal)
            )
            detached = self._enter_detached(body, scope)
        except RegistrationError as error:
            refuse(error, connection)
        with own_context():
            try:
                run = await self._admitted(lease, principal, scope, thread_id, detached)
            except BaseException as error:
                if detached is not None:
                    detached.leave()
                if isinstance(error, RegistrationError):
                    refuse(error, connection)
                raise  # a runner of the user's that cannot be copied
            _run.set(run)
            try:
                yield scope
            finally:
                _run.set(None)
                await run.close()

    def _enter_detached(self, body: AGUIRequest, scope: str) -> DetachedRun | None:
        if self._detached is None:
            return None
        snapshots = self._fittings.snapshots is not None or self._persistence is not None
        if only_replays(body, snapshots=snapshots):
            return None  # nothing runs
        return self._detached.enter(scope)

    async def _admitted(
        self,
        lease: Lease[Any],
        principal: object,
        scope: str,
        thread_id: str,
        detached: DetachedRun | None,
    ) -> Run:
        """Take the instance, and its thread if that is in a store."""
        registration, persistence = self.registration, self._persistence
        if persistence is None:
            await lease.__aenter__()
            try:
                runner: Runner | PersistedRunner = lease.companion(self._runner_for)
            except BaseException:
                lease.release()
                raise
        else:
            new_lease = partial(lease_for, registration, principal, thread_id)
            hold = await take(new_lease, persistence)
            lease, runner = hold.lease, PersistedRunner(hold, scope)
        return Run(
            registration.name,
            lease,
            runner,
            thread_id=thread_id,
            renewable=isinstance(registration, ScopedRegistration | PerThreadRegistration),
            detached=detached,
        )

    def _runner_for(self, target: Target) -> Runner:
        return runner_for(target, self._fittings)


def _parameter(
    name: str, annotation: object, default: object = inspect.Parameter.empty
) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )
