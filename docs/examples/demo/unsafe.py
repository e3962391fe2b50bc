"""The registration that leaks, on purpose: mypy and pyright refuse this file.

One workflow is built here, and each caller would get it with all that it remembers. The
correction is one word: pass the function, so that each user gets a workflow for each thread.
"""

from typing import Annotated

from agent_framework import (
    Executor,
    Message,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    handler,
)
from fastapi import FastAPI, Header

from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder


class Remember(Executor):
    seen: int = 0

    @handler
    async def remember(self, messages: list[Message], context: WorkflowContext[None, str]) -> None:
        self.seen += len(messages)
        await context.yield_output(f"messages so far: {self.seen}")


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def build_workflow(context: ScopeContext[str]) -> Workflow:
    return WorkflowBuilder(start_executor=Remember(id="remember")).build()


one_workflow = WorkflowBuilder(start_executor=Remember(id="remember")).build()

app = FastAPI()
AGUIEndpointBuilder("support", path="/support").isolation(
    ScopedFactory(one_workflow, scope=current_user)
).mount(app)
