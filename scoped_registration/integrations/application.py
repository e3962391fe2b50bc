"""What one FastAPI application has registered: start-up checks, life and OpenAPI."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from datetime import date
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import attrs
import fastapi.routing
from fastapi import FastAPI
from fastapi.security.base import SecurityBase
from starlette.routing import Mount

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.manifest import Description
from scoped_registration.registration import (
    Registration,
    SingleUserRegistration,
    PerThreadRegistration,
)
from scoped_registration.runtime.report import log

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant

__all__ = ["Application"]

_EXTENSION = "x-scoped-registration"
_STATE = "scoped_registration"

# How many running applications serve a registration: the last to stop closes it.
_attached: WeakKeyDictionary[Registration[Any], int] = WeakKeyDictionary()


class Application:
    """The registrations of one application. It is made on first use, by `of`."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._registrations: dict[str, Registration[Any]] = {}
        self._join_lifespan()
        self._extend_openapi(app)

    @classmethod
    def of(cls, app: FastAPI) -> Application:
        """Return the record of an application."""
        record = getattr(app.state, _STATE, None)
        if not isinstance(record, cls):
            record = cls(app)
            setattr(app.state, _STATE, record)
        return record

    @staticmethod
    def knows(registration: Registration[Any]) -> bool:
        """Tell whether a registration is attached to any application."""
        return registration in _attached

    def add(self, registrations: Iterable[Registration[Any]]) -> None:
        """Join registrations, all or none.

        Raises:
            RegistrationError: ``duplicate_name``.
        """
        joining = dict(self._registrations)
        for registration in registrations:
            if registration.name in joining:
                raise RegistrationError(
                    ReasonCode.DUPLICATE_NAME,
                    "the application has a registration of this name already, declared at "
                    f"{joining[registration.name].declared_at}",
                    instead="give each registration a name of its own",
                    registration=registration.name,
                    declared_at=registration.declared_at,
                )
            joining[registration.name] = registration
        self._registrations = joining
        for registration in joining.values():
            _attached.setdefault(registration, 0)
        self._app.openapi_schema = None

    @property
    def registrations(self) -> tuple[Registration[Any], ...]:
        """What was joined, in that order."""
        return tuple(self._registrations.values())

    def describe(self) -> list[Description]:
        """Return what is registered, by name."""
        return [self._registrations[name].describe() for name in sorted(self._registrations)]

    def _join_lifespan(self) -> None:
        inner = self._app.router.lifespan_context

        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[Any]:
            async with inner(app) as state:
                self._start()
                try:
                    yield state
                finally:
                    await self._stop()

        self._app.router.lifespan_context = lifespan

    def _start(self) -> None:
        for app in applications(self._app):
            for operation in operations(app):
                check_operation(operation)
            self._extend_openapi(app)
        today = date.today()
        for description in self.describe():
            given = description.acknowledgement
            level = logging.WARNING if given and given.overdue(today) else logging.INFO
            log.log(level, description.sentence(today))
        for registration in self._registrations.values():
            _attached[registration] += 1

    async def _stop(self) -> None:
        leaving = list(self._registrations.values())
        for registration in leaving:
            _attached[registration] -= 1
        await asyncio.gather(
            *(_shut_down(registration) for registration in leaving if not _attached[registration])
        )

    def _extend_openapi(self, app: FastAPI) -> None:
        """Put modes on the operations of a schema, however the application makes it."""
        inner = app.openapi
        if isinstance(inner, _ExtendedOpenAPI):
            return
        app.openapi = _ExtendedOpenAPI(app, inner)  # type: ignore[method-assign]
        app.openapi_schema = None


async def _shut_down(registration: Registration[Any]) -> None:
    # Each closing that failed was logged and counted when it failed.
    with contextlib.suppress(ExceptionGroup):
        await registration.shutdown()


class _ExtendedOpenAPI:
    """An application's own `openapi`, with the mode on each operation that uses one."""

    def __init__(self, app: FastAPI, inner: Callable[[], dict[str, Any]]) -> None:
        self._app = app
        self._inner = inner

    def __call__(self) -> dict[str, Any]:
        schema = self._inner()
        paths = schema.get("paths", {})
        for operation in operations(self._app):
            used = list({id(r): r.describe().operation() for r, _ in operation.uses}.values())
            if not used:
                continue
            for method in operation.methods:
                entry = paths.get(operation.path, {}).get(method.lower())
                if entry is not None:
                    entry[_EXTENSION] = used
        return schema


@attrs.frozen
class Operation:
    """A route with what its dependencies use."""

    path: str
    methods: frozenset[str]
    uses: tuple[tuple[Registration[Any], str | None], ...]
    authenticates: bool


def applications(app: FastAPI) -> Iterator[FastAPI]:
    """Return an application and those mounted under it."""
    yield app
    for route in app.routes:
        if isinstance(route, Mount) and isinstance(route.app, FastAPI):
            yield from applications(route.app)


def operations(app: FastAPI) -> Iterator[Operation]:
    """Return the operations of an application, those of its routers included."""
    # FastAPI 0.138 and newer keep routers apart until this function joins them.
    contexts = getattr(fastapi.routing, "iter_route_contexts", None)
    for route in app.routes if contexts is None else contexts(app.routes):
        dependant = getattr(route, "dependant", None)
        path = getattr(route, "path_format", None)
        if dependant is None or not isinstance(path, str):
            continue
        calls = list(_calls(dependant))
        yield Operation(
            path,
            frozenset(getattr(route, "methods", None) or ()),
            tuple(
                (call.registration, scope)
                for call, scope in calls
                if isinstance(getattr(call, "registration", None), Registration)
            ),
            any(isinstance(call, SecurityBase) for call, _ in calls),
        )


def _calls(dependant: Dependant) -> Iterator[tuple[Any, str | None]]:
    for inner in dependant.dependencies:
        yield inner.call, getattr(inner, "scope", None)
        yield from _calls(inner)


def check_operation(operation: Operation) -> None:
    """Refuse a route on which a registration cannot keep its promise.

    Raises:
        RegistrationError: ``single_user_behind_authentication``, ``lease_ends_too_early``.
    """
    for registration, scope in operation.uses:
        if (
            operation.authenticates
            and isinstance(registration, SingleUserRegistration | PerThreadRegistration)
            and registration.mode.owner is None
        ):
            raise RegistrationError(
                ReasonCode.SINGLE_USER_BEHIND_AUTHENTICATION,
                f"{operation.path} authenticates its callers, and SingleUser serves them all "
                "as one principal",
                instead="ScopedFactory(factory, scope=...) for several principals, or "
                "SingleUser(target, owner=...) for exactly one",
                registration=registration.name,
                declared_at=registration.declared_at,
            )
        if scope == "function":
            raise RegistrationError(
                ReasonCode.LEASE_ENDS_TOO_EARLY,
                f'{operation.path} leases with scope="function", which ends before the '
                "response is sent",
                instead="Depends(leased(registration))",
                registration=registration.name,
                declared_at=registration.declared_at,
            )
