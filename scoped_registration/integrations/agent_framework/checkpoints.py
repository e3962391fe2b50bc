"""Checkpoints of a thread: what is not its own does not exist."""

from __future__ import annotations

from typing import Any

from ag_ui.core import BaseEvent, RunErrorEvent
from agent_framework import (
    CheckpointStorage,
    Workflow,
    WorkflowCheckpoint,
    WorkflowCheckpointException,
)

from scoped_registration.integrations.agent_framework.upstream import (
    decode_checkpoint,
    encode_checkpoint,
)
from scoped_registration.runtime.report import log, report_failure

# Any: the framework's input is untyped.

__all__ = ["OwnCheckpoints", "ThreadCheckpoints", "as_foreign"]


class OwnCheckpoints:
    """A checkpoint storage that answers for an unknown id as for somebody else's.

    The framework stamps each checkpoint with its owner and refuses those of others. It
    answers differently for an id that does not exist, which would tell who asks that
    another one does. Here both are refused in the words for a foreign one.

    Args:
        storage: Where the checkpoints are.
        registration: The registration's name, for the log.
    """

    def __init__(self, storage: CheckpointStorage, registration: str) -> None:
        self._storage = storage
        self._registration = registration

    async def load(self, checkpoint_id: str) -> WorkflowCheckpoint:
        """Load a checkpoint.

        Raises:
            PermissionError: It is not there, or cannot be read.
        """
        try:
            return await self._storage.load(checkpoint_id)
        except WorkflowCheckpointException:
            pass
        except Exception as error:
            report_failure("a checkpoint could not be read", self._registration, error)
        raise PermissionError("the checkpoint is unavailable for this request")

    async def save(self, checkpoint: WorkflowCheckpoint) -> str:
        """Save a checkpoint."""
        return await self._storage.save(checkpoint)

    async def list_checkpoints(self, *, workflow_name: str) -> list[WorkflowCheckpoint]:
        """Return the checkpoints of a workflow."""
        return await self._storage.list_checkpoints(workflow_name=workflow_name)

    async def delete(self, checkpoint_id: str) -> bool:
        """Delete a checkpoint."""
        return await self._storage.delete(checkpoint_id)

    async def get_latest(self, *, workflow_name: str) -> WorkflowCheckpoint | None:
        """Return the latest checkpoint of a workflow."""
        return await self._storage.get_latest(workflow_name=workflow_name)

    async def list_checkpoint_ids(self, *, workflow_name: str) -> list[str]:
        """Return the ids of a workflow's checkpoints."""
        return await self._storage.list_checkpoint_ids(workflow_name=workflow_name)


class ThreadCheckpoints:
    """The framework's checkpoint storage, for the one thread that is leased: the last one.

    A checkpoint is encoded as the framework encodes it: JSON, with pickles of what is no
    JSON. Of those, only classes of the framework and the named ones are restored.

    Args:
        types: The named ones, each as ``module:qualname``.
    """

    def __init__(self, types: frozenset[str]) -> None:
        self.kept: dict[str, Any] | None = None
        self._types = types

    async def save(self, checkpoint: WorkflowCheckpoint) -> str:
        """Keep a checkpoint in place of the one before."""
        self.kept = encode_checkpoint(checkpoint)
        return checkpoint.checkpoint_id

    async def load(self, checkpoint_id: str) -> WorkflowCheckpoint:
        """Return the checkpoint, if it is the last one."""
        for checkpoint in self._all():
            if checkpoint.checkpoint_id == checkpoint_id:
                return checkpoint
        raise WorkflowCheckpointException("the thread has no such checkpoint")

    async def list_checkpoints(self, *, workflow_name: str) -> list[WorkflowCheckpoint]:
        """Return the checkpoint, if it is of that workflow."""
        return [one for one in self._all() if one.workflow_name == workflow_name]

    async def delete(self, checkpoint_id: str) -> bool:
        """Forget the checkpoint, if it is the last one."""
        found = any(one.checkpoint_id == checkpoint_id for one in self._all())
        if found:
            self.kept = None
        return found

    async def get_latest(self, *, workflow_name: str) -> WorkflowCheckpoint | None:
        """Return the checkpoint, if it is of that workflow."""
        return next(iter(await self.list_checkpoints(workflow_name=workflow_name)), None)

    async def list_checkpoint_ids(self, *, workflow_name: str) -> list[str]:
        """Return the id of the checkpoint, if it is of that workflow."""
        found = await self.list_checkpoints(workflow_name=workflow_name)
        return [one.checkpoint_id for one in found]

    async def restore(self, workflow: Workflow) -> None:
        """Bring a new workflow to where the checkpoint was made, which runs nothing.

        Raises:
            WorkflowCheckpointException: The checkpoint is of another graph, or unreadable.
        """
        kept = self.kept
        for checkpoint in self._all():
            stream = workflow.run(
                checkpoint_id=checkpoint.checkpoint_id, checkpoint_storage=self, stream=True
            )
            async for _ in stream:
                pass
        self.kept = kept  # that run has made checkpoints of its own, which belong to nobody

    def _all(self) -> list[WorkflowCheckpoint]:
        return [] if self.kept is None else [decode_checkpoint(self.kept, self._types)]


def as_foreign(event: BaseEvent, input_data: dict[str, Any], registration: str) -> BaseEvent:
    """Return an event, one of a checkpoint that could not be loaded in other words.

    A runner with a `run` or a `workflow_factory` of its own may use a storage that nobody
    else knows, and tells an unknown id, and the storage's errors, to the client.
    """
    if not isinstance(event, RunErrorEvent) or event.code != "WORKFLOW_CHECKPOINT_LOAD_FAILED":
        return event
    log.warning("registration %r: a checkpoint was asked for that cannot be read", registration)
    properties = input_data["forwarded_props"]
    asked = properties.get("checkpoint_id") or properties.get("checkpointId")
    return RunErrorEvent(
        message=f"No pending interrupt found for checkpointId '{asked}'.",
        code="WORKFLOW_RESUME_NOT_FOUND",
    )
