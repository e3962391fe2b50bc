"""A runner of one kind or the other."""

from typing import Annotated

from agent_framework import Agent, AgentExecutor, Workflow, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    AGUIChatClient,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


runner = (
    AgentFrameworkWorkflow(workflow)
    if len(app.routes)
    else AgentFrameworkWorkflow(workflow_factory=build_workflow)
)
add_agent_framework_fastapi_endpoint(
    app, runner, authorization_scope_resolver=current_user
)  # leaks
