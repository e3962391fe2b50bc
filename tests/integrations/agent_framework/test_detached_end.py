"""How a detached run ends, what is left of it, and how it is declared (P5, P7, P8)."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_framework import (
    Workflow,
)
from fastapi import FastAPI

from scoped_registration import (
    ReasonCode,
    RegistrationError,
    ScopeContext,
    ScopedFactory,
)
from scoped_registration.integrations.agent_framework.detached import DetachedRuns
from scoped_registration.integrations.agent_framework.options import Detached
from tests.integrations.agent_framework.kit import (
    HANG,
    Client,
    RecordingModel,
    Served,
    client_of,
    current_user,
    declare,
    factory_of,
    make_agent,
    served,
    until,
)
from tests.integrations.agent_framework.working import (
    MODES,
    Work,
    is_free,
    leave_at_work,
    workflow_of,
)

# Its end


def closing(
    model: RecordingModel, work: Work, closed: list[str]
) -> Callable[[ScopeContext[str]], Any]:
    @asynccontextmanager
    async def build(context: ScopeContext[str]) -> AsyncGenerator[Workflow, None]:
        try:
            yield workflow_of(make_agent(model, tools=[work.tool]))
        finally:
            work.log.append("closed " + context.scope)
            closed.append(context.scope)

    return build


async def test_p8_shutdown_waits_for_it(model: RecordingModel, work: Work) -> None:
    app, closed = FastAPI(), list[str]()
    mode = ScopedFactory(closing(model, work, closed), scope=current_user, shares=[work])
    registration = declare(mode).pool(close_timeout=HANG).detached().mount(app)

    async def end_when_draining() -> None:
        await until(lambda: work.log[-1] == "closed bob")
        work.may_end.set()

    async with served(app) as server:
        await leave_at_work(server, work)
        await server.client.say("bob", "B", "hello")
        ending = asyncio.create_task(end_when_draining())
    await ending
    assert work.log == ["begun", "closed bob", "done", "closed alice"]
    assert model.calls[-1].texts[-1].startswith("tool"), "the run went to its end"
    assert registration.statistics().live == 0


async def test_p8_shutdown_ends_it_when_its_time_is_up(
    model: RecordingModel, work: Work, made: list[DetachedRuns]
) -> None:
    app, closed = FastAPI(), list[str]()
    mode = ScopedFactory(closing(model, work, closed), scope=current_user, shares=[work])
    registration = declare(mode).pool(close_timeout=0.05).detached().mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
    await until(lambda: not made[0].running)
    assert sorted(work.log) == ["begun", "cancelled", "closed alice"]
    assert closed == ["alice"]
    assert (registration.statistics().live, registration.statistics().leased) == (0, 0)


async def test_p8_its_instance_is_closed_when_the_run_has_ended(
    model: RecordingModel, work: Work
) -> None:
    app, closed = FastAPI(), list[str]()
    mode = ScopedFactory(closing(model, work, closed), scope=current_user, shares=[work])
    declare(mode).pool(close_timeout=0.05).detached().mount(app)
    async with served(app) as server:
        await leave_at_work(server, work)
    assert work.log == ["begun", "cancelled", "closed alice"], "in this order"


async def test_p8_a_server_that_is_told_to_end_ends_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.integrations.agent_framework.terminated", str(listener.fileno())),
            pass_fds=[listener.fileno()],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        )
        output = program.stdout
        assert output is not None
        try:
            async with httpx.AsyncClient() as http:

                async def working(received: bytes) -> bool:
                    return b"TOOL_CALL_START" in received and await output.readline() == b"begun\n"

                server = Served(listener.getsockname()[1], Client(http))
                await server.hang_up("alice", "A", "call:work", after=working)
            program.terminate()
            told = await asyncio.wait_for(output.read(), HANG)
            await asyncio.wait_for(program.wait(), HANG)
        finally:
            if program.returncode is None:
                program.kill()
                await program.wait()
    assert sorted(told.decode().split("\n")) == ["", "cancelled", "closed alice"]


def test_a_run_of_an_ended_loop_hinders_no_shutdown() -> None:
    runs = DetachedRuns("support", Detached())
    kept: list[asyncio.Task[None]] = []

    async def ended() -> None:
        kept.append(asyncio.create_task(asyncio.sleep(0)))
        await kept[0]

    asyncio.run(ended())
    runs.alone.update(kept)  # as one that nobody could take out any more
    with pytest.raises(RuntimeError):
        kept[0].get_loop().call_soon_threadsafe(print)  # control: the loop is closed
    runs.cancel()


# What is left of it


async def test_p5_a_client_that_leaves_before_its_run_has_begun(
    model: RecordingModel, made: list[DetachedRuns]
) -> None:
    building, may_build = asyncio.Event(), asyncio.Event()

    async def build(context: ScopeContext[str]) -> Workflow:
        building.set()
        await may_build.wait()
        return factory_of(model)(context)

    app = FastAPI()
    registration = declare(ScopedFactory(build, scope=current_user)).detached().mount(app)
    async with served(app) as server:

        async def at_once(received: bytes) -> bool:
            await building.wait()
            return True

        assert await server.hang_up("alice", "A", "hello", after=at_once) == b""
        assert made[0].running.total() == 1, "control"
        may_build.set()
        await until(lambda: registration.statistics().live == 1)
        await until(is_free(registration))
        await until(lambda: not made[0].running)
        assert (await server.client.say("alice", "A", "and now")).types[-1] == "RUN_FINISHED"


LEAVES = 200


async def test_p7_nothing_is_left_of_many_that_left(
    model: RecordingModel, made: list[DetachedRuns]
) -> None:
    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=current_user)
    stage = declare(mode).pool(max_instances=20).detached(max_runs=8)
    registration = stage.mount(app)
    left = 0
    async with served(app) as server:
        await server.client.say("alice", "A", "hello")
        await until(is_free(registration))
        before = len(asyncio.all_tasks())

        async def leave(turn: int) -> None:
            nonlocal left
            wanted = (b"", b"RUN_STARTED", b"TEXT_MESSAGE_START", b"RUN_FINISHED")[turn % 4]

            async def far_enough(received: bytes) -> bool:
                return wanted in received or b"detached_runs_full" in received

            await server.hang_up(f"user{turn % 7}", f"t{turn % 11}", "hello", after=far_enough)
            left += 1

        for first in range(0, LEAVES, 4):
            await asyncio.gather(*(leave(turn) for turn in range(first, first + 4)))
        await until(is_free(registration))
        await until(lambda: not made[0].running and not made[0].alone)
        await until(lambda: len(asyncio.all_tasks()) <= before)
        statistics = registration.statistics()
        assert (statistics.leased, statistics.waiting, statistics.seeking) == (0, 0, 0)
        assert statistics.live <= 20
        assert (await server.client.say("alice", "A", "hello")).types[-1] == "RUN_FINISHED"
    assert left == LEAVES


# How it is declared


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("max_runs", value) for value in (0, -1, True, 1.5, "8", None)),
        *(("max_runs_per_scope", value) for value in (0, -1, True, 1.5, "8")),
        *(("timeout", value) for value in (0, -1, True, "60", None, float("nan"), float("inf"))),
    ],
)
def test_a_bad_value_is_refused_where_it_stands(
    option: str, value: Any, model: RecordingModel, work: Work
) -> None:
    stage = declare(MODES["workflow"](model, work))
    with pytest.raises(RegistrationError, match=option) as refusal:
        stage.detached(**{option: value})
    assert refusal.value.code is ReasonCode.OPTION_INVALID
    assert refusal.value.declared_at is not None
    assert refusal.value.declared_at.startswith(str(Path(__file__)))


@pytest.mark.parametrize("mode", ["single user", "per thread", "shared"])
def test_where_scopes_are_not_kept_apart_there_is_no_share(
    mode: str, model: RecordingModel, work: Work
) -> None:
    stage = declare(MODES[mode](model, work))
    with pytest.raises(RegistrationError, match="max_runs_per_scope") as refusal:
        stage.detached(max_runs_per_scope=1)
    assert refusal.value.code is ReasonCode.OPTION_UNAVAILABLE


def test_the_manifest_tells_it(model: RecordingModel, work: Work) -> None:
    stage = declare(MODES["workflow"](model, work))
    plain = stage.mount(FastAPI()).describe().options
    assert "detached" not in plain
    told = stage.detached(max_runs=4, timeout=60.0).mount(FastAPI()).describe().options
    assert told == plain | {
        "detached": True,
        "max_runs": 4,
        "max_runs_per_scope": 8,
        "detached_timeout": 60.0,
    }


async def test_p4_it_ends_with_its_own_error(
    model: RecordingModel, work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    registration = declare(MODES["workflow"](model, work)).detached().mount(app)
    async with client_of(app) as client:
        failed = await client.say("alice", "A", "explode")
        assert failed.types.count("RUN_ERROR") == 1
        await until(is_free(registration))
        assert (await client.say("alice", "A", "and now")).types[-1] == "RUN_FINISHED"
