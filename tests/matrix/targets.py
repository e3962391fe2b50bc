"""Targets of every kind that the contract names, subclasses among them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    FunctionalWorkflowDefinition,
    Message,
    RawAgent,
    Workflow,
    WorkflowBuilder,
    workflow,
)
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow
from typing_extensions import override

from tests.matrix.subject import Keeps, Subject
from tests.matrix.upstream import PassesOn
from tests.testing import targets
from tests.testing.targets import make_agent, make_workflow

# Any: the options of an agent's chat client, which make no difference here.

__all__ = ["TARGETS", "build_around", "conversing", "runner_of", "sequential"]


def _definition(client: Any) -> FunctionalWorkflowDefinition:
    agent = make_agent(client)
    session = agent.create_session()

    @workflow(name="functional")
    async def answer(messages: list[Message]) -> str:
        return (await agent.run(messages, session=session)).text

    return answer


class KeepsSession:
    """An agent of a type that the framework does not know, with one session for all its runs."""

    def __init__(self, client: Any) -> None:
        self._agent = make_agent(client)
        self._session = self._agent.create_session()
        self.id = self.name = "another"
        self.description = "another agent"

    def run(self, messages: Any = None, *, session: Any = None, **options: Any) -> Any:
        return self._agent.run(messages, session=self._session, **options)

    def create_session(self, *, session_id: str | None = None) -> AgentSession:
        return self._agent.create_session(session_id=session_id)

    def get_session(
        self, service_session_id: str, *, session_id: str | None = None
    ) -> AgentSession:
        return self._agent.get_session(service_session_id, session_id=session_id)


class OverridesRun(Agent):
    """A subclass of the framework's agent, with one session for all its runs."""

    _own: AgentSession | None = None

    @override
    def run(self, messages: Any = None, *, session: Any = None, **options: Any) -> Any:
        self._own = self._own or AgentSession()
        return super().run(messages, session=self._own, **options)


def conversing(client: Any, conversation: str) -> Agent[Any]:
    return Agent(client=client, name="support", default_options={"conversation_id": conversation})


def sequential(*participants: Any) -> Any:
    # Imported by its name: the distribution is for tests alone, and not typed throughout.
    builder: Any = importlib.import_module("agent_framework_orchestrations").SequentialBuilder
    return builder(participants=[*participants])


def build_around(part: Any) -> Workflow:
    return WorkflowBuilder(start_executor=part).build()


def runner_of(build: Callable[[], Workflow]) -> AgentFrameworkWorkflow:
    return AgentFrameworkWorkflow(workflow_factory=lambda thread_id: build())


TARGETS: dict[str, Subject] = {
    "Workflow": Subject(make=lambda client, _: make_workflow(client)),
    "AFW(workflow)": Subject(
        make=lambda client, _: AgentFrameworkWorkflow(workflow=make_workflow(client))
    ),
    "AFW(workflow_factory)": Subject(
        make=lambda client, _: runner_of(lambda: make_workflow(client))
    ),
    "subclass, super().run, workflow": Subject(
        make=lambda client, _: PassesOn(workflow=make_workflow(client))
    ),
    "subclass, super().run, factory": Subject(
        make=lambda client, _: PassesOn(workflow_factory=lambda thread_id: make_workflow(client)),
        keeps=Keeps.BY_CALLER,
    ),
    "subclass, run of its own": Subject(make=lambda client, _: targets.OwnRun(client)),
    "AFW()": Subject(make=lambda client, _: AgentFrameworkWorkflow()),
    "FunctionalWorkflow": Subject(make=lambda client, _: _definition(client).build()),
    "FunctionalWorkflowDefinition": Subject(make=lambda client, _: _definition(client)),
    "FunctionalWorkflowAgent": Subject(
        make=lambda client, _: _definition(client).build().as_agent()
    ),
    "AFA(FunctionalWorkflowAgent)": Subject(
        make=lambda client, _: AgentFrameworkAgent(targets.functional(client))
    ),
    "WorkflowAgent": Subject(make=lambda client, _: make_workflow(client).as_agent()),
    "AFA(WorkflowAgent)": Subject(
        make=lambda client, _: AgentFrameworkAgent(make_workflow(client).as_agent())
    ),
    "Agent": Subject(make=lambda client, _: make_agent(client), keeps=Keeps.NOTHING),
    "RawAgent": Subject(make=lambda client, _: RawAgent(client=client), keeps=Keeps.NOTHING),
    "Agent, with a provider that remembers": Subject(
        make=lambda client, _: targets.remembering_provider(client), hidden=True
    ),
    "Agent(conversation_id)": Subject(make=conversing, keeps=Keeps.ELSEWHERE),
    "AFA(Agent)": Subject(
        make=lambda client, _: AgentFrameworkAgent(make_agent(client)), keeps=Keeps.NOTHING
    ),
    "AFA(session id = thread id)": Subject(
        make=lambda client, _: targets.history_by_thread(client), keeps=Keeps.BY_THREAD
    ),
    "AFA(conversation id = thread id)": Subject(
        make=lambda client, _: targets.conversation_by_thread(client), keeps=Keeps.BY_THREAD
    ),
    "another SupportsAgentRun": Subject(make=lambda client, _: KeepsSession(client)),
    "subclass of Agent, run of its own": Subject(
        make=lambda client, _: OverridesRun(client=client)
    ),
    "WorkflowBuilder": Subject(
        make=lambda client, _: WorkflowBuilder(start_executor=make_agent(client))
    ),
    "SequentialBuilder": Subject(make=lambda client, _: sequential(make_agent(client))),
    "str": Subject(make=lambda client, _: "support"),
    "object": Subject(make=lambda client, _: object()),
}
