"""What one FastAPI application has registered: start-up checks, life and OpenAPI."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import date
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import attrs
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.integrations.deployment import (
    Workers,
    check_deployment,
    close_stores,
    open_store,
)
from scoped_registration.integrations.openapi import ExtendedOpenAPI
from scoped_registration.integrations.operations import (
    applications,
    check_operation,
    check_type,
    operations,
)
from scoped_registration.manifest import Description
from scoped_registration.registration import (
    Registration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from scoped_registration.runtime.report import log

# Any: an application holds registrations of targets of any type, and ASGI scopes are untyped.

__all__ = ["Application", "check_operation", "is_attached", "operations"]

_STATE = "scoped_registration"

# Which applications a registration is attached to: the last of them to stop closes it.
_holders: WeakKeyDictionary[Registration[Any], WeakSet[Application]] = WeakKeyDictionary()
_checked: WeakSet[FastAPI] = WeakSet()


class Application:
    """The registrations of one application. It is made on first use, by `of`."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._registrations: dict[str, Registration[Any]] = {}
        self._workers: dict[str, Workers] = {}  # by the names of registrations
        self._members: WeakSet[FastAPI] = WeakSet([app])  # the mounted ones too, once seen
        self._running = 0
        self._lifespan: object = None
        self._join_lifespan()

    @classmethod
    def of(cls, app: FastAPI) -> Application:
        """Return the record of an application.

        Raises:
            RegistrationError: ``option_invalid`` for anything else, such as a router.
        """
        check_type(app, FastAPI, "attach(app, ...), with the root application, whose lifespan runs")
        record = getattr(app.state, _STATE, None)
        if not isinstance(record, cls):
            record = cls(app)
            setattr(app.state, _STATE, record)
        return record

    @staticmethod
    def admit(registration: Registration[Any], scope: Scope) -> None:
        """Refuse a request at whose application nothing would close the instance.

        An application that is served without its lifespan is checked here, late but in time.

        Raises:
            RegistrationError: ``not_attached``, and what start-up refuses.
        """
        app: FastAPI | None = scope.get("app")
        own = None if app is None else getattr(app.state, _STATE, None)
        if (
            own is not None
            and own._running
            and own._registrations.get(registration.name) is registration
        ):
            return  # nearly every request: start-up has checked the rest
        holders = list(_holders.get(registration, ()))
        if not any(app in holder._members for holder in holders):
            for holder in holders:
                holder._discover()
        # Starlette puts app_root_path where a Mount was passed: no server runs the lifespan of
        # the application behind it.
        if app is None or not any(
            holder._running or holder._app is not app or "app_root_path" not in scope
            for holder in holders
            if app in holder._members
        ):
            raise _not_attached(registration)
        if app not in _checked:
            check_application(app)
            log.warning("an application is served without its lifespan: nothing closes instances")

    def add(
        self, registrations: Iterable[Registration[Any]], workers: Workers | None = None
    ) -> None:
        """Join registrations, all or none.

        Args:
            registrations: What builders have built.
            workers: How many processes serve the application, if that is declared.

        Raises:
            RegistrationError: ``duplicate_name``, ``runner_already_registered``;
                ``option_invalid`` for what is none.
        """
        joining = dict(self._registrations)
        declared = dict(self._workers)
        for registration in registrations:
            check_type(registration, Registration, "attach(app, ...), with what .build() returned")
            if registration.name in joining:
                other = joining[registration.name]
                raise RegistrationError(
                    ReasonCode.DUPLICATE_NAME,
                    "the application has a registration of this name already, declared at "
                    f"{other.declared_at}",
                    instead="attach it once"
                    if other is registration
                    else "give each registration a name of its own",
                    registration=registration.name,
                    declared_at=registration.declared_at,
                )
            _refuse_shared_target(registration, joining.values())
            joining[registration.name] = registration
            if workers is not None:
                declared[registration.name] = workers
        self._registrations, self._workers = joining, declared
        for registration in joining.values():
            _holders.setdefault(registration, WeakSet()).add(self)
        for app in self._discover():
            app.openapi_schema = None

    @property
    def registrations(self) -> tuple[Registration[Any], ...]:
        """What was joined, in that order."""
        return tuple(self._registrations.values())

    def describe(self) -> list[Description]:
        """Return what is registered, by name."""
        return [self._describe(self._registrations[name]) for name in sorted(self._registrations)]

    def _describe(self, registration: Registration[Any]) -> Description:
        description = registration.describe()
        workers = self._workers.get(registration.name)
        if workers is None:
            return description
        return attrs.evolve(description, options=description.options | {"workers": workers})

    def _discover(self) -> list[FastAPI]:
        """Note the applications that are mounted by now, and show modes in their schemas."""
        found = list(applications(self._app))
        self._members.update(found)
        for app in found:
            ExtendedOpenAPI.install(app)
        return found

    def _join_lifespan(self) -> None:
        """Nest inside the application's lifespan, also where it is set or extended later."""
        router = self._app.router
        serve = router.lifespan

        async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
            self._wrap_lifespan()
            await serve(scope, receive, send)

        router.lifespan = lifespan  # type: ignore[method-assign]
        self._wrap_lifespan()

    def _wrap_lifespan(self) -> None:
        router = self._app.router
        inner = router.lifespan_context
        if inner is self._lifespan:
            return

        @asynccontextmanager
        async def lifespan(app: FastAPI) -> AsyncGenerator[Any, None]:
            async with inner(app) as state:
                if self._lifespan is not lifespan:  # a later one nests deeper
                    yield state
                    return
                try:
                    await self._start()
                    yield state
                finally:
                    await self._stop()

        self._lifespan = router.lifespan_context = lifespan

    def check(self) -> None:
        """Refuse what start-up refuses, in this application and those mounted under it.

        Raises:
            RegistrationError: As `check_application`.
        """
        for app in self._discover():
            check_application(app)

    async def _start(self) -> None:
        self._running += 1
        self.check()
        today = date.today()
        for description in self.describe():
            # Sharing is said where nobody has configured logging, too.
            level = logging.INFO if description.acknowledgement is None else logging.WARNING
            log.log(level, "%s", description.sentence(today))
            for note in description.notes:
                log.warning("registration %r: %s", description.name, note)
        for registration in self._registrations.values():
            check_deployment(registration, self._workers.get(registration.name))
            await open_store(registration)
            if isinstance(registration, ScopedRegistration):
                await registration.verify()

    async def _stop(self) -> None:
        self._running -= 1
        ending = [
            registration
            for registration in self._registrations.values()
            if not any(holder._running for holder in _holders[registration])
        ]
        await asyncio.gather(*map(_shut_down, ending))
        await close_stores(ending)


def _refuse_shared_target(
    registration: Registration[Any], others: Iterable[Registration[Any]]
) -> None:
    target = _target_of(registration)
    for other in others:
        if target is not None and _target_of(other) is target:
            raise RegistrationError(
                ReasonCode.RUNNER_ALREADY_REGISTERED,
                f"its target is served by registration {other.name!r} already, "
                "and two registrations would run it at once",
                instead="build one object for each registration, or use one registration",
                registration=registration.name,
                declared_at=registration.declared_at,
            )


def _target_of(registration: Registration[Any]) -> object:
    if isinstance(registration, SingleUserRegistration | SharedRegistration):
        return registration.mode.target
    return None


async def _shut_down(registration: Registration[Any]) -> None:
    # Each closing that failed was logged and counted when it failed.
    with contextlib.suppress(ExceptionGroup):
        await registration.shutdown()


def is_attached(registration: Registration[Any]) -> bool:
    """Tell whether a registration is attached to an application that still exists."""
    return bool(_holders.get(registration))


def check_application(app: FastAPI) -> None:
    """Refuse an application with a route on which a registration cannot keep its promise.

    Raises:
        RegistrationError: As `check_operation`, and ``not_attached``.
    """
    for operation in operations(app):
        check_operation(operation)
        for registration, _ in operation.uses:
            if registration not in _holders:
                raise _not_attached(registration)
    _checked.add(app)


def _not_attached(registration: Registration[Any]) -> RegistrationError:
    return RegistrationError(
        ReasonCode.NOT_ATTACHED,
        "the registration is attached to no application whose lifespan covers this route, "
        "so nothing would close it",
        instead="attach(app, registration), with the root application",
        registration=registration.name,
        declared_at=registration.declared_at,
    )
