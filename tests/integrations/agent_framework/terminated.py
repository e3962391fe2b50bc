"""A program that serves detached runs until it is told to end, and says what becomes of them.

``python -m tests.integrations.agent_framework.terminated FD``, with a listening socket.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from agent_framework import FunctionTool, Workflow
from fastapi import FastAPI

from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from tests.integrations.agent_framework.kit import RecordingModel, current_user, make_workflow


def tell(text: str) -> None:
    print(text, flush=True)


async def work() -> str:
    """Work for ever."""
    tell("begun")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        tell("cancelled")
        raise
    return "never"


@asynccontextmanager
async def build(context: ScopeContext[str]) -> AsyncGenerator[Workflow, None]:
    tool = FunctionTool(name="work", description="Work.", func=work)
    try:
        yield make_workflow(RecordingModel(), tools=[tool])
    finally:
        tell(f"closed {context.scope}")


def main(listener: socket.socket) -> None:
    app = FastAPI()
    stage = AGUIEndpointBuilder("support").isolation(ScopedFactory(build, scope=current_user))
    stage.pool(close_timeout=0.2).detached().mount(app)
    config = uvicorn.Config(app, log_level="warning", ws="none")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
