from ._a2ui import A2UIAgent as A2UIAgent
from ._a2ui import enable_a2ui as enable_a2ui
from ._a2ui import plan_a2ui_injection as plan_a2ui_injection
from ._agent import AgentFrameworkAgent as AgentFrameworkAgent
from ._client import AGUIChatClient as AGUIChatClient
from ._endpoint import AuthorizationScopeResolver as AuthorizationScopeResolver
from ._endpoint import add_agent_framework_fastapi_endpoint as add_agent_framework_fastapi_endpoint
from ._event_converters import AGUIEventConverter as AGUIEventConverter
from ._http_service import AGUIHttpService as AGUIHttpService
from ._message_adapters import (
    agent_framework_messages_to_agui_host_history as agent_framework_messages_to_agui_host_history,
)
from ._snapshots import DEFAULT_MAX_THREAD_SNAPSHOTS as DEFAULT_MAX_THREAD_SNAPSHOTS
from ._snapshots import AGUIThreadID as AGUIThreadID
from ._snapshots import AGUIThreadSnapshot as AGUIThreadSnapshot
from ._snapshots import AGUIThreadSnapshotStore as AGUIThreadSnapshotStore
from ._snapshots import InMemoryAGUIThreadSnapshotStore as InMemoryAGUIThreadSnapshotStore
from ._snapshots import SnapshotScope as SnapshotScope
from ._snapshots import SnapshotScopeResolver as SnapshotScopeResolver
from ._state import state_carrier as state_carrier
from ._state import state_update as state_update
from ._types import AgentState as AgentState
from ._types import AGUIChatOptions as AGUIChatOptions
from ._types import AGUIRequest as AGUIRequest
from ._types import PredictStateConfig as PredictStateConfig
from ._types import RunMetadata as RunMetadata
from ._workflow import AgentFrameworkWorkflow as AgentFrameworkWorkflow
from ._workflow import WorkflowFactory as WorkflowFactory

__all__ = [
    "AgentFrameworkAgent",
    "AgentFrameworkWorkflow",
    "AuthorizationScopeResolver",
    "WorkflowFactory",
    "add_agent_framework_fastapi_endpoint",
    "agent_framework_messages_to_agui_host_history",
    "AGUIChatClient",
    "AGUIChatOptions",
    "AGUIEventConverter",
    "AGUIHttpService",
    "AGUIRequest",
    "AGUIThreadID",
    "AGUIThreadSnapshot",
    "AGUIThreadSnapshotStore",
    "AgentState",
    "InMemoryAGUIThreadSnapshotStore",
    "PredictStateConfig",
    "RunMetadata",
    "SnapshotScope",
    "SnapshotScopeResolver",
    "DEFAULT_MAX_THREAD_SNAPSHOTS",
    "DEFAULT_TAGS",
    "state_carrier",
    "state_update",
    "__version__",
    "A2UIAgent",
    "enable_a2ui",
    "plan_a2ui_injection",
]

__version__: str
DEFAULT_TAGS: list[str]
