"""The real framework under ``uvicorn --workers 4``, over each engine (promise P11)."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import anyio
import httpx
import pytest

from tests.stores.processes import LIMIT, Engine
from tests.stores.remote import Remote, postgres_at, redis_at
from tests.stores.workers.deployment import Conversation, Deployment, deployed

TURNS = 12
TTL = 3.0


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    if request.param == "sqlite":
        return Engine("tests.stores.local:sqlite_at", str(tmp_path / "threads.db"))
    made = postgres_at if request.param == "postgres" else redis_at
    return Remote(request.getfixturevalue(request.param), made).engine


async def test_p11_any_worker_serves_any_thread(engine: Engine) -> None:
    """One start of four processes serves all of these: it takes longer than they do."""
    async with deployed(engine, ttl=TTL) as workers:
        with anyio.fail_after(LIMIT):
            await workers.workers()
        for path in ("/chat", "/evicting", "/agent", "/home"):
            await the_model_sees_each_turn_once(workers, path, whole=False)
            await the_model_sees_each_turn_once(workers, path, whole=True)
        await every_question_is_answered_without_a_checkpoint_id(workers)
        await a_worker_that_dies_between_turns_takes_nothing_with_it(workers)
        await a_worker_that_dies_in_a_turn_frees_its_thread_in_time(workers)


async def the_model_sees_each_turn_once(workers: Deployment, path: str, *, whole: bool) -> None:
    conversation = Conversation(workers, path, whole=whole)
    served: set[int] = set()
    said: list[str] = []
    for number in range(1, TURNS + 1):
        said.append(str(number))
        turn = await conversation.say(str(number))
        assert turn.last["type"] == "RUN_FINISHED", turn.events
        assert turn.said == said, (path, whole)
        served.add(turn.worker)
    assert len(served) > 1, "control: one worker has served all of it"


async def every_question_is_answered_without_a_checkpoint_id(workers: Deployment) -> None:
    for number in range(20):
        thread = f"question {number}"
        message = {"id": f"q{number}", "role": "user", "content": "shall I?"}
        asked = await workers.send("/ask", thread, messages=[message])
        (interrupt,) = asked.last["outcome"]["interrupts"]
        answer = {"interruptId": interrupt["id"], "status": "resolved", "payload": "yes"}
        foreign = await workers.send("/ask", thread, user="bob", resume=[answer])
        assert foreign.last["type"] == "RUN_ERROR"
        answered = await workers.send("/ask", thread, resume=[answer])
        assert answered.last["type"] == "RUN_FINISHED", answered.events


async def a_worker_that_dies_between_turns_takes_nothing_with_it(workers: Deployment) -> None:
    conversation = Conversation(workers, "/chat")
    said: list[str] = []
    for number in range(1, TURNS + 1):
        said.append(str(number))
        turn = await conversation.say(str(number))
        assert turn.said == said
        if number % 3 == 0:
            os.kill(turn.worker, signal.SIGKILL)
            await _is_gone(turn.worker)


async def a_worker_that_dies_in_a_turn_frees_its_thread_in_time(workers: Deployment) -> None:
    conversation = Conversation(workers, "/chat")
    await conversation.say("kept")
    message = {"id": "never", "role": "user", "content": "never"}
    body = {"threadId": conversation.thread, "messages": [message]}

    async def kill_the_worker() -> None:
        async with workers.http.stream(
            "POST", "/chat", json=body, headers={"x-user": "alice"}
        ) as answer:
            async for line in answer.aiter_lines():
                if "TEXT_MESSAGE_CONTENT" in line:
                    os.kill(int(line.rpartition("@")[2].partition('"')[0]), signal.SIGKILL)

    with pytest.raises(httpx.TransportError):
        await kill_the_worker()
    died = time.monotonic()
    turn = await conversation.say("and now")
    assert turn.said == ["kept", "and now"]
    # The lease ends `TTL` seconds after its last renewal; the rest is this machine's.
    assert time.monotonic() - died < TTL + 30


async def _is_gone(pid: int) -> None:
    with anyio.fail_after(LIMIT):
        while True:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            await anyio.sleep(0.01)
