"""What the routes of a FastAPI application use, read off their dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import attrs
import fastapi.routing
from fastapi import FastAPI
from fastapi.security.base import SecurityBase
from starlette.routing import BaseRoute

from scoped_registration.errors import ReasonCode, RegistrationError, caller, describe_type
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    SingleUserRegistration,
)

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant

# Any: an operation uses registrations of targets of any type.

__all__ = ["Operation", "applications", "check_operation", "check_type", "each_route", "operations"]


@attrs.frozen
class Operation:
    """A route with what its dependencies use."""

    path: str
    methods: frozenset[str]
    uses: tuple[tuple[Registration[Any], str | None], ...]
    authenticates: bool
    in_schema: bool


def applications(app: FastAPI) -> Iterator[FastAPI]:
    """Return an application and those mounted under it."""
    yield app
    yield from _mounted(app.routes)


def _mounted(routes: Iterable[BaseRoute]) -> Iterator[FastAPI]:
    for route in each_route(routes):
        inner = getattr(route, "app", None)
        while inner is not None and not hasattr(inner, "routes"):  # a middleware around it
            inner = getattr(inner, "app", None)
        if isinstance(inner, FastAPI):
            yield from applications(inner)
        elif inner is not None:
            yield from _mounted(inner.routes)


def each_route(routes: Iterable[BaseRoute]) -> Iterator[Any]:
    """Return routes, those of included routers with all that their inclusion adds."""
    # FastAPI 0.138 and newer keep included routers apart until this function joins them.
    contexts = getattr(fastapi.routing, "iter_route_contexts", None)
    for route in routes if contexts is None else contexts(routes):
        # What is no APIRoute, such as a WebSocket, is copied with its dependencies there.
        yield getattr(route, "starlette_route", None) or route


def operations(app: FastAPI) -> Iterator[Operation]:
    """Return the operations of an application, those of its routers included."""
    for route in each_route(app.routes):
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
            any(isinstance(call, SecurityBase) for call, _ in calls) or _has_scopes(dependant),
            getattr(route, "include_in_schema", False),
        )


def _calls(dependant: Dependant) -> Iterator[tuple[Any, str | None]]:
    for inner in dependant.dependencies:
        yield inner.call, getattr(inner, "scope", None)
        yield from _calls(inner)


def _has_scopes(dependant: Dependant) -> bool:
    """Whether a dependency wants security scopes, of whichever scheme."""
    # FastAPI 0.123 gave the attribute its second name.
    names = ("security_scopes", "own_oauth_scopes")
    return any(
        any(getattr(inner, name, None) for name in names) or _has_scopes(inner)
        for inner in dependant.dependencies
    )


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


def check_type(given: object, wanted: type, instead: str) -> None:
    """Refuse an argument of another type, which only a caller without a checker passes.

    Raises:
        RegistrationError: ``option_invalid``.
    """
    if not isinstance(given, wanted):
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            f"a {wanted.__qualname__} was expected, and a {describe_type(given)} was given",
            instead=instead,
            declared_at=caller(),
        )
