"""Endpoints of agent-framework, upstream's and ours, and how they are probed."""

from __future__ import annotations

from typing import Any

from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from fastapi import FastAPI

from scoped_registration import ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.testing import AGUIRoute, IsolationReport, Recorder, probe_isolation
from tests.testing.apps import USERS, current_user
from tests.testing.targets import make_workflow


def upstream(target: Any, **options: Any) -> FastAPI:
    app = FastAPI()
    add_agent_framework_fastapi_endpoint(
        app, target, "/", authorization_scope_resolver=current_user, **options
    )
    return app


def ours(client: Any, **stores: Any) -> FastAPI:
    app = FastAPI()
    stage = AGUIEndpointBuilder("support").isolation(
        ScopedFactory(lambda context: make_workflow(client), scope=current_user)
    )
    if stores:
        stage = stage.snapshots(stores["snapshots"]).checkpoints(stores["checkpoints"])
    stage.mount(app)
    return app


async def probe(
    app: FastAPI, recorder: Recorder, route: AGUIRoute | None = None, **options: Any
) -> IsolationReport:
    return await probe_isolation(app, route or AGUIRoute(), USERS, recorder=recorder, **options)
