"""SR110: what is no mode is given to isolation()."""

from __future__ import annotations

import pytest

from tests.audit.support import check

_TARGETS = {
    "workflow": "workflow",
    "new workflow": "new_workflow()",
    "agent": "Agent(client)",
    "runner": "AgentFrameworkWorkflow(workflow)",
    "builder": "WorkflowBuilder(start_executor=agent)",
    "object of this file": "chat",
    "factory": "new_workflow",
    "lambda": "lambda context: new_workflow()",
}
_MODES = {
    "mode": "SingleUser(workflow)",
    "named": "mode",
    "made": "make_mode()",
    "imported": "imported",
    "per run": "per_run(agent, scope=user)",
    "by a method": "SingleUser.per_thread(new_workflow)",
}
_BEFORE = """
class Chat: ...
chat = Chat()
mode = ScopedFactory(new_workflow, scope=user)
def make_mode():
    return mode
builder = RegistrationBuilder("chat")
"""


@pytest.mark.parametrize(
    "builder", ["AGUIEndpointBuilder('chat', path='/')", "RegistrationBuilder('chat')", "builder"]
)
@pytest.mark.parametrize("target", _TARGETS.values(), ids=_TARGETS)
def test_a_target_without_a_mode_is_found(target: str, builder: str) -> None:
    check(f"{_BEFORE}{builder}.isolation({target}).build()  # SR110")


@pytest.mark.parametrize("mode", _MODES.values(), ids=_MODES)
def test_a_mode_is_not_found(mode: str) -> None:
    check(f"{_BEFORE}builder.isolation({mode}).build()")


def test_other_methods_of_that_name_are_not_looked_at() -> None:
    check(f"""{_BEFORE}
class Connection:
    def isolation(self, level): ...
Connection().isolation(chat)
imported.isolation(workflow)
def register(builder):
    builder.isolation(workflow)
""")
