"""A subclass that declares what its workflows come from."""

from typing import TYPE_CHECKING, Annotated

from agent_framework import Agent, AgentExecutor, Workflow, WorkflowBuilder
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


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


if TYPE_CHECKING:
    Runner = AgentFrameworkWorkflow[WorkflowFactory]
else:
    Runner = AgentFrameworkWorkflow


class Support(Runner):
    def __init__(self, greeting: str) -> None:
        super().__init__(workflow_factory=build_workflow, name=greeting)


add_agent_framework_fastapi_endpoint(
    app, Support("hello"), authorization_scope_resolver=current_user
)
