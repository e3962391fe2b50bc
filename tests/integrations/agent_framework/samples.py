"""Targets of every kind that the contract names."""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Callable
from typing import Any

from ag_ui.core import BaseEvent
from agent_framework import (
    AgentSession,
    Executor,
    FunctionalWorkflow,
    FunctionalWorkflowAgent,
    FunctionalWorkflowDefinition,
    Message,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    handler,
    response_handler,
    workflow,
)
from agent_framework_ag_ui import AgentFrameworkWorkflow
from typing_extensions import override

from tests.integrations.agent_framework.kit import RecordingModel, make_agent


class OwnRun(AgentFrameworkWorkflow):
    """A runner with a `run` of its own and state on itself."""

    def __init__(self, model: RecordingModel) -> None:
        super().__init__()
        self.session = AgentSession()
        self.agent = make_agent(model)

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        text = input_data["messages"][-1]["content"]
        await self.agent.run(text, session=self.session)
        inner = AgentFrameworkWorkflow(workflow=echo_workflow())
        async for event in inner.run(input_data):
            yield event


class Echo(Executor):
    @handler
    async def answer(self, messages: list[Message], context: WorkflowContext[object, str]) -> None:
        await context.yield_output(f"heard {len(messages)}")


def echo_workflow() -> Workflow:
    return WorkflowBuilder(start_executor=Echo(id="echo")).build()


def definition_of(model: RecordingModel) -> FunctionalWorkflowDefinition:
    """Return a functional workflow that holds one session for all its runs."""
    agent = make_agent(model)
    session = agent.create_session()

    @workflow
    async def talk(messages: list[Message]) -> str:
        response = await agent.run(messages[-1], session=session)
        return response.text

    return talk


def functional_workflow(model: RecordingModel) -> FunctionalWorkflow:
    return definition_of(model).build()


def functional_agent(model: RecordingModel) -> FunctionalWorkflowAgent:
    return functional_workflow(model).as_agent()


class Delegate:
    """An agent of a type that the framework does not know."""

    def __init__(self, model: RecordingModel) -> None:
        self._agent = make_agent(model)
        self.id = "delegate"
        self.name = "delegate"
        self.description = "another agent"
        self.run: Callable[..., Any] = self._agent.run

    def create_session(self, *, session_id: str | None = None) -> AgentSession:
        return self._agent.create_session(session_id=session_id)

    def get_session(
        self, service_session_id: str, *, session_id: str | None = None
    ) -> AgentSession:
        return self._agent.get_session(service_session_id, session_id=session_id)


class StandInBuilder:
    """An orchestration builder, as far as a registration sees it."""

    def __init__(self, *, participants: list[Any]) -> None:
        self._participants = participants

    def build(self) -> Workflow:
        return WorkflowBuilder(start_executor=self._participants[0]).build()


def orchestration_builder(model: RecordingModel) -> object:
    """Return the framework's own builder where that distribution is installed."""
    try:
        builder: Any = importlib.import_module("agent_framework_orchestrations").SequentialBuilder
    except ImportError:
        builder = StandInBuilder
    return builder(participants=[make_agent(model)])


class Ask(Executor):
    """Asks whoever wrote, and answers when they have."""

    def __init__(self) -> None:
        super().__init__(id="ask")
        self.question = ""

    @handler
    async def ask(self, messages: list[Message], context: WorkflowContext[object, str]) -> None:
        self.question = messages[-1].text
        await context.request_info(request_data="Are you sure?", response_type=str)

    @response_handler
    async def answered(
        self, original: str, answer: str, context: WorkflowContext[object, str]
    ) -> None:
        await context.yield_output(f"{self.question}: {answer}")

    @override
    async def on_checkpoint_save(self) -> dict[str, Any]:
        return {"question": self.question}

    @override
    async def on_checkpoint_restore(self, state: dict[str, Any]) -> None:
        self.question = state["question"]


def asking_workflow() -> Workflow:
    return WorkflowBuilder(name="asking", start_executor=Ask()).build()
