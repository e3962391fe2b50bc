"""Wrapped plain agents."""

from typing import Annotated

from agent_framework import Agent
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


def build_runner() -> AgentFrameworkAgent:
    return AgentFrameworkAgent(agent, require_confirmation=False)


def serve(runner: AgentFrameworkAgent) -> None:
    add_agent_framework_fastapi_endpoint(
        app, runner, "/e", authorization_scope_resolver=current_user
    )


wrapped: AgentFrameworkAgent = AgentFrameworkAgent(agent)
add_agent_framework_fastapi_endpoint(
    app, AgentFrameworkAgent(agent), "/a", authorization_scope_resolver=current_user
)
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkAgent(agent=agent, name="support"),
    "/b",
    authorization_scope_resolver=current_user,
)
add_agent_framework_fastapi_endpoint(
    app, build_runner(), "/c", authorization_scope_resolver=current_user
)
add_agent_framework_fastapi_endpoint(app, wrapped, "/d", authorization_scope_resolver=current_user)
serve(AgentFrameworkAgent(agent))
