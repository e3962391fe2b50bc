"""Leases: entered once, given back once, refused where they would wait for themselves."""

from __future__ import annotations

import asyncio
import gc
import weakref
from contextvars import Context, ContextVar
from typing import Any

import pytest

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import Clock, House, code_of, hold, keeper_of, pool_of, until, use


async def test_a_key_that_is_leased_in_this_context_is_refused(house: House) -> None:
    pool, other = pool_of(house.build), pool_of(house.build)
    async with pool.lease(("alice", "1"), "alice"):
        assert await code_of(use(pool)) is ReasonCode.REENTRANT_LEASE
        child = asyncio.create_task(use(pool))
        assert await code_of(child) is ReasonCode.REENTRANT_LEASE
        async with pool.lease(("alice", "2"), "alice"):
            assert await code_of(use(pool)) is ReasonCode.REENTRANT_LEASE
        await use(other)
        assert pool.statistics().waiting == 0
    await use(pool)


async def test_a_child_task_may_lease_when_its_parent_is_done(house: House) -> None:
    pool = pool_of(house.build)
    go = asyncio.Event()

    async def child() -> object:
        await go.wait()
        return await use(pool)

    async with pool.lease(("alice", "1"), "alice") as target:
        task = asyncio.create_task(child())
    go.set()
    assert await task is target


async def test_a_refused_lease_may_be_entered_later(house: House) -> None:
    pool = pool_of(house.build)
    again = pool.lease(("alice", "1"), "alice")
    async with pool.lease(("alice", "1"), "alice"):
        assert await code_of(again.__aenter__()) is ReasonCode.REENTRANT_LEASE
    async with again:
        pass


@pytest.mark.parametrize("held", [True, False])
async def test_a_lease_is_entered_once(house: House, held: bool) -> None:
    pool = pool_of(house.build)
    lease = pool.lease(("alice", "1"), "alice")
    await lease.__aenter__()
    if not held:
        lease.release()
    assert await code_of(lease.__aenter__()) is ReasonCode.LEASE_SPENT
    lease.release()
    await use(pool)


async def test_releasing_twice_is_harmless(house: House) -> None:
    pool = pool_of(house.build)
    lease = pool.lease(("alice", "1"), "alice")
    async with lease:
        lease.release()
        lease.release()
        other = await hold(pool, "bob")
    assert pool.statistics().leased == 1
    holder = await hold(pool)
    lease.release()
    assert pool.statistics().leased == 2
    await holder.end()
    await other.end()


async def test_a_lease_released_in_another_task_is_free(house: House) -> None:
    pool = pool_of(house.build)
    lease = pool.lease(("alice", "1"), "alice")
    await lease.__aenter__()

    async def release() -> None:
        lease.release()

    await asyncio.create_task(release())
    await use(pool)


async def test_a_lease_that_was_refused_holds_nothing(house: House) -> None:
    house.fails = [ValueError()]
    pool = pool_of(house.build)
    assert await code_of(use(pool)) is ReasonCode.FACTORY_FAILED
    await use(pool)


async def test_the_companion_lives_as_long_as_the_instance(house: House) -> None:
    pool = pool_of(house.build)
    lease, again = (pool.lease(("alice", "1"), "alice") for _ in range(2))
    async with lease:
        companion = lease.companion(lambda chat: [chat])
    async with again:
        assert again.companion(lambda chat: [chat]) is companion
    with pytest.raises(RuntimeError):
        again.companion(list)
    pool.invalidate(lambda _: True)
    third = pool.lease(("alice", "1"), "alice")
    async with third:
        assert third.companion(lambda chat: [chat]) is not companion


async def test_current_follows_the_running_lease(house: House) -> None:
    contexts: list[ScopeContext[Any]] = []
    seen: list[str] = []

    class Target:
        def __init__(self, context: ScopeContext[Any]) -> None:
            contexts.append(context)
            seen.append(context.current)

        async def aclose(self) -> None:
            assert await code_of(read()) is ReasonCode.NO_CURRENT_LEASE
            seen.append("closed")

    async def read() -> object:
        return contexts[-1].current

    pool = pool_of(Target)
    async with pool.lease(("alice", "1"), "token 1"):
        assert await read() == "token 1"
    assert await code_of(read()) is ReasonCode.NO_CURRENT_LEASE

    first = pool.lease(("alice", "1"), "token 2")
    await first.__aenter__()
    assert await read() == "token 2"

    async def queued() -> None:
        async with pool.lease(("alice", "1"), "token 3"):
            seen.append(str(await read()))

    waiting = asyncio.create_task(queued(), context=Context())
    await until(lambda: pool.statistics().waiting == 1)
    first.release()
    assert await read() == "token 3"  # granted, so nobody else's any more
    await waiting
    assert await code_of(read()) is ReasonCode.NO_CURRENT_LEASE
    async with pool.lease(("alice", "1"), "token 4"):
        pool.invalidate(lambda _: True)
    await until(lambda: not pool.statistics().live)
    assert seen == ["token 1", "token 3", "closed"]
    assert contexts[0].scope == "token 1"


async def test_nothing_is_current_when_everybody_left_during_the_build(house: House) -> None:
    contexts: list[ScopeContext[Any]] = []

    async def build(context: ScopeContext[Any]) -> object:
        contexts.append(context)
        return await house.build(context)

    house.gate.clear()
    pool = pool_of(build)
    caller = asyncio.create_task(use(pool))
    await until(lambda: contexts)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    house.gate.set()
    await until(lambda: not pool.statistics().building)
    with pytest.raises(RegistrationError):
        _ = contexts[0].current


who: ContextVar[str] = ContextVar("who", default="nobody")


@pytest.mark.parametrize("asynchronous", [True, False])
async def test_builds_run_among_their_own_callers_variables_and_closings_among_none(
    asynchronous: bool, clock: Clock
) -> None:
    builders: dict[str, str] = {}
    closers: list[str] = []

    class Target:
        def close(self) -> object:
            closers.append(who.get())
            return asyncio.sleep(0) if asynchronous else None

    def build(context: ScopeContext[Any]) -> Target:
        builders[context.scope] = who.get()
        return Target()

    pool = pool_of(build, clock, max_instances=1, idle_ttl=10)

    async def call(scope: str, gate: asyncio.Event | None = None) -> None:
        who.set(scope)
        async with pool.lease((scope, "1"), scope):
            if gate is not None:
                await gate.wait()

    gate = asyncio.Event()
    alice = asyncio.create_task(call("alice", gate))
    await until(lambda: pool.statistics().leased)
    bob = asyncio.create_task(call("bob"))
    await until(lambda: pool.statistics().seeking)
    gate.set()  # alice's release evicts hers and begins bob's
    await asyncio.gather(alice, bob)
    await asyncio.create_task(call("carol"))  # her arrival evicts bob's
    clock.advance(10)
    who.set("sweeper")
    keeper_of(pool).sweep()
    await until(lambda: len(closers) == 3)
    assert builders == {"alice": "alice", "bob": "bob", "carol": "carol"}
    assert set(closers) == {"nobody"}


async def test_nothing_holds_what_was_closed(house: House) -> None:
    class Scope:
        pass

    pool = pool_of(house.build)
    scope = Scope()
    async with pool.lease(("alice", "1"), scope) as chat:
        pass
    gone = [weakref.ref(value) for value in (scope, chat)]
    pool.invalidate(lambda _: True)
    await until(lambda: not pool.statistics().live)
    house.chats.clear()
    chat.key = ("", "")
    del scope, chat
    await asyncio.sleep(0)
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
