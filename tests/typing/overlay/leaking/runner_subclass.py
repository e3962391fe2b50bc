"""A subclass: what its own __init__ hands on is unknown."""

from typing import Annotated

from agent_framework import Agent, AgentExecutor, WorkflowBuilder
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


class Support(AgentFrameworkWorkflow):
    def __init__(self) -> None:
        super().__init__(workflow=workflow)


add_agent_framework_fastapi_endpoint(
    app, Support(), authorization_scope_resolver=current_user
)  # leaks
