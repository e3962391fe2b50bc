"""A thread of an endpoint as one document: its checkpoint, its transcript, what it has heard.

The framework reads and writes it through two of its own protocols. They are views: nothing
leaves this worker before the run commits the document as a whole.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from collections.abc import AsyncGenerator
from typing import Any, Final, cast

import attrs
from ag_ui.core import BaseEvent, RunErrorEvent, RunFinishedEvent, ToolCallResultEvent
from agent_framework import Workflow
from agent_framework_ag_ui import AGUIThreadSnapshot, AGUIThreadSnapshotStore

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.integrations.agent_framework.checkpoints import ThreadCheckpoints
from scoped_registration.integrations.agent_framework.runners import (
    Fittings,
    Runner,
    Target,
    runner_for,
    served,
)
from scoped_registration.integrations.agent_framework.upstream import own_pending_requests
from scoped_registration.persistence.codec import seal, unreadable, unseal
from scoped_registration.persistence.hold import Hold
from scoped_registration.runtime.report import log, report_failure
from scoped_registration.stores.protocol import LeaseLostError

# Any: messages and snapshots are JSON, and untyped in the framework.

__all__ = ["PersistedRunner", "Thread", "ThreadSnapshots"]

_VERSION: Final = 1
_OWN_ROLES: Final = ("assistant", "reasoning", "activity")  # what a run says
_Message = dict[str, Any]


class ThreadSnapshots:
    """The framework's snapshot store, for the one thread that is leased.

    A workflow remembers by itself what was said. It is shown the transcript only where the
    transcript alone is asked for: put before each new message, it would be said again.

    Args:
        remembers: Whether the target is such a workflow.
    """

    def __init__(self, *, remembers: bool) -> None:
        self.kept: AGUIThreadSnapshot | None = None
        self.place: tuple[str, str] | None = None  # scope and thread id
        self.replays: bool = False
        self._remembers = remembers

    async def get(self, *, scope: str, thread_id: str) -> AGUIThreadSnapshot | None:
        """Return the transcript, if it is that thread's."""
        if (scope, thread_id) != self.place:
            return None
        found = copy.deepcopy(self.kept)
        if found is not None and self._remembers and not self.replays:
            found.messages = []
        return found

    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        """Keep a transcript.

        Raises:
            ValueError: It is another thread's.
        """
        if (scope, thread_id) != self.place:
            raise ValueError("a transcript of another thread was to be kept")
        saved = copy.deepcopy(snapshot)
        if self.kept is not None and self._remembers:
            fresh = {message.get("id") for message in saved.messages}
            before = [one for one in self.kept.messages if one.get("id") not in fresh]
            saved.messages = before + saved.messages
        self.kept = saved

    async def delete(self, *, scope: str, thread_id: str) -> bool:
        """Forget the transcript, if it is that thread's."""
        if (scope, thread_id) != self.place or self.kept is None:
            return False
        self.kept = None
        return True

    async def clear(self, *, scope: str | None = None) -> None:
        """Forget the transcript, if it is of that scope."""
        if self.place is not None and scope in {None, self.place[0]}:
            self.kept = None


class Thread:
    """What an instance of an endpoint holds of its thread.

    Args:
        target: The instance.
        fittings: What the endpoint adds to its runner.
        types: Classes beside the framework's own that a checkpoint may hold.
    """

    def __init__(self, target: Target, fittings: Fittings, types: frozenset[str]) -> None:
        self.version: int | None = None
        self.writer: str | None = None
        inner = served(target)
        self._workflow = inner if isinstance(inner, Workflow) else None
        self._registration = fittings.registration
        self._snapshots = ThreadSnapshots(remembers=self._workflow is not None)
        self._checkpoints = ThreadCheckpoints(types)
        self._heard: dict[str, None] = {}  # ids, in their order
        self._loaded = _digest(self._content())
        fittings = attrs.evolve(fittings, snapshots=self._snapshots)
        if self._workflow is not None:
            fittings = attrs.evolve(fittings, checkpoints=self._checkpoints)
        self.runner: Runner = runner_for(target, fittings)

    async def load(self, document: bytes | None) -> None:
        """Bring a new instance to where the last run has left the thread."""
        if document is None:
            return
        content, _ = unseal(document, newest=_VERSION, registration=self._registration)
        try:
            data = json.loads(content)
            self._checkpoints.kept = data["checkpoint"]
            snapshot = data["snapshot"]
            self._snapshots.kept = None if snapshot is None else AGUIThreadSnapshot(**snapshot)
            self._heard = dict.fromkeys(data["heard"])
            if self._workflow is not None:
                await self._checkpoints.restore(self._workflow)
        except Exception as error:
            report_failure("a thread could not be restored", self._registration, error)
            why = f"it failed with {type(error).__qualname__}"
            raise unreadable(why, self._registration) from None
        self._loaded = _digest(self._content())

    def dump(self) -> bytes | None:
        """Return the document of now; None if nothing has changed."""
        try:
            content = self._content()
        except (TypeError, ValueError) as error:
            report_failure("a thread could not be written", self._registration, error)
            raise RegistrationError(
                ReasonCode.DOCUMENT_UNWRITABLE,
                "the state of a thread was not committed: a part of it is no JSON value",
                registration=self._registration,
            ) from None
        digest = _digest(content)
        if digest == self._loaded:
            return None
        self._loaded = digest
        return seal(content, _VERSION)

    async def begin(self, input_data: dict[str, Any], scope: str) -> None:
        """Prepare a run: a workflow is told what it has not heard yet.

        A client may send the whole conversation each time, or the same message again after
        an answer that did not arrive.
        """
        messages: list[_Message] = input_data.get("messages") or []
        self._snapshots.place = place = (scope, str(input_data["thread_id"]))
        if self._workflow is not None:
            await own_pending_requests(self._workflow, place)
            messages = [one for one in messages if not self._is_old(one)]
            input_data["messages"] = messages
            if not input_data.get("resume"):  # an answer is told alone: what came with it is not
                self._heard |= dict.fromkeys(filter(None, map(_id, messages)))
        self._snapshots.replays = not messages and not input_data.get("resume")

    def hear(self, event: BaseEvent) -> None:
        """Note what the run itself has said, which a client may send back."""
        if self._workflow is not None and isinstance(event, ToolCallResultEvent):
            self._heard[event.message_id] = None

    def _is_old(self, message: _Message) -> bool:
        return message.get("role") in _OWN_ROLES or _id(message) in self._heard

    def _content(self) -> bytes:
        snapshot = self._snapshots.kept
        data = {
            "checkpoint": self._checkpoints.kept,
            "snapshot": None if snapshot is None else dataclasses.asdict(snapshot),
            "heard": [*self._heard],
        }
        return json.dumps(data).encode()


def _id(message: _Message) -> str | None:
    """Return a message's id, unless it has none: a client may send anything."""
    found: object = message.get("id")
    return found if isinstance(found, str) else None


def _digest(content: bytes) -> bytes:
    """Return what tells a document from another, and is smaller than it."""
    return hashlib.sha256(content).digest()


class PersistedRunner:
    """Runs the target of a thread, and says that a run has finished when it is committed.

    Args:
        hold: The instance and its thread.
        scope: The digest of the principal.
    """

    def __init__(self, hold: Hold[Any], scope: str) -> None:
        self.hold = hold
        self._thread = cast(Thread, hold.state)  # the endpoint's persistence makes no other
        self._scope = scope

    @property
    def inner(self) -> Runner:
        """The framework's runner of the target."""
        return self._thread.runner

    @property
    def snapshot_store(self) -> AGUIThreadSnapshotStore | None:
        """The transcript of the thread."""
        return self._thread.runner.snapshot_store

    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        """Run, commit, and then yield the last event."""
        await self._thread.begin(input_data, self._scope)
        finished: BaseEvent | None = None
        failed = False
        async for event in self._thread.runner.run(input_data):
            self._thread.hear(event)
            failed = failed or isinstance(event, RunErrorEvent)
            if isinstance(event, RunFinishedEvent):
                finished = event  # the framework saves the transcript after it
            else:
                yield event
        if finished is None or failed:
            return
        try:
            await self.hold.commit()
        except LeaseLostError:
            return  # the run says so
        except RegistrationError as error:
            log.error("a run was not committed: %s", error)
            yield RunErrorEvent(message=error.problem, code=str(error.code))
        else:
            yield finished
