"""One admitted run: its lease, its task, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import anyio
from ag_ui.core import BaseEvent, RunErrorEvent, RunFinishedEvent, ToolCallStartEvent
from agent_framework_ag_ui import AGUIThreadSnapshotStore

from scoped_registration.integrations.agent_framework.checkpoints import as_foreign
from scoped_registration.integrations.agent_framework.detached import DetachedRun
from scoped_registration.integrations.agent_framework.runners import (
    Runner,
    bring_to_rest,
    is_spent,
)
from scoped_registration.integrations.agent_framework.thread import PersistedRunner
from scoped_registration.integrations.agent_framework.upstream import AGUIRequest, only_replays
from scoped_registration.persistence.turn import in_background
from scoped_registration.runtime.lease import Lease
from scoped_registration.runtime.report import log, report_failure
from scoped_registration.stores.protocol import lease_lost

# Any: the framework's input is untyped; a registration serves any target.

__all__ = ["Run"]

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
        runner: Runner | PersistedRunner,
        *,
        thread_id: str,
        renewable: bool,
        detached: DetachedRun | None = None,
    ) -> None:
        self._registration = registration
        self._lease = lease
        self._renewable = renewable  # by a factory: else there is one instance, the user's
        self._detached = detached
        self._runner = runner
        self._inner: Runner = runner.inner if isinstance(runner, PersistedRunner) else runner
        self._hold = runner.hold if isinstance(runner, PersistedRunner) else None
        self._thread_id = thread_id
        # The run is one event ahead of its reader. A stream of anyio would go through the event
        # loop twice for each event; None wakes a reader at the end.
        self._events: asyncio.Queue[BaseEvent | None] = asyncio.Queue(1)
        self._unread = False
        self._task: asyncio.Task[None] | None = None
        self._failure_was_sent = False
        self._sending = False
        self._lost = False
        self._ended = False  # the reader is told how
        if self._hold is not None:
            self._hold.turn.when_lost(self._lose)

    @property
    def snapshot_store(self) -> AGUIThreadSnapshotStore | None:
        """Where the runner keeps transcripts, if it does."""
        return self._runner.snapshot_store

    async def events(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        """Yield the events of the run, once."""
        if self._task is not None:
            raise RuntimeError("an admitted run yields its events once")
        if self._lost:
            yield _lost()
            return
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
        if self._lost:
            if not self._ended:
                yield _lost()
            return
        await self._task

    async def _run(self, input_data: dict[str, Any]) -> None:
        # A stored transcript tells what was open when it was stored: nothing of the instance.
        replays = not input_data.get("messages") and only_replays(
            AGUIRequest.model_validate(input_data),
            snapshots=self._runner.snapshot_store is not None,
        )
        async for happened in self._runner.run(input_data):
            event = as_foreign(happened, input_data, self._registration)
            # A run that fails settles no question that was open before it: the pin stays.
            if isinstance(event, RunFinishedEvent) and not replays:
                self._lease.pin(getattr(event.outcome, "type", None) == "interrupt")
            elif isinstance(event, ToolCallStartEvent) and event.tool_call_name == "request_info":
                self._lease.pin(True)
            if not self._unread:
                self._sending = True
                await self._events.put(event)
                self._sending = False
                self._ended = self._ended or isinstance(event, RunErrorEvent | RunFinishedEvent)

    def _lose(self) -> None:
        """End the run: another worker has its thread."""
        self._lost = True
        if self._task is not None:
            self._task.cancel()

    def _wake_reader(self, _: object) -> None:
        if self._events.empty():
            self._events.put_nowait(None)

    async def close(self) -> None:
        """End the run, if it has not ended, and give the lease back.

        That is done in a task of its own, which goes on if the request is cancelled again. A
        detached run that has not ended goes on there, and the request does not wait for it.
        """
        ending = in_background(self._end())
        if self._detached is not None and self._task is not None and not self._task.done():
            return
        with anyio.CancelScope(shield=True):
            await asyncio.shield(ending)

    async def _end(self) -> None:
        try:
            if await self._has_ended() and await is_spent(self._inner):
                self._retire()
                log.warning(
                    "registration %r: a run was cut short and left its workflow in a state from "
                    "which it cannot be run again; %s",
                    self._registration,
                    "the next run begins with a new instance"
                    if self._renewable
                    else "what the run had under way is dropped",
                )
                if not self._renewable:
                    await bring_to_rest(self._inner)
        except Exception as error:  # of a status that the framework no longer has
            report_failure("a run's end could not be judged", self._registration, error)
        finally:
            if self._task is None or self._task.done():
                await self._release()
            else:  # it ignores its cancellation: nobody else runs this instance
                self._retire()
                self._task.add_done_callback(lambda _: in_background(self._release()))

    def _retire(self) -> None:
        """Let the next run of this key begin with a new instance, where there is a factory."""
        if self._renewable:
            self._lease.retire()

    async def _release(self) -> None:
        try:
            if self._hold is None:
                self._lease.release()
            else:
                await self._hold.end()
        finally:
            if self._detached is not None:
                self._detached.leave()

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
        if self._detached is not None and not task.done():
            await self._detached.finish(task)
        task.cancel()
        _, pending = await asyncio.wait({task}, timeout=_CLOSING_SECONDS)
        error = TimeoutError() if pending else None if task.cancelled() else task.exception()
        if error is not None and not self._failure_was_sent:
            report_failure("a run did not end properly", self._registration, error)
        return not pending


def _lost() -> RunErrorEvent:
    error = lease_lost()
    return RunErrorEvent(message=error.problem, code=str(error.code))
