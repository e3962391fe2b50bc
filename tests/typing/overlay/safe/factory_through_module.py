"""A workflow for each scope and thread, by attributes and other names."""

from typing import Annotated

import agent_framework_ag_ui as ag_ui
from agent_framework import Agent, AgentExecutor, Workflow, WorkflowBuilder
from agent_framework_ag_ui import AGUIChatClient
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


register = ag_ui.add_agent_framework_fastapi_endpoint
Runner = ag_ui.AgentFrameworkWorkflow
ag_ui.add_agent_framework_fastapi_endpoint(
    app,
    ag_ui.AgentFrameworkWorkflow(workflow_factory=build_workflow),
    "/a",
    authorization_scope_resolver=current_user,
)
register(
    app, Runner(workflow_factory=build_workflow), "/b", authorization_scope_resolver=current_user
)
