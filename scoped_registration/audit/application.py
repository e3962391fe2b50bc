"""What is found in a loaded application. It is not started, and no target is built."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import attrs

from scoped_registration.audit.application_rules import (
    NEVER_ATTACHED,
    RUNNER_TWICE,
    SHARED_ENDPOINT,
    SINGLE_USER_APART,
    START_REFUSED,
)
from scoped_registration.audit.call_sites import call_sites, site_of
from scoped_registration.audit.described import Circumstances
from scoped_registration.audit.loading import Loaded
from scoped_registration.audit.places import place_at
from scoped_registration.audit.registered import Registered, registered
from scoped_registration.audit.rules import Finding, Rule
from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.integrations.application import Application, is_attached
from scoped_registration.integrations.deployment import check_deployment, is_per_process
from scoped_registration.integrations.operations import (
    applications,
    check_operation,
    operations,
)
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    SharedRegistration,
    SingleUserRegistration,
)

if TYPE_CHECKING:
    from scoped_registration.audit.endpoints import RawEndpoint

# Any: registrations of targets of any type.

__all__ = ["NOTHING", "Audit"]

NOTHING = "nothing to audit: the application has no registration and no AG-UI endpoint"


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
    def registrations(self) -> tuple[Registered, ...]:
        """What the application and those mounted in it have registered."""
        return registered(self.loaded)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know who sees no finding."""
        is_empty = not self.registrations and not list(self._raw_endpoints())
        return (NOTHING,) if is_empty else ()

    def findings(self) -> list[Finding]:
        """Return what is found, in the order of the places."""
        refusals = self._refusals()
        found = [
            *(self._refused(error) for error in refusals),
            *self._endpoints(),
            *self._beside_authentication(refusals),
            *self._never_attached(),
        ]
        refused = {
            error.registration for error in refusals if error.code is ReasonCode.STORE_PER_PROCESS
        }
        for it in self.registrations:
            # Start-up has been told of the workers, and refuses them: that is said once.
            workers = 1 if it.description.name in refused else self.workers
            circumstances = Circumstances(today=self.today, workers=workers)
            per_process = _is_per_process(it.registration)
            for rule, message in circumstances.of(it.description, per_process=per_process):
                found.append(self._finding(rule, it.registration, message))
        return sorted(found)

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
            *(lambda it=it: _check_workers(it) for it in self.registrations),
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
        for registration in (it.registration for it in self.registrations):
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
            if not is_attached(registration):
                yield self._finding(NEVER_ATTACHED, registration, "it is attached nowhere")
        for it in self.registrations:
            if not it.is_served:
                message = (
                    "it is attached to a mounted application alone, whose lifespan no server runs"
                )
                yield self._finding(NEVER_ATTACHED, it.registration, message)

    def _raw_endpoints(self) -> Iterator[RawEndpoint]:
        if "agent_framework_ag_ui" not in sys.modules:
            return  # nobody can have added an endpoint of it
        # Only now: the framework is an optional dependency.
        from scoped_registration.audit import endpoints  # noqa: PLC0415

        endpoints.check_upstream()
        yield from endpoints.raw_endpoints(self.loaded.app)

    def _endpoints(self) -> Iterator[Finding]:
        found = list(self._raw_endpoints())
        if not found:
            return
        from scoped_registration.audit.endpoints import state_of  # noqa: PLC0415

        sites = call_sites(self.root)
        running: dict[int, str] = {}
        for registration in (it.registration for it in self.registrations):
            if isinstance(registration, SingleUserRegistration | SharedRegistration):
                state = state_of(registration.mode.target)
                running[id(state)] = f"registration {registration.name!r}"
        for endpoint in found:
            where = f"POST {endpoint.path}"
            site = site_of(endpoint.path, sites)
            place = place_at(site.at if site else self.loaded.declared_at, self.root)
            unknown = "" if site else " (this is the application: where it is added is not known)"
            shared = endpoint.shares()
            if shared is not None:
                message = f"{where} serves {shared} to every principal{unknown}"
                yield Finding(place, SHARED_ENDPOINT.id, message)
            state = state_of(endpoint.runner)
            other = running.setdefault(id(state), where)
            if other is not where:
                what = type(state).__qualname__
                message = f"{where} runs the {what} that {other} runs too{unknown}"
                yield Finding(place, RUNNER_TWICE.id, message)

    def _finding(self, rule: Rule, registration: Registration[Any], message: str) -> Finding:
        place = place_at(registration.declared_at, self.root)
        return Finding(place, rule.id, f"registration {registration.name!r}: {message}")


def _is_registration(value: object) -> TypeGuard[Registration[Any]]:
    return isinstance(value, Registration)


def _check_workers(it: Registered) -> None:
    """Refuse what start-up refuses for the workers that the application declares itself."""
    if it.description.options.get("workers") == "many":
        check_deployment(it.registration, "many")


def _is_per_process(registration: Registration[Any]) -> bool:
    """Say whether another worker would not see what this one keeps of a thread."""
    if (
        "agent_framework_ag_ui" in sys.modules
        and isinstance(registration, SingleUserRegistration)
        and registration.describe().path is not None
    ):
        from scoped_registration.audit.endpoints import is_plain_agent  # noqa: PLC0415

        if is_plain_agent(registration.mode.target):
            return False  # the framework makes its sessions for each run
    return is_per_process(registration)
