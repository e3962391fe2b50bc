"""A functional workflow as an agent."""

from typing import Annotated

from agent_framework import Agent, workflow
from agent_framework_ag_ui import AGUIChatClient, add_agent_framework_fastapi_endpoint
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")


@workflow
async def support(text: str) -> str:
    return text


add_agent_framework_fastapi_endpoint(
    app, support.build().as_agent(), authorization_scope_resolver=current_user
)  # leaks
