"""A workflow as an agent: it satisfies SupportsAgentRun."""

from typing import Annotated

from agent_framework import Agent, AgentExecutor, WorkflowAgent, WorkflowBuilder
from agent_framework_ag_ui import AGUIChatClient, add_agent_framework_fastapi_endpoint
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()
add_agent_framework_fastapi_endpoint(
    app, WorkflowAgent(workflow), authorization_scope_resolver=current_user
)  # leaks
