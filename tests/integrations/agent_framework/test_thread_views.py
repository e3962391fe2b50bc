"""The views of a leased document keep the framework's own protocols."""

from __future__ import annotations

import pytest
from agent_framework import Message, WorkflowCheckpointException
from agent_framework_ag_ui import AGUIThreadSnapshot, AGUIThreadSnapshotStore

from scoped_registration.integrations.agent_framework.checkpoints import ThreadCheckpoints
from scoped_registration.integrations.agent_framework.thread import ThreadSnapshots
from tests.integrations.agent_framework.kit import RecordingModel, make_workflow


def snapshots(*, remembers: bool = False) -> ThreadSnapshots:
    view = ThreadSnapshots(remembers=remembers)
    view.place = ("scope", "A")
    return view


async def test_a_transcript_is_copied_in_and_out() -> None:
    view = snapshots()
    assert isinstance(view, AGUIThreadSnapshotStore)
    snapshot = AGUIThreadSnapshot(messages=[{"id": "m1", "content": "hello"}], state={"n": 1})
    await view.save(scope="scope", thread_id="A", snapshot=snapshot)
    snapshot.messages[0]["content"] = "changed"
    found = await view.get(scope="scope", thread_id="A")
    assert found == AGUIThreadSnapshot(messages=[{"id": "m1", "content": "hello"}], state={"n": 1})
    assert found is not None
    found.messages.clear()
    assert await view.get(scope="scope", thread_id="A") != found
    assert await view.delete(scope="scope", thread_id="A")
    assert not await view.delete(scope="scope", thread_id="A")


@pytest.mark.parametrize("place", [("scope", "B"), ("other", "A")])
async def test_another_threads_transcript_is_not_there(place: tuple[str, str]) -> None:
    view = snapshots()
    await view.save(scope="scope", thread_id="A", snapshot=AGUIThreadSnapshot())
    scope, thread = place
    assert await view.get(scope=scope, thread_id=thread) is None
    assert not await view.delete(scope=scope, thread_id=thread)
    with pytest.raises(ValueError, match="another thread"):
        await view.save(scope=scope, thread_id=thread, snapshot=AGUIThreadSnapshot())
    await view.clear(scope="other")
    assert view.kept is not None
    await view.clear()
    assert view.kept is None


async def test_the_last_checkpoint_is_kept_and_restored(model: RecordingModel) -> None:
    ours = ThreadCheckpoints(frozenset())
    workflow = make_workflow(model)
    for text in ("hello", "hello again"):
        await workflow.run([Message("user", [text])], checkpoint_storage=ours)
    (kept,) = await ours.list_checkpoints(workflow_name=workflow.name)
    assert await ours.list_checkpoint_ids(workflow_name=workflow.name) == [kept.checkpoint_id]
    assert await ours.list_checkpoints(workflow_name="another") == []
    latest = await ours.get_latest(workflow_name=workflow.name)
    assert latest is not None
    loaded = await ours.load(kept.checkpoint_id)
    assert loaded.checkpoint_id == latest.checkpoint_id == kept.checkpoint_id
    assert loaded.state is not latest.state, "each is a copy"
    with pytest.raises(WorkflowCheckpointException):
        await ours.load("another")
    assert not await ours.delete("another")
    again = make_workflow(model)
    await ours.restore(again)
    await again.run([Message("user", ["and now"])])
    assert [text.partition(": ")[2] for text in model.calls[-1].texts] == [
        *("hello", "reply 1", "hello again", "reply 2", "and now")
    ]
    assert await ours.delete(kept.checkpoint_id)
    assert await ours.get_latest(workflow_name=workflow.name) is None
