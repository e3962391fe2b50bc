"""Plain agents, for which the framework makes a session per scope and thread."""

from typing import Annotated

from agent_framework import Agent, RawAgent
from agent_framework_ag_ui import AGUIChatClient, add_agent_framework_fastapi_endpoint
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
raw = RawAgent(client=AGUIChatClient(endpoint="http://localhost:8888/"))
add_agent_framework_fastapi_endpoint(app, agent, "/a", authorization_scope_resolver=current_user)
add_agent_framework_fastapi_endpoint(app, raw, "/b", authorization_scope_resolver=current_user)
add_agent_framework_fastapi_endpoint(
    agent=agent, app=app, path="/c", authorization_scope_resolver=current_user
)
add_agent_framework_fastapi_endpoint(
    app,
    AGUIChatClient(endpoint="http://localhost:8888/").as_agent(),
    "/d",
    authorization_scope_resolver=current_user,
)
