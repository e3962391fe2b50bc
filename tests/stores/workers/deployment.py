"""Four workers behind one port, and a client that keeps no connection to any of them."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import uuid
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import attrs
import httpx

from tests.stores.processes import LIMIT, ROOT, Engine
from tests.stores.servers import free_port
from tests.stores.workers.app import ADDRESS, FACTORY, TTL

WORKERS = 4


@attrs.frozen
class Turn:
    """What the answer to one message tells."""

    events: list[dict[str, Any]]

    @property
    def text(self) -> str:
        return "".join(
            event["delta"] for event in self.events if event["type"] == "TEXT_MESSAGE_CONTENT"
        )

    @property
    def said(self) -> list[str]:
        """What the user had said, as far as the model was told."""
        return self.text.partition("@")[0].split(",")

    @property
    def worker(self) -> int:
        """The process that has served it."""
        return int(self.text.rpartition("@")[2])

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]


@attrs.frozen
class Deployment:
    """The workers of one application."""

    http: httpx.AsyncClient
    ttl: float

    async def send(self, path: str, thread: str, user: str = "alice", **body: Any) -> Turn:
        answer = await self.http.post(
            path, headers={"x-user": user}, json={"threadId": thread, "messages": [], **body}
        )
        assert answer.status_code == 200, answer.text
        return Turn(_events(answer.text))

    async def workers(self) -> set[int]:
        """Return the processes, once all of them answer."""
        found: set[int] = set()
        while len(found) < WORKERS:
            found.add(int((await self.http.get("/worker")).text))
        return found


class Conversation:
    """A client's side of one thread, which may send the whole of it each time."""

    def __init__(self, deployment: Deployment, path: str, *, whole: bool = False) -> None:
        self.thread = uuid.uuid4().hex
        self._deployment = deployment
        self._path = path
        self._whole = whole
        self._messages: list[dict[str, str]] = []

    async def say(self, text: str) -> Turn:
        new = {"id": uuid.uuid4().hex, "role": "user", "content": text}
        self._messages.append(new)
        sent = self._messages if self._whole else [new]
        turn = await self._deployment.send(self._path, self.thread, messages=sent)
        for event in turn.events:
            if event["type"] == "TEXT_MESSAGE_START":
                self._messages.append(
                    {"id": event["messageId"], "role": "assistant", "content": turn.text}
                )
        return turn


@contextlib.asynccontextmanager
async def deployed(engine: Engine, *, ttl: float) -> AsyncGenerator[Deployment, None]:
    """Start the workers over a store, and stop them."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "uvicorn", "tests.stores.workers.app:create_app", "--factory"),
        *("--workers", str(WORKERS), "--host", "127.0.0.1", "--port", str(port)),
        *("--log-level", "warning", "--timeout-graceful-shutdown", "5"),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        FACTORY: engine.factory,
        ADDRESS: engine.address,
        TTL: str(ttl),
    }
    supervisor = await anyio.open_process(
        command, cwd=ROOT, env=environment, stdin=None, stdout=None, stderr=None
    )
    try:
        # A connection for each request: whichever worker accepts it serves it.
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            limits=httpx.Limits(max_keepalive_connections=0),
            timeout=LIMIT,
        ) as http:
            with anyio.fail_after(LIMIT):
                while not await _answers(http):
                    assert supervisor.returncode is None, "the workers did not start"
                    await anyio.sleep(0.05)
            yield Deployment(http, ttl)
    finally:
        with anyio.CancelScope(shield=True):
            supervisor.terminate()
            with anyio.move_on_after(30):
                await supervisor.wait()
            if supervisor.returncode is None:
                supervisor.kill()
                await supervisor.wait()


async def _answers(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/worker")).is_success
    except httpx.TransportError:
        return False


def _events(body: str) -> list[dict[str, Any]]:
    return [
        json.loads(line.removeprefix("data: "))
        for line in body.splitlines()
        if line.startswith("data: ")
    ]
