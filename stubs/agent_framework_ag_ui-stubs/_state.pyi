from collections.abc import Mapping
from typing import Any

from agent_framework import Content

__all__ = [
    "STATE_CARRIER_KEY",
    "TOOL_RESULT_DISPLAY_KEY",
    "TOOL_RESULT_STATE_KEY",
    "state_carrier",
    "state_update",
]

STATE_CARRIER_KEY: str
TOOL_RESULT_STATE_KEY: str
TOOL_RESULT_DISPLAY_KEY: str

_UNSET: object

def state_carrier(state: Mapping[str, Any]) -> Content: ...
def state_update(
    text: str = "", *, state: Mapping[str, Any] | None = None, tool_result: Any = _UNSET
) -> Content: ...
