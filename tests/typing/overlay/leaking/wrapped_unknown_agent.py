"""A wrapped agent of unknown kind."""

from typing import Annotated

from agent_framework import Agent, AgentExecutor, SupportsAgentRun, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AGUIChatClient,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


def serve(target: SupportsAgentRun) -> None:
    add_agent_framework_fastapi_endpoint(
        app, AgentFrameworkAgent(target), authorization_scope_resolver=current_user
    )  # leaks


serve(workflow.as_agent())
