"""How a registration in the framework's own words is spelt with the builder.

Each branch of `mode_for` is what a user would write for that target. Where the builder has no
such thing, the plugin gives the nearest one that it has, and says so here:

* ``snapshot_scope_resolver`` sees the request body alone. It becomes a dependency that reads
  the body and calls it, and answers as the framework does when it raises.
* A runner around an agent becomes a runner for each key around the same agent, with the same
  place for approvals, since the tests look into it.
* ``detached_runs=True`` refuses a second run of the thread, where the builder lets it wait.
* What the framework stores on a runner that it is given is declared on the builder.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

import attrs
from agent_framework import RawAgent
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow, AGUIRequest
from fastapi import FastAPI, HTTPException, Request

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    Risk,
    ScopeContext,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.integrations.agent_framework.contract import Kind, kind_of
from tests.conformance.suite import Mode

# Any: what a test of the framework passes is checked at run time, which is under test here.

__all__ = ["Arguments", "mode_for", "register"]

_log = logging.getLogger(__name__)

ACKNOWLEDGEMENT = Acknowledgement(
    reason="the framework's own tests share one target", owner="conformance", risks=set(Risk)
)


@attrs.frozen(kw_only=True)
class Arguments:
    """The arguments of the framework's function, with its names and defaults."""

    app: FastAPI
    agent: Any
    path: str
    state_schema: Any
    predict_state_config: dict[str, dict[str, str]] | None
    allow_origins: list[str] | None
    default_state: dict[str, Any] | None
    tags: list[str] | None
    dependencies: Any
    snapshot_store: Any
    snapshot_scope_resolver: Callable[[AGUIRequest], object] | None
    checkpoint_storage: Any
    keepalive_seconds: float | None
    a2ui_config: dict[str, Any] | None
    detached_runs: bool
    max_detached_runs: int
    detached_run_timeout_seconds: float
    authorization_scope_resolver: Callable[..., Any] | None
    single_user: bool

    @property
    def scope(self) -> Callable[..., Any]:
        """The dependency that says who calls."""
        if self.authorization_scope_resolver is not None:
            return self.authorization_scope_resolver
        assert self.snapshot_scope_resolver is not None
        return _dependency(self.snapshot_scope_resolver)

    @property
    def runner_options(self) -> dict[str, Any]:
        """What the framework gives to the runner that it makes for a bare agent."""
        return {
            "state_schema": self.state_schema,
            "predict_state_config": self.predict_state_config,
            "a2ui": self.a2ui_config,
        }


def register(given: Arguments, mode: Mode, name: str) -> None:
    """Register what the framework was to register, through the builder."""
    # Any: which stage opens depends on the target, and no checker sees that here.
    declared: Any = mode_for(given, mode)
    stage = cast("Any", AGUIEndpointBuilder(name, given.path).isolation(declared))
    options: dict[str, Any] = {
        "default_state": given.default_state,
        "keepalive": given.keepalive_seconds,
        "tags": given.tags,
        "dependencies": given.dependencies or (),
    }
    if isinstance(given.agent, RawAgent):
        options |= given.runner_options
    stage = stage.options(**options)
    snapshots, checkpoints = _stores(given)
    if snapshots is not None:
        stage = stage.snapshots(snapshots)
    if checkpoints is not None:
        stage = stage.checkpoints(checkpoints)
    if given.detached_runs:
        limits: dict[str, Any] = {
            "max_runs": given.max_detached_runs,
            "timeout": given.detached_run_timeout_seconds,
        }
        if "max_runs_per_scope" in inspect.signature(stage.detached).parameters:
            limits["max_runs_per_scope"] = None  # the framework has no such bound
            stage = stage.concurrency("reject")  # as it does while a detached run goes on
        stage = stage.detached(**limits)
    stage.mount(given.app)


def mode_for(given: Arguments, mode: Mode) -> object:
    """Return the isolation mode that a user would declare for a target."""
    agent, kind = given.agent, kind_of(given.agent)
    if given.single_user:
        return SingleUser(agent)
    if kind is Kind.FACTORY_RUNNER:
        factory = agent._workflow_factory
        return ScopedFactory(lambda context: factory(context.thread_id), scope=given.scope)
    if kind is Kind.AGENT:
        return per_run(agent, scope=given.scope)
    if kind is Kind.AGENT_RUNNER or (kind is Kind.OTHER_AGENT and mode is Mode.STRICT):
        return _runner_per_key(agent, given)
    if mode is Mode.SHARED:
        return PersistentShared(agent, acknowledgement=ACKNOWLEDGEMENT, access=given.scope)
    return _unacknowledged(agent, kind, given)


def _unacknowledged(agent: Any, kind: Kind, given: Arguments) -> object:
    """Declare that a shared target is none, which is refused here and now."""
    if kind in (Kind.WORKFLOW_AGENT, Kind.SESSION_BY_THREAD, Kind.CONTINUING_AGENT):
        return per_run(agent, scope=given.scope)
    return ScopedFactory(agent, scope=given.scope)


def _runner_per_key(runner: AgentFrameworkAgent, given: Arguments) -> object:
    """Return a runner for each key; they share the agent, as the framework's runner does."""

    def build(context: ScopeContext[str]) -> AgentFrameworkAgent:
        built = copy.copy(runner)
        built.config = copy.copy(runner.config)
        return built

    return ScopedFactory(build, scope=given.scope, shares=_kept(runner))


def _kept(runner: AgentFrameworkAgent) -> tuple[object, ...]:
    """Return what the copies of a runner have in common.

    Its approvals are keyed by scope and thread, and the tests look at them from outside.
    """
    config = runner.config
    kept = (
        runner.agent,
        runner._approval_state_store,  # pyright: ignore[reportPrivateUsage]
        config.snapshot_store,
        config.state_schema,
        config.predict_state_config,
        config.a2ui_config,
    )
    return tuple(value for value in kept if value is not None)


def _stores(given: Arguments) -> tuple[object, object]:
    snapshots, checkpoints = given.snapshot_store, given.checkpoint_storage
    if isinstance(given.agent, AgentFrameworkWorkflow):
        # Only the factory of such a runner is used: what it carries is declared.
        if snapshots is None:
            snapshots = given.agent.snapshot_store
        if checkpoints is None:
            checkpoints = given.agent.checkpoint_storage
    return snapshots, checkpoints


def _dependency(resolver: Callable[[AGUIRequest], object]) -> Callable[[Request], Awaitable[Any]]:
    async def scope(request: Request) -> Any:
        try:
            body = AGUIRequest.model_validate(await request.json())
        except ValueError:
            return "nobody"  # the endpoint finds the same, and answers 422
        try:
            resolved = resolver(body)
            return await resolved if inspect.isawaitable(resolved) else resolved
        except Exception as error:
            _log.exception("the resolver failed")
            raise HTTPException(500, "An internal error has occurred.") from error

    return scope
