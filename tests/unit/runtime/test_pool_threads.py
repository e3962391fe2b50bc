"""Two event loops at once in two threads, and processes that fork."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import pytest

from scoped_registration.runtime.pool import Pool
from scoped_registration.scope import ScopeContext
from tests.unit.runtime.support import Factory, Plain, assert_empty, pool_of, until, use

T = TypeVar("T")


class Loops:
    """Two event loops in two threads, both running."""

    def __init__(self, debug: bool) -> None:
        self.loops = [asyncio.new_event_loop() for _ in range(2)]
        self.threads = [threading.Thread(target=self._run, args=[loop]) for loop in self.loops]
        for loop, thread in zip(self.loops, self.threads, strict=True):
            loop.set_debug(debug)
            thread.start()

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.get_loop().run_forever()

    def do(self, number: int, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loops[number])

    def stop(self, number: int) -> None:
        self.loops[number].call_soon_threadsafe(self.loops[number].stop)
        self.threads[number].join()


@pytest.fixture
def loops(debug: bool) -> Iterator[Loops]:
    loops = Loops(debug)
    yield loops
    for number, thread in enumerate(loops.threads):
        if thread.is_alive():
            loops.stop(number)


async def run_often(pool: Pool[Any], running: list[int], times: int) -> None:
    for _ in range(times):
        async with pool.lease(("alice", "1"), "alice"):
            running.append(1)
            assert len(running) == 1
            await asyncio.sleep(0)
            running.pop()
        await asyncio.sleep(0)


@pytest.mark.parametrize("managed", [False, True])
def test_two_loops_at_once_on_one_key(loops: Loops, managed: bool) -> None:
    factory = Factory(managed)
    pool = pool_of(factory, idle_ttl=100)
    running: list[int] = []
    runs = [loops.do(number % 2, run_often(pool, running, 50)) for number in range(6)]
    for run in runs:
        run.result(60)
    assert len(factory.built) == 1
    loops.do(0, pool.drain(final=True)).result(60)
    assert factory.closings == [1]
    assert (pool.statistics().dropped, pool.statistics().close_failures) == (0, 0)
    assert_empty(pool)


def test_churn_between_two_loops_loses_nothing(loops: Loops) -> None:
    factory = Factory()
    pool = pool_of(factory, max_instances=3)

    async def churn(offset: int) -> None:
        for number in range(100):
            await use(pool, str((number + offset) % 7))

    runs = [loops.do(number % 2, churn(number)) for number in range(4)]
    for run in runs:
        run.result(60)
    loops.do(1, pool.drain(final=False)).result(60)
    assert set(factory.closings) == {1}
    assert_empty(pool)


def test_a_build_that_ends_with_its_loop_is_begun_anew_in_the_loop_of_who_waits(
    loops: Loops,
) -> None:
    building = threading.Event()
    calls: list[asyncio.AbstractEventLoop] = []

    async def build(context: ScopeContext[Any]) -> Plain:
        calls.append(asyncio.get_running_loop())
        building.set()
        if len(calls) == 1:
            await asyncio.Event().wait()
        return Plain()

    async def waiting(count: int) -> None:
        await until(lambda: pool.statistics().waiting == count)

    pool = pool_of(build)
    loops.do(0, use(pool))
    assert building.wait(60)
    other = loops.do(1, use(pool))
    loops.do(1, waiting(2)).result(60)
    loops.stop(0)
    assert isinstance(other.result(60), Plain)
    assert calls == loops.loops
    loops.do(1, pool.drain(final=True)).result(60)


def test_a_fork_after_building_a_registration() -> None:
    script = """
        import asyncio, os, warnings
        warnings.simplefilter("error")
        from scoped_registration import RegistrationBuilder, ScopedFactory

        built = []

        def scope() -> str: ...

        def build(context):
            built.append(os.getpid())
            return [context.scope]

        registration = (
            RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=scope)).build()
        )

        async def serve():
            async with registration.lease("alice", "1") as first:
                first.append("seen")
            async with registration.lease("alice", "1") as second:
                assert second is first
            await registration.shutdown()
            assert registration.statistics().live == 0
            assert built == [os.getpid()]

        child = os.fork()
        asyncio.run(serve())
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            print("both served")
    """
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("both served\n", 0), done.stderr
