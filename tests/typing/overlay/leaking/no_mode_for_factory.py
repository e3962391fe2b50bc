"""No mode, for a factory."""

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


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


add_agent_framework_fastapi_endpoint(
    app, AgentFrameworkWorkflow(workflow_factory=build_workflow)
)  # leaks
