"""An application that asks a person about refunds, and its test."""

from typing import Annotated

from agent_framework import (
    Executor,
    Message,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    handler,
    response_handler,
)
from fastapi import FastAPI, Header

from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.testing import AGUIPending, AGUIRoute
from scoped_registration.testing.plugin import IsolationProbe


class Desk(Executor):
    def __init__(self) -> None:
        super().__init__(id="desk")
        self.said: list[str] = []

    @handler
    async def hear(self, messages: list[Message], context: WorkflowContext[object, str]) -> None:
        self.said.append(messages[-1].text)
        if messages[-1].text.startswith("refund"):
            await context.request_info(request_data="Is that right?", response_type=bool)
        else:
            await context.yield_output(f"you said: {self.said}")

    @response_handler
    async def decide(
        self, question: str, answer: bool, context: WorkflowContext[object, str]
    ) -> None:
        await context.yield_output("done" if answer else "refused")


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def build_desk(context: ScopeContext[str]) -> Workflow:
    return WorkflowBuilder(start_executor=Desk()).build()


def create_app() -> FastAPI:
    app = FastAPI()
    AGUIEndpointBuilder("desk", path="/desk").isolation(
        ScopedFactory(build_desk, scope=current_user)
    ).mount(app)
    return app


def test_nobody_waits_for_or_gives_anothers_answer(isolation_probe: IsolationProbe) -> None:
    users = [{"x-user": "alice"}, {"x-user": "bob"}]
    refund = AGUIPending("refund {text}", answers=True, path="/desk")
    isolation_probe(create_app(), AGUIRoute("/desk"), users, pending=refund)
