"""The names of agent-framework that are not public, each in this one place.

A test fails when one of them goes.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_framework import CheckpointStorage, Workflow

# The request model of the endpoint: FastAPI merges equal body parameters by their name.
from agent_framework_ag_ui import AgentFrameworkWorkflow, AGUIRequest
from agent_framework_ag_ui._run_common import (
    _is_snapshot_hydration_request,  # pyright: ignore[reportPrivateUsage]
)
from agent_framework_ag_ui._workflow import (
    _workflow_checkpoint_storage,  # pyright: ignore[reportPrivateUsage]
)

__all__ = [
    "BODY_PARAMETER",
    "AGUIRequest",
    "built_in_checkpoints_of",
    "drop_undelivered_messages",
    "has_undelivered_messages",
    "only_replays",
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
    return runner._workflow_factory  # pyright: ignore[reportPrivateUsage]


def built_in_checkpoints_of(workflow: Workflow) -> CheckpointStorage | None:
    """Return the storage that a workflow was built with; the framework falls back on it."""
    return _workflow_checkpoint_storage(workflow)


async def has_undelivered_messages(workflow: Workflow) -> bool:
    """Tell whether executors were left with messages; the framework then starts no new run."""
    return await workflow._runner.context.has_messages()  # pyright: ignore[reportPrivateUsage]


async def drop_undelivered_messages(workflow: Workflow) -> None:
    """Drop what a run that was cut short left under way; conversations and state stay."""
    await workflow._runner.context.drain_messages()  # pyright: ignore[reportPrivateUsage]
