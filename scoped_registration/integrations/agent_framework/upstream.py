"""The names of agent-framework that are not public, each in this one place.

A test fails when one of them goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from agent_framework import CheckpointStorage, Workflow, WorkflowCheckpoint
from agent_framework._workflows._checkpoint_encoding import (
    decode_checkpoint_value,
    encode_checkpoint_value,
)

# The request model of the endpoint: FastAPI merges equal body parameters by their name.
from agent_framework_ag_ui import AgentFrameworkWorkflow, AGUIRequest
from agent_framework_ag_ui._run_common import (
    _is_snapshot_hydration_request,  # pyright: ignore[reportPrivateUsage]
)
from agent_framework_ag_ui._workflow import (
    _REQUEST_OWNER_ATTRIBUTE,  # pyright: ignore[reportPrivateUsage]
    _workflow_checkpoint_storage,  # pyright: ignore[reportPrivateUsage]
)
from agent_framework_ag_ui._workflow_run import (
    _pending_request_events,  # pyright: ignore[reportPrivateUsage]
)

# Any: a checkpoint's values are of any type.

__all__ = [
    "BODY_PARAMETER",
    "AGUIRequest",
    "built_in_checkpoints_of",
    "decode_checkpoint",
    "drop_undelivered_messages",
    "encode_checkpoint",
    "has_undelivered_messages",
    "only_replays",
    "own_pending_requests",
    "workflow_factory_of",
]

BODY_PARAMETER = "request_body"
"""The endpoint function's name for its body. Under another name, FastAPI would want both."""


def only_replays(body: AGUIRequest, *, snapshots: bool) -> bool:
    """Tell whether a request asks for the stored transcript alone, and runs nothing."""
    return _is_snapshot_hydration_request(
        body.model_dump(exclude_none=True),
        snapshot_enabled=snapshots,
        supports_checkpoint_resume=True,
    )


def workflow_factory_of(runner: AgentFrameworkWorkflow) -> Callable[[str], Workflow] | None:
    """Return the `workflow_factory` that a runner was made with."""
    # A subclass with a run of its own need not have called its base.
    return getattr(runner, "_workflow_factory", None)


def built_in_checkpoints_of(workflow: Workflow) -> CheckpointStorage | None:
    """Return the storage that a workflow was built with; the framework falls back on it."""
    return _workflow_checkpoint_storage(workflow)


async def has_undelivered_messages(workflow: Workflow) -> bool:
    """Tell whether executors were left with messages; the framework then starts no new run."""
    return await workflow._runner.context.has_messages()  # pyright: ignore[reportPrivateUsage]


async def drop_undelivered_messages(workflow: Workflow) -> None:
    """Drop what a run that was cut short left under way; conversations and state stay."""
    await workflow._runner.context.drain_messages()  # pyright: ignore[reportPrivateUsage]


async def own_pending_requests(workflow: Workflow, owner: tuple[str, str]) -> None:
    """Say whose the open questions of a restored workflow are, by (scope, thread id).

    The framework says so in the process that asks. Elsewhere it would refuse the answers.
    """
    for event in (await _pending_request_events(workflow)).values():
        if getattr(event, _REQUEST_OWNER_ATTRIBUTE, None) is None:
            setattr(event, _REQUEST_OWNER_ATTRIBUTE, owner)


def encode_checkpoint(checkpoint: WorkflowCheckpoint) -> dict[str, Any]:
    """Return a checkpoint as JSON values, with pickles of what is none."""
    return cast("dict[str, Any]", encode_checkpoint_value(checkpoint.to_dict()))


def decode_checkpoint(encoded: dict[str, Any], types: frozenset[str]) -> WorkflowCheckpoint:
    """Return a checkpoint, restoring classes of the framework and the named ones alone."""
    decoded = decode_checkpoint_value(encoded, allowed_types=types)
    return WorkflowCheckpoint.from_dict(cast("dict[str, Any]", decoded))
