"""Stores of agent-framework that record what is saved in them."""

from __future__ import annotations

import pickle

from agent_framework import CheckpointStorage, WorkflowCheckpoint
from agent_framework_ag_ui import AGUIThreadSnapshot, AGUIThreadSnapshotStore
from typing_extensions import override

from scoped_registration.testing.findings import Place
from scoped_registration.testing.recorders import Recorder

__all__ = ["RecordedCheckpoints", "RecordedSnapshots"]


class RecordedSnapshots(AGUIThreadSnapshotStore):
    """A store of thread snapshots that tells a recorder what is saved.

    Args:
        store: The store that keeps them.
        recorder: Who is told.

    Example:
        ```python
        store = RecordedSnapshots(InMemoryAGUIThreadSnapshotStore(), recorder)
        ```
    """

    def __init__(self, store: AGUIThreadSnapshotStore, recorder: Recorder) -> None:
        self._store = store
        self._recorder = recorder

    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        self._recorder.note(Place.SNAPSHOT, repr(snapshot))
        await self._store.save(scope=scope, thread_id=thread_id, snapshot=snapshot)

    @override
    async def get(self, *, scope: str, thread_id: str) -> AGUIThreadSnapshot | None:
        return await self._store.get(scope=scope, thread_id=thread_id)

    @override
    async def delete(self, *, scope: str, thread_id: str) -> bool:
        return await self._store.delete(scope=scope, thread_id=thread_id)

    @override
    async def clear(self, *, scope: str | None = None) -> None:
        await self._store.clear(scope=scope)


class RecordedCheckpoints(CheckpointStorage):
    """A storage of workflow checkpoints that tells a recorder what is saved.

    Args:
        storage: The storage that keeps them.
        recorder: Who is told.

    Example:
        ```python
        storage = RecordedCheckpoints(InMemoryCheckpointStorage(), recorder)
        ```
    """

    def __init__(self, storage: CheckpointStorage, recorder: Recorder) -> None:
        self._storage = storage
        self._recorder = recorder

    @override
    async def save(self, checkpoint: WorkflowCheckpoint) -> str:
        self._recorder.note(Place.CHECKPOINT, _text_of(checkpoint))
        return await self._storage.save(checkpoint)

    @override
    async def load(self, checkpoint_id: str) -> WorkflowCheckpoint:
        return await self._storage.load(checkpoint_id)

    @override
    async def list_checkpoints(self, *, workflow_name: str) -> list[WorkflowCheckpoint]:
        return await self._storage.list_checkpoints(workflow_name=workflow_name)

    @override
    async def delete(self, checkpoint_id: str) -> bool:
        return await self._storage.delete(checkpoint_id)

    @override
    async def get_latest(self, *, workflow_name: str) -> WorkflowCheckpoint | None:
        return await self._storage.get_latest(workflow_name=workflow_name)

    @override
    async def list_checkpoint_ids(self, *, workflow_name: str) -> list[str]:
        return await self._storage.list_checkpoint_ids(workflow_name=workflow_name)


def _text_of(checkpoint: WorkflowCheckpoint) -> str:
    """Return a text that shows those of a checkpoint, which holds objects of any kind."""
    try:
        return pickle.dumps(checkpoint).decode("latin-1")
    except Exception:  # whatever the objects raise; the storage may be able to keep them
        return repr(checkpoint)
