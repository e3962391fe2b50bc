"""Clients of a real server that hang up at any moment, politely or not (P5)."""

from __future__ import annotations

import asyncio
from typing import Literal

import anyio
import pytest

from tests.faults.http_support import LIMIT, Stage, Tasks, assert_free, until
from tests.integrations.fastapi.test_disconnects import serving

OFTEN = 10
REQUEST = b"GET /stream/t1 HTTP/1.1\r\nhost: test\r\nx-user: alice\r\n\r\n"

Moment = Literal["in the endpoint", "before the first byte", "in the body"]
MOMENTS: tuple[Moment, ...] = ("in the endpoint", "before the first byte", "in the body")


async def hang_up(stage: Stage, port: int, moment: Moment, *, abruptly: bool) -> None:
    stage.entered.clear()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST)
    match moment:
        case "in the endpoint":
            stage.may_answer.clear()
            await stage.entered.wait()
        case "before the first byte":
            stage.may_begin.clear()
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
        case "in the body":
            await reader.readuntil(b"first")
    assert stage.registration.statistics().leased == 1
    if abruptly:
        writer.transport.abort()
    else:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("abruptly", [False, True], ids=["closed", "aborted"])
@pytest.mark.parametrize("moment", MOMENTS)
async def test_p5_clients_that_hang_up_cost_nothing(moment: Moment, abruptly: bool) -> None:
    tasks = Tasks()
    stage = Stage()
    with anyio.fail_after(LIMIT):
        async with serving(stage.app) as (server, url):
            port = int(url.rpartition(":")[2])
            for _ in range(OFTEN):
                await hang_up(stage, port, moment, abruptly=abruptly)
                await until(lambda: not server.server_state.connections)
                stage.may_answer.set()  # the endpoint answers to nobody
                await until(lambda: stage.registration.statistics().leased == 0)
                stage.may_begin.set()
                await stage.assert_served()
            await until(lambda: not server.server_state.tasks)
            assert_free(stage.registration)
            figures = stage.registration.statistics()
            assert (figures.live, figures.built, figures.rejected) == (1, 1, 0)
    assert stage.bodies <= OFTEN
    assert stage.instances.closed == [1]
    await tasks.are_back()
