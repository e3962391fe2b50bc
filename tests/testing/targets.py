"""Targets for agent-framework's own endpoint: each shares something between its callers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from ag_ui.core import BaseEvent
from agent_framework import (
    Agent,
    AgentExecutor,
    AgentSession,
    ContextProvider,
    Executor,
    HistoryProvider,
    Message,
    SessionContext,
    SupportsAgentRun,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    WorkflowExecutor,
    handler,
    response_handler,
    workflow,
)
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow
from typing_extensions import override

from scoped_registration.testing import Recorder


def make_agent(client: Any, providers: Sequence[ContextProvider] = ()) -> Agent[Any]:
    return Agent(
        client=client, name="support", instructions="You answer.", context_providers=providers
    )


def executor_of(
    client: Any, providers: Sequence[ContextProvider] = (), **options: Any
) -> AgentExecutor:
    return AgentExecutor(make_agent(client, providers), id="support", **options)


def make_workflow(client: Any) -> Workflow:
    return WorkflowBuilder(start_executor=executor_of(client)).build()


def capturing_executor(client: Any) -> AgentFrameworkWorkflow:
    executor = executor_of(client)
    return AgentFrameworkWorkflow(
        workflow_factory=lambda thread_id: WorkflowBuilder(start_executor=executor).build()
    )


def capturing_builder(client: Any) -> AgentFrameworkWorkflow:
    builder = WorkflowBuilder(start_executor=make_agent(client))
    return AgentFrameworkWorkflow(workflow_factory=lambda thread_id: builder.build())


def capturing_session(client: Any) -> AgentFrameworkWorkflow:
    session = AgentSession()

    def build(thread_id: str) -> Workflow:
        return WorkflowBuilder(start_executor=executor_of(client, session=session)).build()

    return AgentFrameworkWorkflow(workflow_factory=build)


def capturing_inner_workflow(client: Any) -> AgentFrameworkWorkflow:
    inner = make_workflow(client)

    def build(thread_id: str) -> Workflow:
        return WorkflowBuilder(start_executor=WorkflowExecutor(inner, id="inner")).build()

    return AgentFrameworkWorkflow(workflow_factory=build)


def session_by_thread(client: Any) -> AgentFrameworkWorkflow:
    """Return a factory whose sessions have the thread's id, for whomever: no text crosses."""

    def build(thread_id: str) -> Workflow:
        session = AgentSession(session_id=thread_id)
        return WorkflowBuilder(start_executor=executor_of(client, session=session)).build()

    return AgentFrameworkWorkflow(workflow_factory=build)


class ById(HistoryProvider):
    """Keeps histories by the session's id, as a table in a database does."""

    def __init__(self) -> None:
        super().__init__("by_id")
        self._kept: defaultdict[str | None, list[Message]] = defaultdict(list)

    @override
    async def get_messages(self, session_id: str | None, **kwargs: Any) -> list[Message]:
        return list(self._kept[session_id])

    @override
    async def save_messages(
        self, session_id: str | None, messages: Sequence[Message], **kwargs: Any
    ) -> None:
        self._kept[session_id].extend(messages)


def history_by_thread(client: Any) -> AgentFrameworkAgent:
    return AgentFrameworkAgent(make_agent(client, [ById()]), legacy_session_id_from_thread_id=True)


class Remembers(ContextProvider):
    """Remembers on itself, for whoever comes."""

    def __init__(self) -> None:
        super().__init__("memory")
        self._said: list[Message] = []

    @override
    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        context.extend_messages(self, self._said)
        self._said.extend(context.input_messages)


def remembering_provider(client: Any) -> Agent[Any]:
    return make_agent(client, [Remembers()])


def conversation_by_thread(client: Any) -> AgentFrameworkAgent:
    agent = Agent(client=client, name="support", default_options={"store": True})
    return AgentFrameworkAgent(
        agent, use_service_session=True, service_session_id_from_thread_id=True
    )


def telling_twice(client: Any) -> AgentFrameworkWorkflow:
    """Return a factory whose agent is told the conversation that its session holds already."""

    def build(thread_id: str) -> Workflow:
        return WorkflowBuilder(start_executor=executor_of(client, providers=[Retells()])).build()

    return AgentFrameworkWorkflow(workflow_factory=build)


class Retells(ContextProvider):
    """Tells the model the whole conversation, which is its own state."""

    def __init__(self) -> None:
        super().__init__("retells")
        self._said: list[str] = []

    @override
    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        said = [message.text for message in context.input_messages]
        if self._said:
            context.extend_messages(self, [Message("user", [f"before: {self._said}"])])
        self._said += said


def functional(client: Any) -> Any:
    agent = make_agent(client)
    session = agent.create_session()

    @workflow(name="functional")
    async def answer(messages: list[Message]) -> str:
        return (await agent.run(messages, session=session)).text

    return answer.build().as_agent()


class OwnRun(AgentFrameworkWorkflow):
    """A runner with a `run` of its own and state on itself."""

    def __init__(self, client: Any) -> None:
        super().__init__()
        self._session = AgentSession()
        self._agent = make_agent(client)
        self._inner = AgentFrameworkWorkflow(
            workflow_factory=lambda thread_id: asking_workflow(Recorder())
        )

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        text = input_data["messages"][-1]["content"]
        await self._agent.run(text, session=self._session)
        async for event in self._inner.run(input_data):
            yield event


class Ask(Executor):
    """Asks a person about refunds, and answers the rest. It remembers nothing."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(id="ask")
        self._recorder = recorder

    @handler
    async def go(self, messages: list[Message], context: WorkflowContext[Any, str]) -> None:
        text = messages[-1].text
        if "refund" in text:
            await context.request_info(request_data="Are you sure?", response_type=str)
        else:
            await self._recorder.model_called(text)
            await context.yield_output("an answer")

    @response_handler
    async def answered(self, asked: str, answer: str, context: WorkflowContext[Any, str]) -> None:
        await context.yield_output(f"refund: {answer}")


def asking_workflow(recorder: Recorder) -> Workflow:
    return WorkflowBuilder(start_executor=Ask(recorder)).build()
