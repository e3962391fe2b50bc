import logging
from typing import Any

from ag_ui_a2ui_toolkit import A2UIToolParams as A2UIToolParams

from ._agent import A2UIAgent

logger: logging.Logger

def is_a2ui_runner(agent: Any) -> bool: ...
def enable_a2ui(
    inner_agent: Any,
    subagent_chat_client: Any,
    params: A2UIToolParams | None = None,
    context_slice: dict[str, Any] | None = None,
    drop_tool_names: list[str] | None = None,
) -> A2UIAgent: ...
def plan_a2ui_injection(
    *,
    agent: Any,
    forwarded_props: Any,
    existing_tool_names: list[str],
    config: dict[str, Any] | None = None,
    context_slice: dict[str, Any] | None = None,
    log: logging.Logger | None = None,
) -> A2UIAgent | None: ...
