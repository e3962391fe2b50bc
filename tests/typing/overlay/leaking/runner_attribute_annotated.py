"""An attribute with the bare name: what it holds is unknown."""

from dataclasses import dataclass
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


@dataclass
class Settings:
    runner: AgentFrameworkWorkflow


settings = Settings(AgentFrameworkWorkflow(workflow))
add_agent_framework_fastapi_endpoint(
    app, settings.runner, authorization_scope_resolver=current_user
)  # leaks
