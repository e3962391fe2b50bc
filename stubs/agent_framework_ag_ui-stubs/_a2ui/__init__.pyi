from ._agent import A2UIAgent as A2UIAgent
from ._factory import enable_a2ui as enable_a2ui
from ._factory import is_a2ui_runner as is_a2ui_runner
from ._factory import plan_a2ui_injection as plan_a2ui_injection
from ._state import A2UI_SCHEMA_CONTEXT_DESCRIPTION as A2UI_SCHEMA_CONTEXT_DESCRIPTION
from ._state import build_ag_ui_context_slice as build_ag_ui_context_slice
from ._state import read_inject_a2ui_flag as read_inject_a2ui_flag

__all__ = [
    "A2UI_SCHEMA_CONTEXT_DESCRIPTION",
    "A2UIAgent",
    "build_ag_ui_context_slice",
    "enable_a2ui",
    "is_a2ui_runner",
    "plan_a2ui_injection",
    "read_inject_a2ui_flag",
]
