"""The framework's own helper: 17 targets, 8 choices of a scope, and every option with each."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import attrs
from ag_ui.core import BaseEvent
from agent_framework import (
    AgentExecutor,
    InMemoryCheckpointStorage,
    Workflow,
    WorkflowBuilder,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    AGUIRequest,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration.testing import Recorder
from scoped_registration.testing.agent_framework import (
    RecordedCheckpoints,
    RecordedSnapshots,
    RecordingChatClient,
)
from tests.integrations.agent_framework.kit import current_user
from tests.matrix.procedure import Played, play
from tests.testing import targets

# Any: the framework's own helper takes what each shape makes, and options by their names.

__all__ = ["CELLS", "SCOPES", "SHAPES", "Cell", "Outcome", "Shape", "check", "problems", "run"]


class PassesOn(AgentFrameworkWorkflow):
    """A subclass that adds nothing to the framework's run."""

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        async for event in super().run(input_data):
            yield event


@attrs.frozen(kw_only=True)
class Shape:
    """A target, and what is known of it.

    Attributes:
        make: Returns a new one, which calls the client that it is given.
        agent: It is served on the agent path, which has no checkpoints.
        leaks: It keeps one conversation for all its callers.
    """

    make: Callable[[Any], Any]
    agent: bool = False
    leaks: bool = False


def _fresh(client: Any) -> Callable[[str], Workflow]:
    return lambda thread_id: targets.make_workflow(client)


def _of_one_agent(client: Any) -> AgentFrameworkWorkflow:
    agent = targets.make_agent(client)

    def build(thread_id: str) -> Workflow:
        return WorkflowBuilder(start_executor=AgentExecutor(agent, id="support")).build()

    return AgentFrameworkWorkflow(workflow_factory=build)


def _starting_with_one_agent(client: Any) -> AgentFrameworkWorkflow:
    agent = targets.make_agent(client)

    def build(thread_id: str) -> Workflow:
        return WorkflowBuilder(start_executor=agent).build()

    return AgentFrameworkWorkflow(workflow_factory=build)


def _of_one_workflow(client: Any) -> AgentFrameworkWorkflow:
    workflow = targets.make_workflow(client)
    return AgentFrameworkWorkflow(workflow_factory=lambda thread_id: workflow)


SHAPES: dict[str, Shape] = {
    "Workflow": Shape(make=targets.make_workflow, leaks=True),
    "AFW(workflow)": Shape(
        make=lambda client: AgentFrameworkWorkflow(workflow=targets.make_workflow(client)),
        leaks=True,
    ),
    "AFW(workflow_factory)": Shape(
        make=lambda client: AgentFrameworkWorkflow(workflow_factory=_fresh(client))
    ),
    "factory captures Agent": Shape(make=_of_one_agent),
    "factory starts with captured Agent": Shape(make=_starting_with_one_agent),
    "factory captures AgentExecutor": Shape(make=targets.capturing_executor, leaks=True),
    "factory captures AgentSession": Shape(make=targets.capturing_session, leaks=True),
    "factory captures Workflow": Shape(make=_of_one_workflow, leaks=True),
    "factory captures WorkflowBuilder": Shape(make=targets.capturing_builder, leaks=True),
    "subclass, super().run, workflow": Shape(
        make=lambda client: PassesOn(workflow=targets.make_workflow(client)), leaks=True
    ),
    "subclass, super().run, factory": Shape(
        make=lambda client: PassesOn(workflow_factory=_fresh(client))
    ),
    "subclass, run of its own": Shape(make=targets.OwnRun, leaks=True),
    "Agent": Shape(make=targets.make_agent, agent=True),
    "AFA(agent)": Shape(
        make=lambda client: AgentFrameworkAgent(targets.make_agent(client)), agent=True
    ),
    "AFA(session id = thread id)": Shape(
        make=lambda client: AgentFrameworkAgent(
            targets.make_agent(client), legacy_session_id_from_thread_id=True
        ),
        agent=True,
    ),
    "workflow.as_agent()": Shape(
        make=lambda client: targets.make_workflow(client).as_agent(), agent=True, leaks=True
    ),
    "AFA(workflow.as_agent())": Shape(
        make=lambda client: AgentFrameworkAgent(targets.make_workflow(client).as_agent()),
        agent=True,
        leaks=True,
    ),
}


def _user_in_body(request: AGUIRequest) -> str:
    return str((request.forwarded_props or {})["user"])


_SINGLE = ("single_user", "authorization", "snapshot")
_RESOLVERS: dict[str, dict[str, Any]] = {
    "single_user": {"single_user": True},
    "authorization": {"authorization_scope_resolver": current_user},
    "snapshot": {"snapshot_scope_resolver": _user_in_body},
}
SCOPES: list[tuple[str, ...]] = [
    names for size in range(4) for names in itertools.combinations(_SINGLE, size)
]
"""Which of the three ways to say who calls are given: none, one, two or all."""


@attrs.frozen
class Cell:
    """One registration that is tried."""

    shape: str
    scopes: tuple[str, ...]
    store: bool
    checkpoint: bool
    detached: bool

    @property
    def accepted(self) -> bool:
        """Whether the framework is known to accept it."""
        return len(self.scopes) == 1 and not (self.checkpoint and SHAPES[self.shape].agent)

    @property
    def per_principal(self) -> bool:
        """Whether it says that callers differ."""
        return self.accepted and self.scopes != ("single_user",)

    @property
    def leaks(self) -> bool:
        """Whether a principal's text is known to reach another's model call."""
        return self.per_principal and SHAPES[self.shape].leaks

    @override
    def __str__(self) -> str:
        options = [name for name in ("store", "checkpoint", "detached") if getattr(self, name)]
        return ", ".join([self.shape, "+".join(self.scopes) or "no scope", *options])


def _cells() -> Iterator[Cell]:
    for shape, scopes in itertools.product(SHAPES, SCOPES):
        for options in itertools.product((False, True), repeat=3):
            yield Cell(shape, scopes, *options)


CELLS = list(_cells())


@attrs.frozen
class Outcome:
    """What became of a registration: refused, or the five requests."""

    refusal: str | None = None
    played: Played | None = None

    @property
    def leaks(self) -> bool:
        """Whether a principal's text reached another's model call."""
        return self.played is not None and self.played.between_principals != []


async def run(cell: Cell) -> Outcome:
    """Register a target with the framework's helper, and play."""
    recorder = Recorder()
    app = FastAPI()
    options: dict[str, Any] = {"detached_runs": cell.detached}
    for scope in cell.scopes:
        options |= _RESOLVERS[scope]
    if cell.store:
        options["snapshot_store"] = RecordedSnapshots(InMemoryAGUIThreadSnapshotStore(), recorder)
    if cell.checkpoint:
        options["checkpoint_storage"] = RecordedCheckpoints(InMemoryCheckpointStorage(), recorder)
    target = SHAPES[cell.shape].make(RecordingChatClient(recorder))
    try:
        add_agent_framework_fastapi_endpoint(app, target, "/", **options)
    except ValueError as error:
        return Outcome(refusal=str(error))
    return Outcome(played=await play(app, recorder))


def problems(cell: Cell, outcome: Outcome) -> Iterator[str]:
    """Yield what is otherwise than it is known to be, the failed controls first."""
    played = outcome.played
    if (played is not None) is not cell.accepted:
        yield f"accepted: {played is not None}, and {cell.accepted} was expected"
    if played is None:
        return
    if played.refused or played.unseen:
        yield f"control: not served {[*played.refused]}, own text not seen {played.unseen}"
    if cell.per_principal and outcome.leaks is not cell.leaks:
        yield f"leaks: {outcome.leaks}, and {cell.leaks} was expected"
    if played.alice_continues is not (cell.store or not _forgets(cell)):
        yield f"alice continues: {played.alice_continues}"


def _forgets(cell: Cell) -> bool:
    """Tell whether the framework makes a session for each run."""
    return SHAPES[cell.shape].agent and not SHAPES[cell.shape].leaks


async def check(cell: Cell) -> tuple[Outcome, list[str]]:
    """Register and play; return what became of it, and what is wrong with that."""
    outcome = await run(cell)
    return outcome, list(problems(cell, outcome))
