"""Factories that make a part once, and build around it for each key: some parts may be shared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from agent_framework import (
    AgentExecutor,
    AgentSession,
    Workflow,
    WorkflowBuilder,
    WorkflowExecutor,
)
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow

from scoped_registration import ReasonCode
from tests.matrix.subject import Build, Keeps, Subject
from tests.matrix.targets import build_around, conversing, runner_of, sequential
from tests.testing import targets
from tests.testing.targets import executor_of, make_agent, make_workflow

# Any: what is captured is whatever a factory may reach.

__all__ = ["CAPTURES"]


def _captures(part: Callable[[Any], Any], build: Callable[[Any], Any]) -> Callable[[Any], Build]:
    """Return a capturing factory: the part is made once, and built around for each key."""

    def capturing(client: Any) -> Build:
        captured = part(client)
        return lambda context: build(captured)

    return capturing


def _captures_session(client: Any) -> Build:
    session = AgentSession()
    return lambda context: build_around(executor_of(client, session=session))


def _cached_by_thread(client: Any) -> Build:
    @functools.lru_cache
    def build(thread_id: str) -> Workflow:
        return make_workflow(client)

    return lambda context: build(context.thread_id)


def _session_by_thread(client: Any) -> Build:
    history = targets.ById()

    def build(context: Any) -> Workflow:
        session = AgentSession(session_id=context.thread_id)
        return build_around(executor_of(client, [history], session=session))

    return build


_SHARED_INSTANCE = ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE
_REUSES = ReasonCode.FACTORY_REUSES_STATE
CAPTURES: dict[str, Subject] = {
    "Agent, in a new AgentExecutor": Subject(
        capturing=_captures(make_agent, lambda it: build_around(AgentExecutor(it, id="support")))
    ),
    "Agent, as start_executor": Subject(capturing=_captures(make_agent, build_around)),
    "Agent, in a new SequentialBuilder": Subject(
        capturing=_captures(make_agent, lambda it: sequential(it).build())
    ),
    "SequentialBuilder of an Agent": Subject(
        capturing=_captures(lambda client: sequential(make_agent(client)), lambda it: it.build())
    ),
    "Agent, in a new AFA": Subject(
        capturing=_captures(make_agent, AgentFrameworkAgent), keeps=Keeps.NOTHING
    ),
    "Agent itself": Subject(
        capturing=_captures(make_agent, lambda it: it), keeps=Keeps.NOTHING, reuses=_SHARED_INSTANCE
    ),
    "Workflow itself": Subject(
        capturing=_captures(make_workflow, lambda it: it), reuses=_SHARED_INSTANCE
    ),
    "Workflow, in a new AFW": Subject(
        capturing=_captures(make_workflow, lambda it: AgentFrameworkWorkflow(workflow=it)),
        reuses=_SHARED_INSTANCE,
    ),
    "Workflow, as a new agent": Subject(
        capturing=_captures(make_workflow, lambda it: it.as_agent()), reuses=_SHARED_INSTANCE
    ),
    "Workflow, in a new WorkflowExecutor": Subject(
        capturing=_captures(
            make_workflow, lambda it: build_around(WorkflowExecutor(it, id="inner"))
        ),
        reuses=_REUSES,
    ),
    "WorkflowExecutor": Subject(
        capturing=_captures(
            lambda client: WorkflowExecutor(make_workflow(client), id="inner"), build_around
        ),
        reuses=_REUSES,
    ),
    "WorkflowAgent, as participant": Subject(
        capturing=_captures(
            lambda client: make_workflow(client).as_agent(name="inner"), build_around
        ),
        reuses=_REUSES,
    ),
    "AgentExecutor": Subject(capturing=_captures(executor_of, build_around), reuses=_REUSES),
    "AgentExecutor, in a new SequentialBuilder": Subject(
        capturing=_captures(executor_of, lambda it: sequential(it).build()), reuses=_REUSES
    ),
    "AgentSession": Subject(capturing=_captures_session, reuses=_REUSES),
    "WorkflowBuilder of an Agent": Subject(
        capturing=_captures(
            lambda client: WorkflowBuilder(start_executor=make_agent(client)),
            lambda it: it.build(),
        ),
        reuses=_REUSES,
    ),
    "WorkflowBuilder of an AgentExecutor": Subject(
        capturing=_captures(
            lambda client: WorkflowBuilder(start_executor=executor_of(client)),
            lambda it: it.build(),
        ),
        reuses=_REUSES,
    ),
    "AgentExecutor, in an AFW's factory": Subject(
        capturing=_captures(executor_of, lambda it: runner_of(lambda: build_around(it))),
        reuses=_REUSES,
    ),
    "Workflow, in an AFW's factory": Subject(
        capturing=_captures(make_workflow, lambda it: runner_of(lambda: it)), reuses=_REUSES
    ),
    "WorkflowBuilder, in an AFW's factory": Subject(
        capturing=_captures(
            lambda client: WorkflowBuilder(start_executor=make_agent(client)),
            lambda it: runner_of(it.build),
        ),
        reuses=_REUSES,
    ),
    "a cache by thread id": Subject(
        capturing=_cached_by_thread, reuses=_SHARED_INSTANCE, by_thread=True
    ),
    "a history by thread id": Subject(
        capturing=_session_by_thread, keeps=Keeps.BY_THREAD, hidden=True
    ),
    "a provider that remembers": Subject(
        capturing=_captures(
            targets.remembering_provider, lambda it: build_around(AgentExecutor(it, id="support"))
        ),
        hidden=True,
    ),
    "one conversation id": Subject(
        capturing=lambda client: lambda context: conversing(client, "the-only-one"),
        keeps=Keeps.ELSEWHERE,
        hidden=True,
    ),
}
