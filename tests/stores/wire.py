"""A wire between a store and a server, which a test can cut, slow down or let lose a reply."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

import anyio
from anyio.abc import SocketStream, TaskStatus

from tests.stores.servers import free_port

__all__ = ["Wire"]


class Wire:
    """Passes on what is said, on a port of its own.

    Attributes:
        port: Where it listens.
        target: The port of the server; what is connected stays with the one it reached.
        delay: Seconds that each reply is late.
        lose: How many replies are still to be lost, and their connections with them.
        made: How many connections were made.
    """

    def __init__(self, target: int) -> None:
        self.port = 0
        self.target = target
        self.delay = 0.0
        self.lose = 0
        self.made = 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[Wire, None]:
        async with anyio.create_task_group() as group:
            await group.start(self._serve)
            yield self
            group.cancel_scope.cancel()

    async def _serve(self, *, task_status: TaskStatus[None]) -> None:
        port = free_port()
        async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as it:
            self.port = port
            task_status.started()
            await it.serve(self._connected)

    async def _connected(self, client: SocketStream) -> None:
        self.made += 1
        with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with (
                client,
                await anyio.connect_tcp("127.0.0.1", self.target) as server,
                anyio.create_task_group() as group,
            ):
                group.start_soon(self._replies, server, client, group.cancel_scope)
                await self._pass(client, server)
                group.cancel_scope.cancel()

    async def _replies(
        self, server: SocketStream, client: SocketStream, scope: anyio.CancelScope
    ) -> None:
        await self._pass(server, client, replies=True)
        scope.cancel()

    async def _pass(self, source: SocketStream, to: SocketStream, *, replies: bool = False) -> None:
        with contextlib.suppress(
            anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError
        ):
            async for data in source:
                if replies:
                    await anyio.sleep(self.delay)
                    if self.lose:
                        self.lose -= 1
                        return
                await to.send(data)
