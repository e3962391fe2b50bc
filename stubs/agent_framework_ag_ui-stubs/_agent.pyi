# Changed: AgentFrameworkAgent says in a type parameter what it wraps. Nothing else differs.

from abc import ABCMeta
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Generic, Literal, TypeAlias, overload, type_check_only

from ag_ui.core import BaseEvent
from agent_framework import RawAgent, SupportsAgentRun
from typing_extensions import TypeVar

from ._approval_state import InMemoryAGUIApprovalStateStore
from ._snapshots import AGUIThreadSnapshotStore

_PlainAgent: TypeAlias = RawAgent[Any]

# The bare name means a plain agent, so that `def build() -> AgentFrameworkAgent` needs no change,
# and a workflow that such a function returns as an agent is refused where it is returned.
_AgentT_co = TypeVar("_AgentT_co", bound=SupportsAgentRun, default=_PlainAgent, covariant=True)

class AgentConfig:
    state_schema: dict[str, Any]
    predict_state_config: dict[str, dict[str, str]]
    use_service_session: bool
    service_session_id_from_thread_id: bool
    require_confirmation: bool
    snapshot_store: AGUIThreadSnapshotStore | None
    a2ui_config: dict[str, Any] | None
    emit_messages_snapshot: bool
    legacy_session_id_from_thread_id: bool
    def __init__(
        self,
        state_schema: Any | None = None,
        predict_state_config: dict[str, dict[str, str]] | None = None,
        use_service_session: bool = False,
        require_confirmation: bool = True,
        snapshot_store: AGUIThreadSnapshotStore | None = None,
        a2ui_config: dict[str, Any] | None = None,
        service_session_id_from_thread_id: bool = False,
        emit_messages_snapshot: bool = True,
        legacy_session_id_from_thread_id: bool = False,
    ) -> None: ...
    @staticmethod
    def _normalize_state_schema(state_schema: Any | None) -> dict[str, Any]: ...

# A class, not a protocol: with a protocol zuban takes the type that is expected instead.
@type_check_only
class _SessionsNamedByClient(SupportsAgentRun, metaclass=ABCMeta): ...

class AgentFrameworkAgent(Generic[_AgentT_co]):
    agent: SupportsAgentRun
    config: AgentConfig
    _approval_state_store: InMemoryAGUIApprovalStateStore
    @overload
    def __init__(
        self,
        agent: _AgentT_co,
        name: str | None = None,
        description: str | None = None,
        state_schema: Any | None = None,
        predict_state_config: dict[str, dict[str, str]] | None = None,
        require_confirmation: bool = True,
        use_service_session: bool = False,
        snapshot_store: AGUIThreadSnapshotStore | None = None,
        a2ui_config: dict[str, Any] | None = None,
        service_session_id_from_thread_id: Literal[False] = False,
        emit_messages_snapshot: bool = True,
        legacy_session_id_from_thread_id: Literal[False] = False,
    ) -> None: ...
    # Session ids that the client chooses do not isolate, whatever the agent.
    @overload
    def __init__(
        self: AgentFrameworkAgent[_SessionsNamedByClient],
        agent: SupportsAgentRun,
        name: str | None = None,
        description: str | None = None,
        state_schema: Any | None = None,
        predict_state_config: dict[str, dict[str, str]] | None = None,
        require_confirmation: bool = True,
        use_service_session: bool = False,
        snapshot_store: AGUIThreadSnapshotStore | None = None,
        a2ui_config: dict[str, Any] | None = None,
        service_session_id_from_thread_id: bool = False,
        emit_messages_snapshot: bool = True,
        *,
        legacy_session_id_from_thread_id: bool,
    ) -> None: ...
    @overload
    def __init__(
        self: AgentFrameworkAgent[_SessionsNamedByClient],
        agent: SupportsAgentRun,
        name: str | None = None,
        description: str | None = None,
        state_schema: Any | None = None,
        predict_state_config: dict[str, dict[str, str]] | None = None,
        require_confirmation: bool = True,
        use_service_session: bool = False,
        snapshot_store: AGUIThreadSnapshotStore | None = None,
        a2ui_config: dict[str, Any] | None = None,
        *,
        service_session_id_from_thread_id: bool,
        emit_messages_snapshot: bool = True,
        legacy_session_id_from_thread_id: bool = False,
    ) -> None: ...
    # Upstream annotates neither, and each checker infers a type of its own from the assignment.
    def _assigned(self, given: str | None) -> None:
        self.name = given or getattr(self.agent, "name", "agent")
        self.description = given or getattr(self.agent, "description", "")

    @property
    def snapshot_store(self) -> AGUIThreadSnapshotStore | None: ...
    def run(
        self,
        input_data: dict[str, Any],
        *,
        function_invocation_kwargs: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[BaseEvent]: ...
