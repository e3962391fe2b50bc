"""The wrapper of an agent of any kind."""

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


def build_runner() -> "AgentFrameworkAgent[SupportsAgentRun]":
    return AgentFrameworkAgent(workflow.as_agent())


add_agent_framework_fastapi_endpoint(app, build_runner(), single_user=True)
