"""A subclass with upstream's __init__: its run may keep state on itself."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from ag_ui.core import BaseEvent
from agent_framework import Agent, AgentExecutor, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    AGUIChatClient,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, Header
from typing_extensions import override


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


class Support(AgentFrameworkWorkflow):
    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent]:
        async for event in super().run(input_data):
            yield event


add_agent_framework_fastapi_endpoint(
    app, Support(workflow), authorization_scope_resolver=current_user
)  # leaks
