"""Programs that are scanned and never run, with what is to be found marked on its line."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from scoped_registration.audit.rules import Finding
from scoped_registration.audit.scan import scan_source

ROOT = Path(__file__).parents[2]

PRELUDE = """
from contextlib import asynccontextmanager
from functools import cache, lru_cache, partial
from typing import Annotated

from agent_framework import (
    Agent, AgentExecutor, AgentSession, Case, Default, Executor, Workflow, WorkflowAgent,
    WorkflowBuilder, WorkflowExecutor, executor, handler, workflow as functional,
)
from agent_framework.orchestrations import HandoffBuilder, SequentialBuilder
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import Body, Depends, FastAPI, Form, Header, Request
from pydantic import BaseModel
from scoped_registration import (
    PersistentShared, RegistrationBuilder, ScopeContext, ScopedFactory, SingleUser
)
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from agent_framework_hosting import WorkflowState
from elsewhere import agent, client, imported, settings

app = FastAPI()
serve = add_agent_framework_fastapi_endpoint
def user(x_user: Annotated[str, Header()]) -> str:
    return x_user
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()
def new_workflow() -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()
"""
PARTS = """
helper = Agent(client)
writer = AgentExecutor(helper)
other = AgentExecutor(helper)
session = AgentSession()
parts = [AgentExecutor(helper), AgentExecutor(helper)]
by_name = {"writer": AgentExecutor(helper)}
class Counting(Executor):
    def __init__(self):
        super().__init__(id="counting")
        self.seen = []
class Upper(Executor):
    @handler
    async def handle(self, text, context): ...
@executor(id="lower")
async def lower(text, context): ...
"""
"""What exists outside a factory, of every kind of part."""
_MARK = re.compile(r"# (SR\d{3}(?: SR\d{3})*)$")


def scanned(source: str, path: Path = Path("app.py")) -> list[Finding]:
    ast.parse(source)
    return sorted(scan_source(source.encode(), path))


def marked(source: str) -> list[tuple[int, str]]:
    """Return the lines and rules that the comments of a program announce."""
    return sorted(
        (number, rule)
        for number, line in enumerate(source.splitlines(), 1)
        if (found := _MARK.search(line))
        for rule in found[1].split()
    )


def check(program: str) -> None:
    """Scan a program behind the prelude: what is found is what is marked, and nothing else."""
    source = PRELUDE + program
    assert [(one.place.line, one.rule) for one in scanned(source)] == marked(source)
