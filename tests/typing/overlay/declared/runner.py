"""The annotation that passes: what the runner's workflows come from."""

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


def build_runner() -> "AgentFrameworkWorkflow[WorkflowFactory]":
    return AgentFrameworkWorkflow(workflow_factory=build_workflow)


def serve(runner: "AgentFrameworkWorkflow[WorkflowFactory]", path: str) -> None:
    add_agent_framework_fastapi_endpoint(
        app, runner, path, authorization_scope_resolver=current_user
    )


runner: "AgentFrameworkWorkflow[WorkflowFactory]" = AgentFrameworkWorkflow(
    workflow_factory=build_workflow
)
serve(build_runner(), "/a")
serve(runner, "/b")
