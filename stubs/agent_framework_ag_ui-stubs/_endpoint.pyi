# Changed: the function has overloads for the registrations that isolate, and no others. An overload
# that returns Never would be accepted by every checker, so a mistake has none at all.

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeAlias, overload

from agent_framework import CheckpointStorage as CheckpointStorage
from agent_framework import RawAgent, SupportsAgentRun, Workflow
from fastapi import FastAPI as FastAPI
from fastapi import Request as Request
from fastapi.params import Depends
from fastapi.responses import Response as Response

from ._agent import AgentFrameworkAgent
from ._snapshots import AGUIThreadSnapshotStore
from ._snapshots import SnapshotScopeResolver as SnapshotScopeResolver
from ._workflow import AgentFrameworkWorkflow, WorkflowFactory

_AnyTarget: TypeAlias = (
    SupportsAgentRun | AgentFrameworkAgent[SupportsAgentRun] | Workflow | AgentFrameworkWorkflow
)
_ScopedTarget: TypeAlias = (
    RawAgent[Any] | AgentFrameworkAgent[RawAgent[Any]] | AgentFrameworkWorkflow[WorkflowFactory]
)

logger: logging.Logger
AuthorizationScopeResolver: TypeAlias = Callable[..., str | Awaitable[str]]
_DETACHED_READER_START_TIMEOUT_SECONDS: float
_DETACHED_STREAM_QUEUE_SIZE: int
_KEEPALIVE_COMMENT: str
_AUTHORIZATION_SCOPE_STATE_KEY: str
_SINGLE_USER_SCOPE_PREFIX: str

def _get_snapshot_store(
    protocol_runner: AgentFrameworkAgent | AgentFrameworkWorkflow,
) -> AGUIThreadSnapshotStore | None: ...
def _set_snapshot_store(
    protocol_runner: AgentFrameworkAgent | AgentFrameworkWorkflow,
    snapshot_store: AGUIThreadSnapshotStore,
) -> None: ...
def _configure_snapshot_persistence(
    protocol_runner: AgentFrameworkAgent | AgentFrameworkWorkflow,
    *,
    snapshot_store: AGUIThreadSnapshotStore | None,
) -> None: ...
def _validate_keepalive_seconds(keepalive_seconds: float | None) -> None: ...
def _validate_detached_run_options(
    max_detached_runs: int, detached_run_timeout_seconds: float
) -> None: ...
def _validate_authorization_scope_configuration(
    *,
    authorization_scope_resolver: AuthorizationScopeResolver | None,
    snapshot_scope_resolver: SnapshotScopeResolver | None,
    single_user: bool,
) -> None: ...
def _single_user_scope() -> str: ...
@overload
def add_agent_framework_fastapi_endpoint(
    app: FastAPI,
    agent: _AnyTarget,
    path: str = "/",
    state_schema: Any | None = None,
    predict_state_config: dict[str, dict[str, str]] | None = None,
    allow_origins: list[str] | None = None,
    default_state: dict[str, Any] | None = None,
    tags: list[str] | None = None,
    dependencies: Sequence[Depends] | None = None,
    snapshot_store: AGUIThreadSnapshotStore | None = None,
    snapshot_scope_resolver: None = None,
    checkpoint_storage: CheckpointStorage | None = None,
    keepalive_seconds: float | None = 15,
    a2ui_config: dict[str, Any] | None = None,
    detached_runs: bool = False,
    max_detached_runs: int = 32,
    detached_run_timeout_seconds: float = 3600,
    authorization_scope_resolver: None = None,
    *,
    single_user: Literal[True],
) -> None: ...
@overload
def add_agent_framework_fastapi_endpoint(
    app: FastAPI,
    agent: _ScopedTarget,
    path: str = "/",
    state_schema: Any | None = None,
    predict_state_config: dict[str, dict[str, str]] | None = None,
    allow_origins: list[str] | None = None,
    default_state: dict[str, Any] | None = None,
    tags: list[str] | None = None,
    dependencies: Sequence[Depends] | None = None,
    snapshot_store: AGUIThreadSnapshotStore | None = None,
    snapshot_scope_resolver: None = None,
    checkpoint_storage: CheckpointStorage | None = None,
    keepalive_seconds: float | None = 15,
    a2ui_config: dict[str, Any] | None = None,
    detached_runs: bool = False,
    max_detached_runs: int = 32,
    detached_run_timeout_seconds: float = 3600,
    *,
    authorization_scope_resolver: AuthorizationScopeResolver,
    single_user: Literal[False] = False,
) -> None: ...
