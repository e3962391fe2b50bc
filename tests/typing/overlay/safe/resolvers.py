"""Every kind of dependency that resolves a scope."""

from typing import Annotated

from agent_framework import Agent
from agent_framework_ag_ui import (
    AGUIChatClient,
    AuthorizationScopeResolver,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")


async def from_token(x_token: Annotated[str, Header()]) -> str:
    return x_token


class Principals:
    def __call__(self, x_user: Annotated[str, Header()]) -> str:
        return x_user


resolver: AuthorizationScopeResolver = current_user
add_agent_framework_fastapi_endpoint(app, agent, "/a", authorization_scope_resolver=from_token)
add_agent_framework_fastapi_endpoint(app, agent, "/b", authorization_scope_resolver=Principals())
add_agent_framework_fastapi_endpoint(app, agent, "/c", authorization_scope_resolver=resolver)
