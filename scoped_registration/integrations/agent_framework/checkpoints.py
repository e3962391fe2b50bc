"""Checkpoints of a thread: what is not its own does not exist."""

from __future__ import annotations

from agent_framework import CheckpointStorage, WorkflowCheckpoint, WorkflowCheckpointException

from scoped_registration.runtime.report import report_failure

__all__ = ["OwnCheckpoints"]


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
