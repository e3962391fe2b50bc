"""Two modes: one principal, and the request body."""

from typing import Annotated

from agent_framework import Agent
from agent_framework_ag_ui import AGUIChatClient, AGUIRequest, add_agent_framework_fastapi_endpoint
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")


def claimed_user(request: AGUIRequest) -> str:
    return str(request.state)


add_agent_framework_fastapi_endpoint(
    app, agent, snapshot_scope_resolver=claimed_user, single_user=True
)  # leaks
