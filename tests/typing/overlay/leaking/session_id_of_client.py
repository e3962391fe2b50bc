"""Session ids that the client chooses: two principals may choose the same one."""

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
wrapped = AgentFrameworkAgent(agent, legacy_session_id_from_thread_id=True)
add_agent_framework_fastapi_endpoint(
    app, wrapped, authorization_scope_resolver=current_user
)  # leaks
