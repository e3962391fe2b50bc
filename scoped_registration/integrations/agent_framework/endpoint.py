"""The framework's own endpoint, run on an instance that is leased from the pool.

The dependency `Admission` stands where the framework wants its scope resolver. It finds
out who calls, takes the lease while an error can still be a status, and leaves it in a
context variable. `Endpoint`, whose documented `run` the framework calls for the body,
picks it up there. The framework's endpoint stays the endpoint.
"""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextvars import ContextVar
from functools import partial
from typing import Annotated, Any, cast

import anyio
from ag_ui.core import BaseEvent, RunFinishedEvent, ToolCallStartEvent
from agent_framework import CheckpointStorage
from agent_framework_ag_ui import AgentFrameworkWorkflow, AGUIThreadSnapshotStore
from fastapi import Body, Depends
from pydantic import ValidationError
from starlette.requests import HTTPConnection
from typing_extensions import override

from scoped_registration.errors import RegistrationError
from scoped_registration.integrations.agent_framework.runners import (
    Runner,
    Target,
    bring_to_rest,
    is_spent,
    runner_for,
)
from scoped_registration.integrations.agent_framework.upstream import BODY_PARAMETER, AGUIRequest
from scoped_registration.integrations.application import Application
from scoped_registration.integrations.fastapi import lease_for, refuse, resolver_of
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    ScopedRegistration,
)
from scoped_registration.runtime.lease import Lease, own_context
from scoped_registration.runtime.report import log, report_failure
from scoped_registration.scope import check_thread_id, scope_digest, scope_text

# Any: the framework's input and its events are untyped; a registration serves any target.

__all__ = ["Admission", "Endpoint"]

_CLOSING_SECONDS = 10.0


class Run:
    """One admitted request: its lease, and the run whose events are sent under it.

    The run has a task of its own. The framework's streams are nested generators: closed
    from outside, the inner ones end some time later, when they are collected. Cancelled
    where it waits, a run unwinds from the inside, and is over when its task is.
    """

    def __init__(
        self,
        registration: str,
        lease: Lease[Any],
        runner: Runner,
        thread_id: str,
        retire: Callable[[], bool],
    ) -> None:
        self._registration = registration
        self._lease = lease
        self._retire = retire
        self._runner = runner
        self._thread_id = thread_id
        # The run is one event ahead of its reader. A stream of anyio would go through the event
        # loop twice for each event; None wakes a reader at the end.
        self._events: asyncio.Queue[BaseEvent | None] = asyncio.Queue(1)
        self._unread = False
        self._task: asyncio.Task[None] | None = None
        self._failure_was_sent = False
        self._sending = False

    async def events(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        """Yield the events of the run, once."""
        if self._task is not None:
            raise RuntimeError("an admitted run yields its events once")
        # The framework would make up an id of its own; the lease is for this one.
        input_data["thread_id"] = self._thread_id
        self._task = asyncio.create_task(self._run(input_data))
        # However it ends, before its first step too, nobody waits for another event.
        self._task.add_done_callback(self._wake_reader)
        while not (self._task.done() and self._events.empty()):
            event = await self._events.get()
            if event is not None:
                yield event
        self._failure_was_sent = True
        await self._task

    async def _run(self, input_data: dict[str, Any]) -> None:
        async for event in self._runner.run(input_data):
            # A run that fails settles no question that was open before it: the pin stays.
            if isinstance(event, RunFinishedEvent):
                self._lease.pin(getattr(event.outcome, "type", None) == "interrupt")
            elif isinstance(event, ToolCallStartEvent) and event.tool_call_name == "request_info":
                self._lease.pin(True)
            if not self._unread:
                self._sending = True
                await self._events.put(event)
                self._sending = False

    def _wake_reader(self, _: object) -> None:
        if self._events.empty():
            self._events.put_nowait(None)

    async def close(self) -> None:
        """End the run, if it has not ended, and give the lease back.

        That is done in a task of its own, which goes on if the request is cancelled again.
        """
        ending = asyncio.create_task(self._end())
        _ending.add(ending)
        ending.add_done_callback(_ending.discard)
        with anyio.CancelScope(shield=True):
            await asyncio.shield(ending)

    async def _end(self) -> None:
        try:
            if await self._has_ended() and await is_spent(self._runner):
                anew = self._retire()
                log.warning(
                    "registration %r: a run was cut short and left its workflow in a state from "
                    "which it cannot be run again; %s",
                    self._registration,
                    "the next run begins with a new instance"
                    if anew
                    else "what the run had under way is dropped",
                )
                if not anew:
                    await bring_to_rest(self._runner)
        except Exception as error:  # of a status that the framework no longer has
            report_failure("a run's end could not be judged", self._registration, error)
        finally:
            if self._task is None or self._task.done():
                self._lease.release()
            else:  # it ignores its cancellation: nobody else runs this instance
                self._retire()
                self._task.add_done_callback(lambda _: self._lease.release())

    async def _has_ended(self) -> bool:
        self._unread = True
        if not self._events.empty():
            self._events.get_nowait()
        task = self._task
        if task is None:
            return True
        # Who sends to nobody goes on at once, into the run, where it can be cancelled.
        while self._sending and not task.done():  # noqa: ASYNC110
            await asyncio.sleep(0)
        task.cancel()
        _, pending = await asyncio.wait({task}, timeout=_CLOSING_SECONDS)
        error = TimeoutError() if pending else None if task.cancelled() else task.exception()
        if error is not None and not self._failure_was_sent:
            report_failure("a run did not end properly", self._registration, error)
        return not pending


_ending: set[asyncio.Task[None]] = set()
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
        checkpoints: CheckpointStorage | None,
    ) -> None:
        self.registration = registration
        self._snapshots = snapshots
        self._checkpoints = checkpoints
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
        except RegistrationError as error:
            refuse(error, connection)
        with own_context():
            try:
                await lease.__aenter__()
            except RegistrationError as error:
                refuse(error, connection)
            try:
                runner = lease.companion(self._runner_for)
            except BaseException:  # a runner of the user's that cannot be copied
                lease.release()
                raise
            retire = partial(_retire, registration, principal, thread_id)
            run = Run(registration.name, lease, runner, thread_id, retire)
            _run.set(run)
            try:
                yield scope
            finally:
                _run.set(None)
                await run.close()

    def _runner_for(self, target: Target) -> Runner:
        return runner_for(target, self._snapshots, self._checkpoints)


def _retire(registration: Any, principal: object, thread_id: str) -> bool:
    """Let the next request of this key begin with a new instance, where there is a factory."""
    match registration:
        case ScopedRegistration():
            cast("Any", registration).invalidate(scope=principal, thread_id=thread_id)
        case PerThreadRegistration():
            registration.invalidate(thread_id=thread_id)
        case _:
            return False  # there is one instance, and it is the user's
    return True


def _parameter(
    name: str, annotation: object, default: object = inspect.Parameter.empty
) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )
