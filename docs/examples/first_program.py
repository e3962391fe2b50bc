from typing import Annotated

from agent_framework import AgentExecutor, Workflow, WorkflowBuilder
from fastapi import FastAPI, Header

from docs.examples.offline_agent import make_agent
from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def build_workflow(context: ScopeContext[str]) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(make_agent(), id="support")).build()


app = FastAPI()
AGUIEndpointBuilder("support", path="/support").isolation(
    ScopedFactory(build_workflow, scope=current_user)
).mount(app)
