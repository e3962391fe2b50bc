"""A workflow for each scope and thread."""

from collections.abc import Callable
from typing import Annotated

from agent_framework import Agent, AgentExecutor, Workflow, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    AGUIChatClient,
    WorkflowFactory,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


class Workflows:
    def build(self, thread_id: str) -> Workflow:
        return build_workflow(thread_id)

    def __call__(self, thread_id: str) -> Workflow:
        return build_workflow(thread_id)


runner = AgentFrameworkWorkflow(workflow_factory=build_workflow, name="support")
add_agent_framework_fastapi_endpoint(app, runner, "/a", authorization_scope_resolver=current_user)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkWorkflow(None, workflow_factory=build_workflow),
    "/b",
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkWorkflow(workflow=None, workflow_factory=build_workflow),
    "/c",
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkWorkflow(workflow_factory=lambda thread_id: build_workflow(thread_id.lower())),
    "/d",
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkWorkflow(workflow_factory=Workflows().build),
    "/e",
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkWorkflow(workflow_factory=Workflows()),
    "/f",
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app, agent=runner, path="/g", authorization_scope_resolver=current_user, single_user=False
)


def serve(factory: Callable[[str], Workflow], declared: WorkflowFactory) -> None:
    add_agent_framework_fastapi_endpoint(
        app,
        AgentFrameworkWorkflow(workflow_factory=factory),
        "/h",
        authorization_scope_resolver=current_user,
    )
    add_agent_framework_fastapi_endpoint(
        app,
        AgentFrameworkWorkflow(workflow_factory=declared),
        "/i",
        authorization_scope_resolver=current_user,
    )


serve(build_workflow, build_workflow)
