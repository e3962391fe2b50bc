"""Two applications on two servers in one process: nothing crosses, not even by name (P2, P8)."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import httpx
import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override

from tests.faults.http_support import LIMIT, Stage, assert_free, until

ALICE = {"x-user": "alice"}


class ThreadServer(uvicorn.Server):
    """A server in a thread, with an event loop of its own."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(uvicorn.Config(app, log_level="error", ws="none", loop="asyncio"))
        self.loop: asyncio.AbstractEventLoop | None = None
        self.up = threading.Event()
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self.run, args=([self._listener],), daemon=True)

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.loop = asyncio.get_running_loop()
        self.up.set()

    def begin(self) -> None:
        self._thread.start()
        assert self.up.wait(LIMIT)

    def stop(self) -> None:
        self.should_exit = True
        self._thread.join(LIMIT)
        self._listener.close()
        assert not self._thread.is_alive()

    def call_soon(self, event: asyncio.Event) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(event.set)


@contextmanager
def two_servers(
    one: ASGIApp, two: ASGIApp
) -> Generator[tuple[ThreadServer, ThreadServer], None, None]:
    servers = ThreadServer(one), ThreadServer(two)
    for server in servers:
        server.begin()
    try:
        yield servers
    finally:
        for server in servers:
            server.stop()


async def test_p2_two_applications_with_one_name_share_nothing() -> None:
    stages = Stage(policy="reject"), Stage(policy="reject")
    with two_servers(stages[0].app, stages[1].app) as servers, anyio.fail_after(LIMIT):
        async with (
            httpx.AsyncClient(base_url=servers[0].url, headers=ALICE) as one,
            httpx.AsyncClient(base_url=servers[1].url, headers=ALICE) as two,
        ):
            clients = one, two

            async def talk(which: int) -> list[str]:
                lines: list[str] = []
                for number in range(20):
                    text = f"{which}-{number}"
                    answer = await clients[which].get("/chat/t1", params={"text": text})
                    lines = answer.json()
                return lines

            told = await asyncio.gather(talk(0), talk(1))
            for which in (0, 1):
                assert told[which] == [f"{which}-{number}" for number in range(20)]
                assert stages[which].registration.statistics().built == 1

            # A run of one is no run of the other.
            async with one.stream("GET", "/stream/t1") as running:
                async for text in running.aiter_text():
                    if text == "first":
                        assert (await one.get("/chat/t1")).status_code == 409
                        assert (await two.get("/chat/t1")).status_code == 200
                        servers[0].call_soon(stages[0].goes_on)

            # What one forgets, or loses with its server, the other keeps.
            assert stages[0].registration.invalidate(scope="alice") == 1
            await until(lambda: stages[0].registration.statistics().live == 0)
            assert (await one.get("/chat/t1")).json() == ["hello"]
            servers[0].stop()
            assert stages[0].instances.closed == [1, 1]
            assert stages[1].instances.closed == [0]
            assert (await two.get("/chat/t1")).json() == [*told[1], "hello", "hello"]
    assert stages[1].instances.closed == [1]
    for stage in stages:
        assert_free(stage.registration)
        assert stage.registration.statistics().live == 0
        assert stage.registration.statistics().dropped == 0
