"""Each figure moves, and no text of ours holds a principal or a user's message."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import Any

import attrs
import pytest

from scoped_registration.runtime.statistics import PoolStatistics
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import Clock, House, code_of, hold, keeper_of, pool_of, until, use


async def test_each_figure_moves(house: House, clock: Clock) -> None:
    pool = pool_of(house.build, clock, max_instances=2, idle_ttl=10)
    seen: set[str] = set()

    def figures(**expected: int) -> None:
        now = attrs.asdict(pool.statistics())
        assert {name: now[name] for name in expected} == expected
        seen.update(name for name, count in expected.items() if count)

    assert set(attrs.asdict(pool.statistics()).values()) == {0}
    house.gate.clear()
    alice = asyncio.create_task(use(pool))
    await until(lambda: house.calls)
    figures(live=1, building=1, waiting=1, scopes=1, leased=0, built=0)
    house.gate.set()
    await alice
    figures(live=1, building=0, waiting=0, built=1, reused=0)
    await use(pool)
    figures(reused=1, built=1)
    lease = pool.lease(("alice", "1"), "alice")
    async with lease:
        figures(leased=1, reused=2)
        lease.pin(True)
    figures(leased=0, pinned=1)
    async with lease.__class__(pool, ("alice", "1"), "alice") as _:
        keeper_of(pool).slots["alice", "1"].pinned_since = None
    holders = [await hold(pool, "bob"), await hold(pool)]
    bystander = asyncio.create_task(use(pool, "carol"))
    await until(lambda: pool.statistics().seeking)
    figures(seeking=1, leased=2, live=2, scopes=2, evicted=0)
    house.door.clear()
    await holders[0].end()
    await until(lambda: pool.statistics().closing)
    figures(closing=1, evicted=1, closed=0)
    house.door.set()
    await bystander
    figures(closed=1, closing=0, seeking=0, built=3)
    await holders[1].end()
    house.fails = [ValueError()]
    await code_of(use(pool, "dave"))
    figures(build_failures=1)
    clock.advance(10)
    keeper_of(pool).sweep()
    await until(lambda: not pool.statistics().live)
    figures(evicted=3, closed=3, live=0, scopes=0)
    await use(pool)
    keeper_of(pool).slots["alice", "1"].target.house = None  # its aclose fails
    await asyncio.gather(pool.drain(final=True), return_exceptions=True)
    figures(close_failures=1, closed=4)
    await code_of(use(pool))
    figures(rejected=1)
    others = {"dropped"}  # test_pool_loops
    assert seen | others == {field.name for field in attrs.fields(PoolStatistics)}


CANARIES = ("s3cret-message", "scope-canary", "thread-canary")


@pytest.mark.parametrize("fails", ["build", "enter", "exit", "both"])
async def test_no_text_holds_a_message_a_scope_or_a_thread(
    fails: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "scoped_registration")
    message, scope, thread = CANARIES

    @contextlib.asynccontextmanager
    async def build(context: ScopeContext[Any]) -> AsyncGenerator[object, None]:
        if fails == "enter":
            raise ValueError(message)
        try:
            yield object()
        finally:
            error = ValueError(f"{message} {context.scope} {context.thread_id}")
            error.add_note(message)
            if fails == "both":
                raise ExceptionGroup(message, [error]) from error
            if fails == "exit":
                raise error

    contexts: list[ScopeContext[Any]] = []

    def factory(context: ScopeContext[Any]) -> object:
        contexts.append(context)
        if fails == "build":
            raise KeyError(context.scope, context.thread_id, message)
        return build(context)

    pool = pool_of(factory, close_timeout=0.01)
    with contextlib.suppress(Exception):
        await use(pool, scope, thread)
    texts = list(map(repr, contexts))
    assert texts
    with contextlib.suppress(ExceptionGroup):
        await pool.drain(final=True)
    texts += [caplog.text, repr(pool), repr(pool.statistics())]
    assert "Error" in caplog.text or "ExceptionGroup" in caplog.text
    for canary in CANARIES:
        assert not any(canary in text for text in texts)
