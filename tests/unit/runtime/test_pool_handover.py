"""P3, P6: an instance changes hands without a mutex, and never has two owners or none."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scoped_registration.runtime.pool import Pool
from scoped_registration.runtime.slot import Slot
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import House, hold, keeper_of, pool_of, until, use

PATIENCE = 60  # seconds until threads that stand still are a failure
LOOPS = 4


@pytest.fixture
def hasty() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


class Target:
    """Notes who uses it beside somebody else, and who does when it is closed."""

    def __init__(self, broken: list[str]) -> None:
        self.broken = broken
        self.users: list[int] = []
        self.closed = False

    def use(self) -> None:
        self.users.append(1)
        if len(self.users) > 1:
            self.broken.append("two at once")
        if self.closed:
            self.broken.append("used when closed")
        time.sleep(0)
        if self.closed:
            self.broken.append("closed while used")
        self.users.pop()

    def close(self) -> None:
        if self.closed:
            self.broken.append("closed twice")
        if self.users:
            self.broken.append("closed while used")
        self.closed = True


def hammer(
    pool: Pool[Any], keys: int, times: int, disturb: Callable[[], None] = lambda: None
) -> list[BaseException]:
    """Lease some keys from several event loops, and disturb it from yet another thread.

    A loop stays until nothing is left to do, so that no closing ends with it.
    """
    errors: list[BaseException] = []
    leasing, disturbing = set(range(LOOPS)), threading.Event()

    async def lease(number: int) -> None:
        try:
            for turn in range(times):
                key = "alice", str((turn + number) % keys)
                async with pool.lease(key, number) as target:
                    target.use()
                    assert keeper_of(pool).slots[key].current.scope == number
        finally:
            leasing.discard(number)
        while not disturbing.is_set() or pool.statistics().closing:  # noqa: ASYNC110
            await asyncio.sleep(0)

    def run(number: int) -> None:
        try:
            asyncio.run(lease(number))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[number]) for number in range(LOOPS)]
    for thread in threads:
        thread.start()
    try:
        while leasing:
            disturb()
            time.sleep(0)
    finally:
        disturbing.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    return errors


def takes_without_owning(pool: Pool[Any]) -> Callable[[Slot[Any], object], bool]:
    """Return a hand-over that looks first and takes then."""
    idle = keeper_of(pool).idle.slots

    def take(slot: Slot[Any], scope: object) -> bool:
        found = slot in idle
        time.sleep(0)
        idle.pop(slot, None)
        slot.current.scope = scope
        return found

    return take


def test_loops_that_hammer_one_key_never_have_its_instance_at_once(hasty: None) -> None:
    seen: list[str] = []
    pool = pool_of(lambda _: Target(seen))
    assert hammer(pool, keys=1, times=200) == []
    assert seen == []
    figures = pool.statistics()
    assert (figures.built, figures.reused) == (1, LOOPS * 200 - 1)
    assert (figures.leased, figures.waiting) == (0, 0)


def test_two_owners_would_be_seen(hasty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the one above."""
    seen: list[str] = []
    pool = pool_of(lambda _: Target(seen))
    monkeypatch.setattr(pool, "take", takes_without_owning(pool))
    for _ in range(50):
        errors = hammer(pool, keys=1, times=200)
        if seen or errors:
            return
    raise AssertionError("nobody saw it")


def test_loops_that_hammer_while_others_evict_invalidate_and_sweep(hasty: None) -> None:
    seen: list[str] = []
    built: list[Target] = []

    def build(_: ScopeContext[Any]) -> Target:
        built.append(Target(seen))
        return built[-1]

    pool = pool_of(build, max_instances=3, max_per_scope=None)

    def disturb() -> None:
        pool.invalidate(lambda key: key[1] == "0")
        keeper_of(pool).sweep()
        figures = pool.statistics()
        assert figures.leased + figures.building + figures.closing <= figures.live <= 3

    assert hammer(pool, keys=5, times=200, disturb=disturb) == []
    asyncio.run(pool.drain(final=True))
    assert seen == []
    assert len(built) > LOOPS
    assert all(target.closed for target in built)
    assert not keeper_of(pool).idle.slots


class Interrupted(dict[Any, Any]):
    """The idle instances, where somebody comes just before one is put back."""

    def __init__(self, before: Callable[[], None]) -> None:
        self.before = before

    def __setitem__(self, key: Any, value: Any) -> None:
        before, self.before = self.before, lambda: None
        before()
        super().__setitem__(key, value)


async def test_who_queues_in_the_moment_of_a_release_is_not_forgotten(house: House) -> None:
    pool = pool_of(house.build)
    await use(pool, "bob")  # the sweep is planned: no other reason to look after a release
    holder = await hold(pool)
    served = threading.Event()

    async def lease() -> None:
        await use(pool)
        served.set()

    def come_and_queue() -> None:
        threading.Thread(target=lambda: asyncio.run(lease())).start()
        while not pool.statistics().waiting:
            time.sleep(0)

    keeper_of(pool).idle.slots = Interrupted(come_and_queue)
    await holder.end()
    assert await asyncio.to_thread(served.wait, PATIENCE)
    assert pool.statistics().waiting == 0


def between(pool: Pool[Any], come: Callable[[Slot[Any]], None]) -> None:
    """Let somebody come when an instance was put back, and nobody has looked after it yet."""
    idle = keeper_of(pool).idle
    settle = idle.settle

    def later(slot: Slot[Any]) -> None:
        idle.settle = settle
        come(slot)
        settle(slot)

    idle.settle = later


async def test_a_newcomer_in_the_moment_of_a_release_does_not_overtake_the_queue(
    house: House,
) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    waiting = asyncio.create_task(use(pool))
    await until(lambda: pool.statistics().waiting == 1)
    took: list[bool] = []
    between(pool, lambda slot: took.append(pool.take(slot, "newcomer")))
    await holder.end()
    assert await waiting is house.chats[0]
    assert took == [False]


async def test_a_newcomer_in_the_moment_of_a_release_gets_nothing_that_was_retired(
    house: House,
) -> None:
    pool = pool_of(house.build)
    holder = await hold(pool)
    pool.invalidate(lambda _: True)
    took: list[bool] = []
    between(pool, lambda slot: took.append(pool.take(slot, "newcomer")))
    await holder.end()
    await until(lambda: not pool.statistics().live)
    assert took == [False]
    assert house.closings == [1]


async def test_an_instance_that_is_free_in_that_moment_may_be_had(house: House) -> None:
    """The control of the two above."""
    pool = pool_of(house.build)
    holder = await hold(pool)
    took: list[bool] = []
    between(pool, lambda slot: took.append(pool.take(slot, "newcomer")))
    await holder.end()  # the first release plans the sweep, and so looks after it
    assert took == [True]
    assert pool.statistics().leased == 1
    pool.release(keeper_of(pool).slots["alice", "1"])


async def test_a_lease_that_outlived_its_slot_leaves_nothing_behind(house: House) -> None:
    pool = pool_of(house.build, close_timeout=0.01)
    holder = await hold(pool)
    await pool.drain(final=False)
    later = await use(pool)
    await holder.end()
    assert set(keeper_of(pool).idle.slots) == set(keeper_of(pool).slots.values())
    assert await use(pool) is later
