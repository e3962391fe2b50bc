"""A hundred callers on a cold key, a build that waits or fails, and who is served meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

from scoped_registration.errors import RegistrationError
from scoped_registration.registration import ScopedRegistration
from scoped_registration.runtime.slot import Key
from tests.faults.inn import Guest, Inn
from tests.faults.support import Stay, visit
from tests.unit.runtime.support import assert_empty, pool_in, until

CALLERS = 100
COLD = ("alice", "1")

Registration = ScopedRegistration[Any, str]
Callers = list[asyncio.Task[Guest]]


class Fault:
    """Holds the build of the cold key back, and lets it fail as often as there are errors."""

    def __init__(self, inn: Inn) -> None:
        self.gate = asyncio.Event()
        self.errors: list[BaseException] = []
        self.tasks: list[asyncio.Task[Any] | None] = []
        inn.on_building = self.build

    async def build(self, key: Key) -> None:
        if key == COLD:
            self.tasks.append(asyncio.current_task())
            await self.gate.wait()
            if self.errors:
                raise self.errors.pop(0)


async def crowd(registration: Registration) -> Callers:
    callers = [asyncio.create_task(visit(registration)) for _ in range(CALLERS)]
    await until(lambda: registration.statistics().waiting == CALLERS)
    assert registration.statistics().building == 1
    return callers


async def errors_of(callers: Callers) -> list[RegistrationError]:
    """Return what each caller failed with: an error of its own."""
    errors: list[RegistrationError] = []
    for outcome in await asyncio.gather(*callers, return_exceptions=True):
        assert isinstance(outcome, RegistrationError)
        errors.append(outcome)
    assert len({id(error) for error in errors}) == CALLERS
    return errors


class Bystanders:
    """Two who are served throughout: one runs, one comes and goes."""

    def __init__(self, registration: Registration) -> None:
        self.registration = registration
        self.run = Stay(registration, "bob")

    async def pass_by(self) -> None:
        await visit(self.registration, "alice", "2")
        await visit(self.registration, "bob", "2")
        assert not self.run.task.done()

    async def end(self) -> None:
        await self.run.end()


async def check_aftermath(registration: Registration, inn: Inn, *, calls: int) -> None:
    """A good call works, and once everybody has left there is nothing of the fault."""
    await visit(registration)
    assert inn.calls[COLD] == calls
    registration.invalidate()
    await until(lambda: not registration.statistics().live)
    assert_empty(pool_in(registration))
    assert registration.statistics().close_failures == 0
    inn.check()
