"""P6: a tool that leases inside a run is told if it would wait for itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from tests.faults.clock_loop import on_the_clock
from tests.faults.inn import Inn
from tests.faults.support import registration_of, visit
from tests.unit.runtime.support import assert_empty, code_of, pool_in

anyio_backend = on_the_clock


async def in_a_task(lease: Callable[[], Coroutine[Any, Any, Any]]) -> object:
    return await asyncio.create_task(lease())


async def in_a_task_group(lease: Callable[[], Coroutine[Any, Any, Any]]) -> object:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(code_of(lease()))
    code = await task
    if code is not None:
        raise RegistrationError(code, "in a task group")
    return None


async def at_once(lease: Callable[[], Coroutine[Any, Any, Any]]) -> object:
    return await lease()


@pytest.mark.parametrize("tool", [at_once, in_a_task, in_a_task_group])
async def test_a_tool_that_leases_its_own_key_is_told_so_and_the_queue_is_served(
    tool: Callable[[Callable[[], Coroutine[Any, Any, Any]]], Coroutine[Any, Any, object]],
) -> None:
    inn = Inn()
    registration = registration_of(inn)

    async def run() -> ReasonCode | None:
        async with registration.lease("alice", "1") as guest:
            with guest.used():
                await tool(lambda: visit(registration, "alice", "2"))  # another key: it may
                return await code_of(tool(lambda: visit(registration)))

    codes = await asyncio.gather(*(asyncio.create_task(run()) for _ in range(50)))
    assert codes == [ReasonCode.REENTRANT_LEASE] * 50
    assert registration.statistics().waiting == 0
    await visit(registration)
    await registration.aclose()
    assert_empty(pool_in(registration))
    inn.check()
