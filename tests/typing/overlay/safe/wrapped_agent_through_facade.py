"""Wrapped plain agents, through agent_framework.ag_ui."""

from typing import Annotated

from agent_framework import Agent
from agent_framework.ag_ui import (
    AgentFrameworkAgent,
    AGUIChatClient,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
add_agent_framework_fastapi_endpoint(
    app, AgentFrameworkAgent(agent), authorization_scope_resolver=current_user
)
add_agent_framework_fastapi_endpoint(app, agent, "/b", authorization_scope_resolver=current_user)
