"""What is found in a loaded application. It is not started, and no target is built."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, TypeGuard

import attrs

from scoped_registration.audit.application_rules import (
    NEVER_ATTACHED,
    REVIEW_OVERDUE,
    RUNNER_TWICE,
    SEVERAL_WORKERS,
    SHARED_ENDPOINT,
    SINGLE_USER_APART,
    START_REFUSED,
    UNBOUNDED,
)
from scoped_registration.audit.loading import Loaded
from scoped_registration.audit.places import place_at
from scoped_registration.audit.rules import Finding, Rule
from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.integrations.application import (
    Application,
    _holders,  # pyright: ignore[reportPrivateUsage]  # by which applications it is held
)
from scoped_registration.integrations.operations import (
    applications,
    check_operation,
    operations,
)
from scoped_registration.modes import PerThread, ScopedFactory
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    SharedRegistration,
    SingleUserRegistration,
)

# Any: registrations of targets of any type.

__all__ = ["Audit"]

_BUILDING = (ScopedFactory.label, PerThread.label)
_BOUNDS = ("max_instances", "max_per_scope", "idle_ttl")


@attrs.frozen(kw_only=True)
class Audit:
    """The rules over one application.

    Attributes:
        loaded: The application, and the module that it is in.
        root: What files are named relative to.
        today: The day by which reviews are judged.
        workers: How many processes are to serve the application.
    """

    loaded: Loaded
    root: Path
    today: date
    workers: int

    @property
    def registrations(self) -> tuple[Registration[Any], ...]:
        """What the application has registered, in the order of the names."""
        attached = Application.of(self.loaded.app).registrations
        return tuple(sorted(attached, key=lambda registration: registration.name))

    def findings(self) -> list[Finding]:
        """Return what is found, in the order of the places."""
        refusals = self._refusals()
        found = [
            *(self._refused(error) for error in refusals),
            *self._endpoints(),
            *self._beside_authentication(refusals),
            *self._never_attached(),
        ]
        for registration in self.registrations:
            found.extend(self._about(registration))
        return sorted(found)

    def _about(self, registration: Registration[Any]) -> Iterator[Finding]:
        description = registration.describe()
        options = description.options
        given = description.acknowledgement
        if given is not None and given.review_by is not None and given.overdue(self.today):
            day = given.review_by.isoformat()
            message = f"{given.owner} was to review what it shares by {day}"
            yield self._finding(REVIEW_OVERDUE, registration, message)
        # One principal has no share to divide: the library itself leaves that bound out.
        has_shares = not isinstance(registration, PerThreadRegistration)
        unbounded = [
            name
            for name in _BOUNDS
            if options.get(name, 0) is None and (has_shares or name != "max_per_scope")
        ]
        if unbounded:
            message = f"no bound: {', '.join(f'{name}=None' for name in unbounded)}"
            yield self._finding(UNBOUNDED, registration, message)
        if self.workers > 1 and description.mode in _BUILDING:
            message = f"its instances live in memory, and there are {self.workers} workers"
            yield self._finding(SEVERAL_WORKERS, registration, message)

    def _refusals(self) -> list[RegistrationError]:
        """Return what start-up refuses: it stops at the first of these."""
        app = self.loaded.app
        found: dict[tuple[ReasonCode, str | None], RegistrationError] = {}
        checks = [
            Application.of(app).check,
            *(
                lambda operation=operation: check_operation(operation)
                for inner in applications(app)
                for operation in operations(inner)
            ),
        ]
        for check in checks:
            try:
                check()
            except RegistrationError as error:
                found.setdefault((error.code, error.registration), error)
        return list(found.values())

    def _refused(self, error: RegistrationError) -> Finding:
        place = place_at(error.declared_at or self.loaded.declared_at, self.root)
        name = f"registration {error.registration!r}: " if error.registration else ""
        message = f"{name}[{error.code}] {error.problem}"
        if error.instead:
            message += f"; instead: {error.instead}"
        return Finding(place, START_REFUSED.id, message)

    def _beside_authentication(self, refusals: list[RegistrationError]) -> Iterator[Finding]:
        app = self.loaded.app
        paths = sorted(
            operation.path
            for inner in applications(app)
            for operation in operations(inner)
            if operation.authenticates
        )
        if not paths:
            return
        refused = {
            error.registration
            for error in refusals
            if error.code is ReasonCode.SINGLE_USER_BEHIND_AUTHENTICATION
        }
        for registration in self.registrations:
            if (
                isinstance(registration, SingleUserRegistration | PerThreadRegistration)
                and registration.mode.owner is None
                and registration.name not in refused
            ):
                message = f"it has no owner, and {paths[0]} of the application authenticates"
                yield self._finding(SINGLE_USER_APART, registration, message)

    def _never_attached(self) -> Iterator[Finding]:
        values: list[object] = list(vars(self.loaded.module).values())
        named = {id(value): value for value in values if _is_registration(value)}
        for registration in named.values():
            if registration not in _holders:
                yield self._finding(NEVER_ATTACHED, registration, "it is attached nowhere")

    def _endpoints(self) -> Iterator[Finding]:
        if "agent_framework_ag_ui" not in sys.modules:
            return  # nobody can have added an endpoint of it
        # Only now: the framework is an optional dependency.
        from scoped_registration.audit import endpoints  # noqa: PLC0415

        endpoints.check_upstream()
        place = place_at(self.loaded.declared_at, self.root)
        running: dict[int, str] = {}
        for registration in self.registrations:
            if isinstance(registration, SingleUserRegistration | SharedRegistration):
                state = endpoints.state_of(registration.mode.target)
                running[id(state)] = f"registration {registration.name!r}"
        for endpoint in endpoints.raw_endpoints(self.loaded.app):
            shared = endpoint.shares()
            if shared is not None:
                message = f"POST {endpoint.path} serves {shared} to every principal"
                yield Finding(place, SHARED_ENDPOINT.id, message)
            where = f"POST {endpoint.path}"
            state = endpoints.state_of(endpoint.runner)
            other = running.setdefault(id(state), where)
            if other is not where:
                what = type(state).__qualname__
                message = f"{where} runs the {what} that {other} runs too"
                yield Finding(place, RUNNER_TWICE.id, message)

    def _finding(self, rule: Rule, registration: Registration[Any], message: str) -> Finding:
        place = place_at(registration.declared_at, self.root)
        return Finding(place, rule.id, f"registration {registration.name!r}: {message}")


def _is_registration(value: object) -> TypeGuard[Registration[Any]]:
    return isinstance(value, Registration)
