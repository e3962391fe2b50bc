"""A declaration that does not hold: the subclass hands on one workflow."""

from typing import TYPE_CHECKING, Annotated

from agent_framework import Agent, AgentExecutor, WorkflowBuilder
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
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()
if TYPE_CHECKING:
    Runner = AgentFrameworkWorkflow[WorkflowFactory]
else:
    Runner = AgentFrameworkWorkflow


class Support(Runner):
    def __init__(self) -> None:
        super().__init__(workflow=workflow)  # leaks


add_agent_framework_fastapi_endpoint(app, Support(), authorization_scope_resolver=current_user)
