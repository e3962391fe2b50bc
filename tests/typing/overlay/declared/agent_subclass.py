"""A subclass that wraps agents of any kind."""

from typing import TYPE_CHECKING, Annotated

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
if TYPE_CHECKING:
    Wrapper = AgentFrameworkAgent[SupportsAgentRun]
else:
    Wrapper = AgentFrameworkAgent


class Support(Wrapper):
    def __init__(self, agent: SupportsAgentRun) -> None:
        super().__init__(agent, name="support")


add_agent_framework_fastapi_endpoint(app, Support(workflow.as_agent()), single_user=True)
