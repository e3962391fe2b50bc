"""A run that works until it may end, and its client, which may leave while it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import attrs
from agent_framework import (
    Agent,
    AgentExecutor,
    FunctionTool,
    Workflow,
    WorkflowBuilder,
)

from scoped_registration import (
    PersistentShared,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.agent_framework import per_run
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    Served,
    acknowledge,
    current_user,
    make_agent,
)


@attrs.define
class Work:
    """What a tool does for a run: it begins, and ends when it may, or is cancelled."""

    begun: asyncio.Event = attrs.field(factory=asyncio.Event)
    may_end: asyncio.Event = attrs.field(factory=asyncio.Event)
    log: list[str] = attrs.field(factory=list[str])

    async def work(self) -> str:
        """Work for a long time."""
        self.log.append("begun")
        self.begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.log.append("cancelled")
            raise
        self.log.append("done")
        return "worked"

    @property
    def tool(self) -> FunctionTool:
        return FunctionTool(name="work", description="Work.", func=self.work)


def workflow_of(agent: Agent[Any]) -> Workflow:
    executor = AgentExecutor(agent, id="support")
    return WorkflowBuilder(name="working", start_executor=executor).build()


Make = Callable[[RecordingModel, Work], Any]

MODES: dict[str, Make] = {
    "workflow": lambda model, work: ScopedFactory(
        lambda context: workflow_of(make_agent(model, tools=[work.tool])),
        scope=current_user,
        shares=[work],
    ),
    "agent": lambda model, work: ScopedFactory(
        lambda context: make_agent(model, tools=[work.tool]), scope=current_user, shares=[work]
    ),
    "per_run": lambda model, work: per_run(
        make_agent(model, tools=[work.tool]), scope=current_user
    ),
    "per thread": lambda model, work: SingleUser.per_thread(
        lambda context: workflow_of(make_agent(model, tools=[work.tool]))
    ),
    "single user": lambda model, work: SingleUser(
        workflow_of(make_agent(model, tools=[work.tool]))
    ),
    "shared": lambda model, work: PersistentShared(
        workflow_of(make_agent(model, tools=[work.tool])),
        acknowledgement=acknowledge(),
        access=current_user,
    ),
}


def is_free(registration: Any) -> Callable[[], bool]:
    return lambda: registration.statistics().leased == 0


async def leave_at_work(server: Served, work: Work, thread: str = "A", user: str = "alice") -> None:
    """Start a run that works, and be gone while it does."""
    work.begun.clear()

    async def working(received: bytes) -> bool:
        return b"TOOL_CALL_START" in received and work.begun.is_set()

    await server.hang_up(user, thread, "call:work", after=working)
