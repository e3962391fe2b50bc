"""A task has a copy of the context it was started in: what is everybody's there is no finding."""

from __future__ import annotations

import asyncio
import contextvars

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import compare, survey
from tests.unit.verification.support import Box, found, paths

VARIABLE: contextvars.ContextVar[list[str]] = contextvars.ContextVar("turns")


def test_a_value_in_the_context_of_the_whole_application_does_not_count() -> None:
    whole: list[str] = ["a"]
    own: list[str] = ["b"]

    def make(context: contextvars.Context) -> Box:
        return Box(context=context.run(contextvars.copy_context))

    token = VARIABLE.set(whole)
    try:
        assert not found(lambda: make(contextvars.copy_context()))
        assert paths(lambda: Box(own=whole, context=contextvars.copy_context())) == ["box.own"]
        context = contextvars.copy_context()
        context.run(VARIABLE.set, own)
        assert paths(lambda: make(context)) == ["box.context[<turns>]"]
    finally:
        VARIABLE.reset(token)


async def test_a_task_does_not_lead_to_what_any_code_of_the_application_has() -> None:
    whole: list[str] = ["a"]
    VARIABLE.set(whole)

    def make() -> Box:
        return Box(task=asyncio.create_task(asyncio.sleep(0)))

    first, second = make(), make()
    permitted = Permitted()
    assert not compare(survey(first, permitted), survey(second, permitted), hidden=())
    await asyncio.gather(*(vars(each)["task"] for each in (first, second)))


class Waiting:
    """A product with a task of its own."""

    def __init__(self, context: ScopeContext[str]) -> None:
        self.context = context
        self.ended = asyncio.Event()
        self.task = asyncio.create_task(self.run())
        self.shared: object = None

    async def run(self) -> None:
        await self.ended.wait()


async def test_a_task_does_not_lead_to_the_lease_that_it_is_built_for() -> None:
    async def build(context: ScopeContext[str]) -> Waiting:
        return Waiting(context)

    def user() -> str:
        raise AssertionError("no request asks who calls")

    registration = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=user)).build()
    permitted = Permitted()
    async with (
        registration.lease("alice", "1"),
        registration.lease("bob", "1") as his,
        registration.lease("carol", "1") as hers,
    ):
        assert not compare(survey(his, permitted), survey(hers, permitted), hidden=())
        his.shared = hers.shared = asyncio.Event()
        (shared,) = compare(survey(his, permitted), survey(hers, permitted), hidden=())
        assert shared.path_second == "waiting.shared"
        for each in (his, hers):
            each.ended.set()
            await each.task
    await registration.aclose()
