"""Subclasses of the agent wrapper that call super().__init__."""

from typing import Annotated, Any

from agent_framework import Agent, AgentExecutor, RawAgent, WorkflowBuilder
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
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


class Named(AgentFrameworkAgent):
    def __init__(self, inner: Agent, greeting: str) -> None:
        super().__init__(inner, name=greeting)
        self.greeting = greeting


class Forwarding(AgentFrameworkAgent):
    def __init__(self, agent: RawAgent[Any], name: str | None = None) -> None:
        super().__init__(agent=agent, name=name)


class Empty(AgentFrameworkAgent):
    pass


named: Named = Named(Agent(client=AGUIChatClient(endpoint="http://localhost:8888/")), "hello")
empty: Empty = Empty(agent)
greeting: str = named.greeting
add_agent_framework_fastapi_endpoint(app, named, "/a", authorization_scope_resolver=current_user)
add_agent_framework_fastapi_endpoint(app, empty, "/b", authorization_scope_resolver=current_user)
add_agent_framework_fastapi_endpoint(
    app, Forwarding(agent), "/c", authorization_scope_resolver=current_user
)
