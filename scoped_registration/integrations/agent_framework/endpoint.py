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
from contextlib import aclosing
from contextvars import ContextVar
from typing import Annotated, Any

import anyio
from ag_ui.core import BaseEvent, RunFinishedEvent, ToolCallStartEvent
from agent_framework_ag_ui import AgentFrameworkWorkflow, AGUIThreadSnapshotStore
from fastapi import Body, Depends
from pydantic import ValidationError
from starlette.requests import HTTPConnection
from typing_extensions import override

from scoped_registration.errors import RegistrationError
from scoped_registration.integrations.agent_framework.targets import Runner, runner_for
from scoped_registration.integrations.agent_framework.upstream import BODY_PARAMETER, AGUIRequest
from scoped_registration.integrations.fastapi import lease_for, refuse, resolver_of
from scoped_registration.registration import Registration
from scoped_registration.runtime.lease import Lease
from scoped_registration.runtime.report import report_failure
from scoped_registration.scope import check_thread_id, scope_digest, scope_text

__all__ = ["Admission", "Endpoint"]

_CLOSING_SECONDS = 10.0


class Run:
    """One admitted request: its lease, and the events that are made under it."""

    def __init__(
        self, registration: str, lease: Lease[Any], runner: Runner, thread_id: str
    ) -> None:
        self._registration = registration
        self._lease = lease
        self._runner = runner
        self._thread_id = thread_id
        self._events: AsyncGenerator[BaseEvent, None] | None = None

    def events(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        """Return the events of the run, once."""
        if self._events is not None:
            raise RuntimeError("an admitted run yields its events once")
        # The framework would make up an id of its own; the lease is for this one.
        input_data["thread_id"] = self._thread_id
        self._events = self._watch(input_data)
        return self._events

    async def _watch(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        asks = False
        async with aclosing(self._runner.run(input_data)) as events:
            async for event in events:
                if isinstance(event, RunFinishedEvent):
                    asks = getattr(event.outcome, "type", None) == "interrupt"
                elif isinstance(event, ToolCallStartEvent):
                    asks = asks or event.tool_call_name == "request_info"
                self._lease.pin(asks)
                yield event

    async def close(self) -> None:
        """End the events, if the body did not, and give the lease back."""
        try:
            if self._events is not None:
                with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                    await self._events.aclose()
        except Exception as error:
            report_failure("a run did not end properly", self._registration, error)
        finally:
            self._lease.release()


_run: ContextVar[Run | None] = ContextVar("scoped_registration_ag_ui_run", default=None)


class Endpoint(AgentFrameworkWorkflow):
    """What the framework's endpoint serves: each run belongs to the request's lease."""

    def __init__(
        self, registration: Registration[Any], snapshots: AGUIThreadSnapshotStore | None
    ) -> None:
        super().__init__(name=registration.name, snapshot_store=snapshots)

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
        snapshots: AGUIThreadSnapshotStore | None,
        checkpoints: Any,
    ) -> None:
        self.registration = registration
        self._snapshots = snapshots
        self._checkpoints = checkpoints
        # The endpoint declares the same body under the same name, so FastAPI reads one body;
        # as Any, so that what is wrong with it is reported once, by the endpoint.
        parameters: dict[str, Any] = {
            "connection": HTTPConnection,
            BODY_PARAMETER: Annotated[Any, Body()],
        }
        resolver = resolver_of(registration)
        if resolver is not None:
            parameters["principal"] = Annotated[Any, Depends(resolver)]
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
                for name, annotation in parameters.items()
            ]
        )

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
            if inspect.isawaitable(principal):
                principal = await principal
            thread_id = check_thread_id(body.thread_id or str(uuid.uuid4()))
            lease = lease_for(registration, principal, thread_id)
            scope = scope_digest(
                registration.name, "" if principal is None else scope_text(principal)
            )
            await lease.__aenter__()
        except RegistrationError as error:
            refuse(error, connection)
        run = Run(registration.name, lease, lease.companion(self._runner_for), thread_id)
        _run.set(run)
        try:
            yield scope
        finally:
            _run.set(None)
            await run.close()

    def _runner_for(self, target: Any) -> Runner:
        return runner_for(target, self._snapshots, self._checkpoints)
