import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ._types import AGUIRequest

SnapshotScope: TypeAlias = str
AGUIThreadID: TypeAlias = str
SnapshotScopeResolver: TypeAlias = Callable[[AGUIRequest], str | Awaitable[str]]
_SESSION_ID_VERSION: int
_SESSION_ID_PREFIX: str
_SCOPED_SESSION_ID_PREFIX: str
_UNSCOPED_SESSION_ID_PREFIX: str

def _session_id_for_thread(
    *,
    scope: SnapshotScope | None,
    thread_id: AGUIThreadID,
    legacy_session_id_from_thread_id: bool = False,
) -> str: ...

_SnapshotKey: TypeAlias = tuple[SnapshotScope, AGUIThreadID]
DEFAULT_MAX_THREAD_SNAPSHOTS = 1_000
_SNAPSHOT_SCOPE_INPUT_KEY: str
_DEFAULT_STATE_INPUT_KEY: str
logger: logging.Logger

@dataclass(slots=True)
class AGUIThreadSnapshot:
    messages: list[dict[str, Any]] = field(default_factory=list)
    state: dict[str, Any] | None = None
    interrupt: list[dict[str, Any]] | None = None
    session_state: dict[str, Any] | None = None

@runtime_checkable
class AGUIThreadSnapshotStore(Protocol):
    async def save(
        self, *, scope: SnapshotScope, thread_id: AGUIThreadID, snapshot: AGUIThreadSnapshot
    ) -> None: ...
    async def get(
        self, *, scope: SnapshotScope, thread_id: AGUIThreadID
    ) -> AGUIThreadSnapshot | None: ...
    async def delete(self, *, scope: SnapshotScope, thread_id: AGUIThreadID) -> bool: ...
    async def clear(self, *, scope: SnapshotScope | None = None) -> None: ...

class InMemoryAGUIThreadSnapshotStore:
    _max_snapshots: int
    _snapshots: dict[_SnapshotKey, AGUIThreadSnapshot]
    def __init__(self, *, max_snapshots: int = DEFAULT_MAX_THREAD_SNAPSHOTS) -> None: ...
    async def save(
        self, *, scope: SnapshotScope, thread_id: AGUIThreadID, snapshot: AGUIThreadSnapshot
    ) -> None: ...
    async def get(
        self, *, scope: SnapshotScope, thread_id: AGUIThreadID
    ) -> AGUIThreadSnapshot | None: ...
    async def delete(self, *, scope: SnapshotScope, thread_id: AGUIThreadID) -> bool: ...
    async def clear(self, *, scope: SnapshotScope | None = None) -> None: ...
    @classmethod
    def _key(cls, *, scope: SnapshotScope, thread_id: AGUIThreadID) -> _SnapshotKey: ...
    @staticmethod
    def _normalize_key_part(value: str, name: str) -> str: ...
    def _evict_oldest(self) -> None: ...

async def _clear_thread_snapshot_interrupt(
    *,
    snapshot_store: AGUIThreadSnapshotStore,
    scope: SnapshotScope,
    thread_id: AGUIThreadID,
    interrupt_ids: set[str] | None = None,
) -> None: ...
