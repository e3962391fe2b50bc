"""Shared-state verification on the framework's own objects: the factories of the contract (P9).

Each factory is what an application would write, and is built twice. Which classes the
framework makes to be shared is given as data: an agent, a chat client, a tool and a context
provider keep a session's state in the session.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentExecutor,
    AgentSession,
    BaseChatClient,
    ContextProvider,
    InMemoryHistoryProvider,
    Workflow,
    WorkflowBuilder,
    WorkflowExecutor,
    tool,
)

from scoped_registration.integrations.agent_framework.runners import is_shareable
from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import compare, survey
from tests.integrations.agent_framework.kit import RecordingModel, make_agent, make_workflow
from tests.integrations.agent_framework.samples import (
    OwnRun,
    asking_workflow,
    definition_of,
    echo_workflow,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")

MODEL = RecordingModel()
PROVIDER = InMemoryHistoryProvider()
Factory = Callable[[], object]


def findings(make: Factory) -> list[tuple[str, str]]:
    """Return the path and the class of what two products share."""
    permitted = Permitted(shareable=is_shareable)
    first, second = survey(make(), permitted), survey(make(), permitted)
    assert first.complete
    shared = compare(first, second, hidden=())
    return [(each.path_second, each.type_name.rpartition(".")[2]) for each in shared]


def of(start: Any) -> Workflow:
    """Return a new workflow that starts with an agent or an executor."""
    return WorkflowBuilder(name="w", start_executor=start).build()


@tool
def add(a: int, b: int) -> int:
    return a + b


def agent(name: str = "assistant") -> Agent[Any]:
    return Agent(
        client=MODEL,
        name=name,
        instructions="You answer.",
        tools=[add],
        context_providers=[PROVIDER],
        require_per_service_call_history_persistence=True,
    )


AGENT, OTHER = agent(), agent("other")


def everything_new() -> Workflow:
    return make_workflow(RecordingModel(), providers=[InMemoryHistoryProvider()])


SAFE: dict[str, Factory] = {
    "nothing captured": everything_new,
    "the model": lambda: make_workflow(MODEL),
    "tools and providers": lambda: of(AgentExecutor(agent(), id="support")),
    "an agent, as start executor": lambda: of(AGENT),
    "an agent, wrapped": lambda: of(AgentExecutor(AGENT, id="support")),
    "an agent, as the product": lambda: AGENT,
    "a new agent": agent,
    "a workflow in a workflow, both new": lambda: of(WorkflowExecutor(of(AGENT), id="inner")),
    "a new workflow, as an agent": lambda: of(of(AGENT).as_agent()),
    "an executor with a question": asking_workflow,
    "an executor with a handler": echo_workflow,
    "a runner": lambda: OwnRun(MODEL),
    "a functional workflow, all new": lambda: definition_of(MODEL).build().as_agent(),
}


@pytest.mark.parametrize("case", SAFE)
def test_p9_what_may_be_captured_is_no_finding(case: str) -> None:
    assert findings(SAFE[case]) == []


def captured_executor() -> Factory:
    executor = AgentExecutor(AGENT, id="support")
    return lambda: of(executor)


def captured_builder() -> Factory:
    return WorkflowBuilder(name="w", start_executor=AGENT).build


def captured_builder_of_an_executor() -> Factory:
    return WorkflowBuilder(name="w", start_executor=AgentExecutor(AGENT, id="support")).build


def captured_session() -> Factory:
    session = AgentSession()
    return lambda: of(AgentExecutor(AGENT, session=session, id="support"))


def captured_workflow() -> Factory:
    workflow = of(AGENT)
    return lambda: workflow


def captured_inner_workflow() -> Factory:
    inner = of(AGENT)
    return lambda: of(WorkflowExecutor(inner, id="inner"))


def captured_workflow_executor() -> Factory:
    executor = WorkflowExecutor(of(AGENT), id="inner")
    return lambda: of(executor)


def captured_workflow_agent() -> Factory:
    inner = of(AGENT).as_agent()
    return lambda: of(AgentExecutor(inner, id="support"))


def remembered_by_thread() -> Factory:
    @functools.lru_cache
    def build(thread: str) -> Workflow:
        return of(AGENT)

    return lambda: build("t")


def captured_session_of_a_definition() -> Factory:
    definition = definition_of(MODEL)
    return lambda: definition.build().as_agent()


def new_agents_around_one_memory() -> Factory:
    memory: list[str] = []

    class Remembering(ContextProvider):
        def __init__(self) -> None:
            super().__init__("memory")
            self.memory = memory

    return lambda: of(AgentExecutor(make_agent(MODEL, providers=[Remembering()]), id="support"))


LEAKING: dict[Callable[[], Factory], list[tuple[str, str]]] = {
    captured_executor: [('workflow.executors["support"]', "AgentExecutor")],
    captured_builder: [
        ("workflow.edge_groups[0]", "InternalEdgeGroup"),
        ('workflow.executors["assistant"]', "AgentExecutor"),
    ],
    captured_builder_of_an_executor: [
        ("workflow.edge_groups[0]", "InternalEdgeGroup"),
        ('workflow.executors["support"]', "AgentExecutor"),
    ],
    captured_session: [('workflow.executors["support"]._session', "AgentSession")],
    captured_workflow: [("workflow", "Workflow")],
    captured_inner_workflow: [('workflow.executors["inner"].workflow', "Workflow")],
    captured_workflow_executor: [('workflow.executors["inner"]', "WorkflowExecutor")],
    captured_workflow_agent: [('workflow.executors["support"]._agent', "WorkflowAgent")],
    remembered_by_thread: [("workflow", "Workflow")],
    captured_session_of_a_definition: [
        ("functional_workflow_agent._workflow._func.<closure session>", "AgentSession")
    ],
    new_agents_around_one_memory: [
        ('workflow.executors["support"]._agent.context_providers[0].memory', "list")
    ],
}


@pytest.mark.parametrize("capture", LEAKING, ids=lambda capture: capture.__name__)
def test_p9_what_may_not_be_captured_is_named_by_its_path(capture: Callable[[], Factory]) -> None:
    assert findings(capture()) == LEAKING[capture]


def test_without_its_kinds_a_framework_has_to_be_declared() -> None:
    def shared(*shares: object) -> list[str]:
        permitted = Permitted(shares)
        first, second = (survey(make_workflow(MODEL), permitted) for _ in range(2))
        return [each.type_name for each in compare(first, second, hidden=())]

    assert shared() == [f"{RecordingModel.__module__}.RecordingModel"]
    assert shared(MODEL) == shared(BaseChatClient) == []


@pytest.mark.skipif(
    importlib.util.find_spec("agent_framework_orchestrations") is None,
    reason="agent-framework-orchestrations is not installed",
)
class TestOrchestrations:
    """The builders of a distribution of its own, each with agents or with an executor."""

    @staticmethod
    def builder(kind: str, first: object, second: object) -> Any:
        package: Any = importlib.import_module("agent_framework_orchestrations")
        more: dict[str, object] = {}
        if kind == "GroupChat":
            more["selection_func"] = lambda state: "other"  # pyright: ignore[reportUnknownLambdaType]
        builder = getattr(package, f"{kind}Builder")(participants=[first, second], **more)
        return builder.with_start_agent(first) if kind == "Handoff" else builder

    @pytest.mark.parametrize("kind", ["Sequential", "Concurrent", "Handoff", "GroupChat"])
    def test_p9_a_builder_of_agents_wraps_them_each_time(self, kind: str) -> None:
        captured = self.builder(kind, AGENT, OTHER)
        assert findings(lambda: self.builder(kind, AGENT, OTHER).build()) == []
        assert findings(captured.build) == []

    @pytest.mark.parametrize("kind", ["Sequential", "Concurrent", "GroupChat"])
    def test_p9_a_builder_of_executors_shares_them(self, kind: str) -> None:
        executor = AgentExecutor(AGENT, id="assistant")
        captured = self.builder(kind, executor, OTHER)
        assert findings(captured.build) == [('workflow.executors["assistant"]', "AgentExecutor")]

    def test_p9_a_workflow_agent_as_a_participant_is_shared(self) -> None:
        inner = of(AGENT).as_agent(name="inner")
        ((path, name),) = findings(lambda: self.builder("Sequential", inner, OTHER).build())
        assert (path, name) == ('workflow.executors["inner"]._agent', "WorkflowAgent")
