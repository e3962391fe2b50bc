"""An application and the test that its users are kept apart."""

from typing import Annotated, Any

from agent_framework import Agent, AgentExecutor, SupportsChatGetResponse, Workflow, WorkflowBuilder
from fastapi import FastAPI, Header

from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.testing import AGUIRoute, Recorder
from scoped_registration.testing.agent_framework import RecordingChatClient
from scoped_registration.testing.plugin import IsolationProbe


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def create_app(client: SupportsChatGetResponse[Any]) -> FastAPI:
    def build_workflow(context: ScopeContext[str]) -> Workflow:
        agent = Agent(client=client, name="support", instructions="You answer questions.")
        return WorkflowBuilder(start_executor=AgentExecutor(agent, id="support")).build()

    app = FastAPI()
    AGUIEndpointBuilder("support", path="/support").isolation(
        ScopedFactory(build_workflow, scope=current_user)
    ).mount(app)
    return app


def test_users_are_kept_apart(isolation_probe: IsolationProbe) -> None:
    recorder = Recorder()
    app = create_app(RecordingChatClient(recorder))
    users = [{"x-user": "alice"}, {"x-user": "bob"}]
    isolation_probe(app, AGUIRoute("/support"), users, recorder=recorder)
