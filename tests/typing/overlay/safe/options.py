"""Every other option."""

from typing import Annotated

from agent_framework import (
    Agent,
    AgentExecutor,
    InMemoryCheckpointStorage,
    Workflow,
    WorkflowBuilder,
)
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    AGUIChatClient,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import Depends, FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


add_agent_framework_fastapi_endpoint(
    app,
    agent,
    "/a",
    None,
    {"recipe": {"tool": "update_recipe", "tool_argument": "recipe"}},
    ["*"],
    {"recipe": None},
    ["support"],
    [Depends(current_user)],
    InMemoryAGUIThreadSnapshotStore(),
    None,
    None,
    None,
    {"inject_a2ui_tool": True},
    True,
    8,
    60,
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkWorkflow(
        workflow_factory=build_workflow,
        description="Support",
        checkpoint_storage=InMemoryCheckpointStorage(),
    ),
    "/b",
    snapshot_store=InMemoryAGUIThreadSnapshotStore(max_snapshots=10),
    detached_runs=True,
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app,
    build_workflow("one"),
    path="/c",
    state_schema={"type": "object"},
    checkpoint_storage=InMemoryCheckpointStorage(),
    keepalive_seconds=None,
    max_detached_runs=4,
    detached_run_timeout_seconds=30.0,
    single_user=True,
)
