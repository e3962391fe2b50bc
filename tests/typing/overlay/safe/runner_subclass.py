"""Subclasses that call super().__init__, and their own constructors."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from ag_ui.core import BaseEvent
from agent_framework import Agent, AgentExecutor, Workflow, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    AGUIChatClient,
    WorkflowFactory,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, Header
from typing_extensions import override


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


class Keyword(AgentFrameworkWorkflow):
    def __init__(self, greeting: str, *, loud: bool = False) -> None:
        super().__init__(workflow=workflow, name=greeting)
        self.loud = loud


class Positional(AgentFrameworkWorkflow):
    def __init__(self) -> None:
        super().__init__(workflow, description="support")


class PerThread(AgentFrameworkWorkflow):
    def __init__(self, factory: WorkflowFactory) -> None:
        super().__init__(workflow_factory=factory)


class Forwarding(AgentFrameworkWorkflow):
    def __init__(
        self,
        workflow: Workflow | None = None,
        *,
        workflow_factory: WorkflowFactory | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(workflow, workflow_factory=workflow_factory, name=name)

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent]:
        async for event in super().run(input_data):
            yield event


class Empty(AgentFrameworkWorkflow):
    pass


keyword: Keyword = Keyword("hello", loud=True)
per_thread: PerThread = PerThread(build_workflow)
forwarding: Forwarding = Forwarding(workflow_factory=build_workflow)
empty: Empty = Empty(workflow)
same: AgentFrameworkWorkflow = empty
loud: bool = keyword.loud
add_agent_framework_fastapi_endpoint(app, keyword, "/a", single_user=True)
add_agent_framework_fastapi_endpoint(app, Positional(), "/b", single_user=True)
add_agent_framework_fastapi_endpoint(app, per_thread, "/c", single_user=True)
add_agent_framework_fastapi_endpoint(app, forwarding, "/d", single_user=True)
add_agent_framework_fastapi_endpoint(
    app, Empty(workflow_factory=build_workflow), "/e", single_user=True
)
add_agent_framework_fastapi_endpoint(app, same, "/f", single_user=True)
