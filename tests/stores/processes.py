"""Worker processes that use a store: how they are started, asked, stopped and killed."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, cast

import anyio
import attrs
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from scoped_registration.stores.protocol import ThreadStore

__all__ = ["LIMIT", "ROOT", "Engine", "Worker"]

ROOT = Path(__file__).parents[2]
LIMIT = 120  # seconds until what hangs is a failure


@attrs.frozen
class Engine:
    """Where a store's documents are: all stores that are made of it use the same.

    Args:
        factory: ``module:function`` of a function that takes the address and returns a store.
        address: A path, or the address of a server.
    """

    factory: str
    address: str = attrs.field(repr=False)

    def store(self) -> ThreadStore:
        module, _, name = self.factory.partition(":")
        make = cast("Callable[[str], ThreadStore]", getattr(importlib.import_module(module), name))
        return make(self.address)

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[ThreadStore, None]:
        store = self.store()
        try:
            await store.open()
            yield store
        finally:
            await store.aclose()

    @contextlib.asynccontextmanager
    async def worker(self) -> AsyncGenerator[Worker, None]:
        """Start a process with a store of its own; it is gone afterwards."""
        command = [sys.executable, "-m", "tests.stores.worker", self.factory, self.address]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        async with await anyio.open_process(command, stderr=None, cwd=ROOT, env=environment) as one:
            try:
                yield Worker(one)
            finally:
                if one.returncode is None:
                    one.kill()


class Worker:
    """A process that runs `tests.stores.worker`."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._questions = process.stdin
        self._answers = BufferedByteReceiveStream(process.stdout)

    async def ask(self, do: str, **arguments: object) -> Any:  # what JSON holds
        """Let the process do something, and wait for its answer."""
        await self.tell(do, **arguments)
        return await self.answer()

    async def tell(self, do: str, **arguments: object) -> None:
        """Let the process do something when it comes to it."""
        await self._questions.send(json.dumps([do, arguments]).encode() + b"\n")

    async def answer(self) -> Any:  # what JSON holds
        return json.loads(await self._answers.receive_until(b"\n", 1 << 20))

    def stop(self) -> None:
        """Stop the process where it is, and be sure that it has stopped."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def kill(self) -> None:
        self._process.kill()
        assert await self._process.wait() == -signal.SIGKILL
