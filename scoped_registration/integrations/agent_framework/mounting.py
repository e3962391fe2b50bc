"""From a declared mode to an endpoint on an application, or to a refusal."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, assert_never, cast

import attrs
from agent_framework import Workflow
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI

from scoped_registration.acknowledgement import Risk, check_risks
from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.integrations.agent_framework import runners, targets
from scoped_registration.integrations.agent_framework.detached import DetachedRuns
from scoped_registration.integrations.agent_framework.endpoint import Admission, Endpoint
from scoped_registration.integrations.agent_framework.per_run import PerRun, notes_on_agent
from scoped_registration.integrations.agent_framework.products import check_session, made, refusal
from scoped_registration.integrations.agent_framework.settings import EndpointSettings
from scoped_registration.integrations.application import Application
from scoped_registration.integrations.deployment import Workers
from scoped_registration.integrations.operations import check_operation, operations
from scoped_registration.modes import Mode, PersistentShared, PerThread, ScopedFactory, SingleUser
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from scoped_registration.runtime.comparison import Comparison
from scoped_registration.runtime.life import Given, Life
from scoped_registration.scope import ScopeContext

# Any: every registration is mounted alike, whatever its target's type.

__all__ = ["check_target", "mount"]


def check_target(mode: Mode, settings: EndpointSettings) -> None:
    """Refuse a target that the mode cannot serve: one cell of the contract table."""
    try:
        if isinstance(mode, SingleUser):
            targets.check_single_user(mode.target)
        elif isinstance(mode, PersistentShared):
            targets.check_shared(mode.target)
    except RegistrationError as error:
        raise error.located(registration=settings.name, declared_at=settings.declared_at) from None


def mount(
    app: FastAPI, mode: Mode, settings: EndpointSettings, workers: Workers | None
) -> Registration[Any]:
    """Add an endpoint to an application, or change nothing and refuse."""
    settings = _with_carried_stores(mode, settings)
    others = (settings.snapshots, settings.checkpoints)
    if settings.persisted is not None and others != (None, None):
        raise refusal(
            ReasonCode.STORE_ALREADY_CONFIGURED,
            ".persisted(store) keeps transcripts and checkpoints, and another store was given",
            "leave .snapshots(...) and .checkpoints(...) out",
            settings,
        )
    detached = None
    if settings.detached is not None:
        detached = DetachedRuns(settings.name, settings.detached)
        settings = attrs.evolve(settings, before_closing=(detached.cancel,))
    registration = _register(mode, settings)
    application = Application.of(app)
    _refuse_second_runner(application, mode, settings)
    for operation in operations(app):
        if operation.path == settings.path and "POST" in operation.methods:
            raise refusal(
                ReasonCode.DUPLICATE_ROUTE,
                f"the application serves POST {settings.path} already, and the first would win",
                "give each endpoint a path of its own",
                settings,
            )
    # Whatever the framework or a check refuses, it refuses here, on an application that is
    # thrown away; then the same is done on the real one.
    rehearsal = FastAPI(dependencies=app.router.dependencies)
    _add_endpoint(rehearsal, registration, settings, None)
    for operation in operations(rehearsal):
        check_operation(operation)
    application.add([registration], workers)
    _add_endpoint(app, registration, settings, detached)
    return registration


def _add_endpoint(
    app: FastAPI,
    registration: Registration[Any],
    settings: EndpointSettings,
    detached: DetachedRuns | None,
) -> None:
    admission = Admission(
        registration,
        settings.fittings,
        detached=detached,
        persistence=settings.persistence(),
    )
    options = settings.endpoint
    add_agent_framework_fastapi_endpoint(
        app,
        Endpoint(settings.fittings),
        settings.path,
        default_state=options.default_state,
        tags=None if options.tags is None else [*options.tags],
        dependencies=options.dependencies,
        keepalive_seconds=options.keepalive,
        # FastAPI takes a generator for a dependency; the framework's alias does not say so.
        authorization_scope_resolver=cast("Callable[..., str]", admission),
    )


def _register(mode: Mode, settings: EndpointSettings) -> Registration[Any]:
    match mode:
        case SingleUser():
            factory = runners.threaded_factory_of(mode.target)
            if factory is None:
                check_session(mode.target, settings)
                return SingleUserRegistration(settings, mode)
            return _register_threads(mode, factory, settings)
        case PerThread():
            return PerThreadRegistration(settings, mode, made(mode.factory, settings))
        case PerRun():
            settings = attrs.evolve(settings, notes=notes_on_agent(mode.agent))
            return _register_scoped(mode, Given(mode.agent), settings)
        case ScopedFactory():
            life = made(mode.factory, settings, _comparison(mode, settings))
            return _register_scoped(mode, life, settings)
        case PersistentShared():
            check_session(mode.target, settings)
            notes = _check_shared_risks(mode, settings)
            return SharedRegistration(attrs.evolve(settings, notes=notes), mode)
        case _:
            assert_never(mode)


def _register_scoped(
    mode: ScopedFactory[Any, Any], life: Life[Any], settings: EndpointSettings
) -> ScopedRegistration[Any, Any]:
    return ScopedRegistration(settings, mode, life)


def _register_threads(
    mode: SingleUser[Any], factory: Callable[[str], Workflow], settings: EndpointSettings
) -> PerThreadRegistration[Any]:
    """Serve a runner's `workflow_factory` from the pool.

    The framework would keep an instance per thread for ever; the pool bounds them.
    """

    def build(context: ScopeContext[str]) -> Workflow:
        return factory(context.thread_id)

    threads: PerThread[Any] = PerThread(build, owner=mode.owner)
    functools.update_wrapper(build, factory)  # the manifest names what the user wrote
    return PerThreadRegistration(settings, threads, made(build, settings))


def _with_carried_stores(mode: Mode, settings: EndpointSettings) -> EndpointSettings:
    """Return the settings with the stores of a runner of which only the factory is used."""
    if not isinstance(mode, SingleUser) or runners.threaded_factory_of(mode.target) is None:
        return settings
    runner: AgentFrameworkWorkflow = mode.target
    return attrs.evolve(
        settings,
        snapshots=runners.given(settings.snapshots, runner.snapshot_store),
        checkpoints=runners.given(settings.checkpoints, runner.checkpoint_storage),
    )


def _comparison(mode: ScopedFactory[Any, Any], settings: EndpointSettings) -> Comparison:
    return Comparison(settings.name, mode.shares, shareable=runners.is_shareable)


def _check_shared_risks(mode: PersistentShared[Any], settings: EndpointSettings) -> tuple[str, ...]:
    carried = targets.SHARED_RISKS
    checkpoints = runners.given(settings.checkpoints, runners.checkpoints_of(mode.target))
    if checkpoints is not None:
        carried |= {Risk.CHECKPOINT_CONTENTS}
        if Risk.CHECKPOINT_CONTENTS not in mode.acknowledgement.risks:
            raise refusal(
                ReasonCode.CHECKPOINT_OF_SHARED_STATE,
                "checkpoints of a shared workflow hold what every caller said",
                "add Risk.CHECKPOINT_CONTENTS to risks=, or leave .checkpoints(...) out",
                settings,
            )
    return check_risks(
        mode.acknowledgement,
        carried,
        registration=settings.name,
        declared_at=settings.declared_at,
    )


def _refuse_second_runner(application: Application, mode: Mode, settings: EndpointSettings) -> None:
    if not isinstance(mode, SingleUser | PersistentShared):
        return
    for other in application.registrations:
        if isinstance(other, SingleUserRegistration | SharedRegistration) and runners.served(
            other.mode.target
        ) is runners.served(mode.target):
            raise refusal(
                ReasonCode.RUNNER_ALREADY_REGISTERED,
                f"its target is served by registration {other.name!r} already, "
                "and two endpoints would run it at once",
                "build one object for each endpoint, or serve one endpoint",
                settings,
            )
