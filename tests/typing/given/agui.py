"""What the corpora use of agent-framework. Nothing here runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from uuid import UUID

from agent_framework import (
    Agent,
    FunctionalWorkflow,
    FunctionalWorkflowDefinition,
    InMemoryCheckpointStorage,
    RawAgent,
    SupportsAgentRun,
    Workflow,
    WorkflowAgent,
    WorkflowBuilder,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    InMemoryAGUIThreadSnapshotStore,
)
from fastapi import FastAPI
from pydantic import BaseModel

from scoped_registration import Acknowledgement, Risk, ScopeContext


class MyWorkflow(Workflow): ...


class MyRunner(AgentFrameworkWorkflow): ...


class Shared(BaseModel):
    language: str = "en"


class OrchestrationBuilder:
    """Shaped as the orchestration builders are: an object that builds from its own parts."""

    def build(self) -> Workflow:
        raise NotImplementedError


def workflow_() -> Workflow:
    raise NotImplementedError


def my_workflow_() -> MyWorkflow:
    raise NotImplementedError


def runner_() -> AgentFrameworkWorkflow:
    raise NotImplementedError


def my_runner_() -> MyRunner:
    raise NotImplementedError


def agent_runner_() -> AgentFrameworkAgent:
    raise NotImplementedError


def agent_() -> Agent[Any]:
    raise NotImplementedError


def raw_agent_() -> RawAgent[Any]:
    raise NotImplementedError


def workflow_agent_() -> WorkflowAgent:
    raise NotImplementedError


def any_agent_() -> SupportsAgentRun:
    raise NotImplementedError


def workflow_builder_() -> WorkflowBuilder:
    raise NotImplementedError


def functional_() -> FunctionalWorkflow:
    raise NotImplementedError


def definition_() -> FunctionalWorkflowDefinition:
    raise NotImplementedError


workflow = workflow_()
my_workflow = my_workflow_()
runner = runner_()
my_runner = my_runner_()
agent_runner = agent_runner_()
agent = agent_()
raw_agent = raw_agent_()
workflow_agent = workflow_agent_()
any_agent = any_agent_()
workflow_builder = workflow_builder_()
orchestration = OrchestrationBuilder()
functional = functional_()
definition = definition_()

app = FastAPI()
snapshots = InMemoryAGUIThreadSnapshotStore()
checkpoints = InMemoryCheckpointStorage()
acknowledgement = Acknowledgement(reason="one room", owner="sre", risks={Risk.WORKFLOW_STATE})


def build(context: ScopeContext[str]) -> Workflow:
    raise NotImplementedError


async def async_build(context: ScopeContext[str]) -> Workflow:
    raise NotImplementedError


@asynccontextmanager
async def opened(context: ScopeContext[str]) -> AsyncGenerator[Workflow, None]:
    yield workflow


@contextmanager
def sync_opened(context: ScopeContext[str]) -> Generator[Workflow, None, None]:
    yield workflow


def build_mine(context: ScopeContext[str]) -> MyWorkflow:
    raise NotImplementedError


def build_runner(context: ScopeContext[str]) -> AgentFrameworkWorkflow:
    raise NotImplementedError


def build_agent_runner(context: ScopeContext[str]) -> AgentFrameworkAgent:
    raise NotImplementedError


def build_agent(context: ScopeContext[str]) -> Agent[Any]:
    raise NotImplementedError


async def async_build_agent(context: ScopeContext[str]) -> Agent[Any]:
    raise NotImplementedError


@asynccontextmanager
async def opened_agent(context: ScopeContext[str]) -> AsyncGenerator[Agent[Any], None]:
    yield agent


@contextmanager
def sync_opened_agent(context: ScopeContext[str]) -> Generator[Agent[Any], None, None]:
    yield agent


def build_workflow_agent(context: ScopeContext[str]) -> WorkflowAgent:
    raise NotImplementedError


def build_any_agent(context: ScopeContext[str]) -> SupportsAgentRun:
    raise NotImplementedError


def build_builder(context: ScopeContext[str]) -> WorkflowBuilder:
    raise NotImplementedError


def build_text(context: ScopeContext[str]) -> str:
    raise NotImplementedError


def of_thread_id(thread_id: str) -> Workflow:
    raise NotImplementedError


def no_context() -> Workflow:
    raise NotImplementedError


def user(x_user: str) -> str:
    return x_user


async def async_user(x_user: str) -> str:
    return x_user


def uuid() -> UUID:
    raise NotImplementedError


def maybe_user() -> str | None:
    raise NotImplementedError


async def async_maybe_user() -> str | None:
    raise NotImplementedError


def roles() -> list[str]:
    raise NotImplementedError
