"""One principal: workflows as agents."""

from typing import Annotated

from agent_framework import Agent, AgentExecutor, SupportsAgentRun, WorkflowAgent, WorkflowBuilder
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
    add_agent_framework_fastapi_endpoint(app, target, "/d", single_user=True)
    add_agent_framework_fastapi_endpoint(app, AgentFrameworkAgent(target), "/e", single_user=True)


add_agent_framework_fastapi_endpoint(app, workflow.as_agent(), "/a", single_user=True)
add_agent_framework_fastapi_endpoint(app, WorkflowAgent(workflow), "/b", single_user=True)
add_agent_framework_fastapi_endpoint(
    app, AgentFrameworkAgent(workflow.as_agent()), "/c", single_user=True
)
serve(workflow.as_agent())
