"""Session ids that the client chooses, in one expression."""

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
add_agent_framework_fastapi_endpoint(
    app,
    AgentFrameworkAgent(agent, legacy_session_id_from_thread_id=True),
    authorization_scope_resolver=current_user,
)  # leaks
