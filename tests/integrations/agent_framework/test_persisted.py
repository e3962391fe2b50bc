"""Endpoints whose threads are in a store: each application here is one worker of several."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from fastapi import FastAPI

from scoped_registration import ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import per_run
from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore
from tests.integrations.agent_framework.kit import (
    Answer,
    Client,
    RecordingModel,
    client_of,
    current_user,
    declare,
    make_agent,
    make_workflow,
)
from tests.integrations.agent_framework.samples import asking_workflow

TURNS = 12
MODES: dict[str, Callable[[RecordingModel], Any]] = {
    "scoped workflow": lambda model: ScopedFactory(
        lambda context: make_workflow(model), scope=current_user
    ),
    "per_thread workflow": lambda model: SingleUser.per_thread(
        lambda context: make_workflow(model)
    ),
    "scoped agent": lambda model: ScopedFactory(
        lambda context: make_agent(model), scope=current_user
    ),
    "per_run": lambda model: per_run(make_agent(model), scope=current_user),
}


def worker(mode: Any, store: ThreadStore) -> FastAPI:
    """Return what one worker process serves."""
    app = FastAPI()
    declare(mode).persisted(store).mount(app)
    return app


def turns_seen(model: RecordingModel) -> list[int]:
    """Which of the user's turns the last model call saw, in its order."""
    texts = [text for text in model.calls[-1].texts if text.startswith("user: turn ")]
    return [int(text.removeprefix("user: turn ")) for text in texts]


class Conversation:
    """A client's side of one thread: what it would send as the whole history."""

    def __init__(self) -> None:
        self.messages: list[dict[str, str]] = []

    async def say(self, client: Client, text: str, *, whole: bool) -> Answer:
        new = {"id": uuid.uuid4().hex, "role": "user", "content": text}
        self.messages.append(new)
        sent = [*self.messages] if whole else [new]
        answer = await client.send("alice", {"thread_id": "A", "messages": sent})
        assert answer.types[-1] == "RUN_FINISHED", answer.body
        for event in answer.events:
            if event["type"] == "TEXT_MESSAGE_START":
                self.messages.append({"id": event["messageId"], "role": "assistant", "content": ""})
            elif event["type"] == "TEXT_MESSAGE_CONTENT":
                self.messages[-1]["content"] += event["delta"]
        return answer


@pytest.mark.parametrize("whole", [False, True], ids=["delta", "full history"])
@pytest.mark.parametrize("mode", MODES)
async def test_p11_the_model_sees_each_turn_once_whichever_worker_serves(
    mode: str, whole: bool
) -> None:
    store, model, conversation = MemoryStore(), RecordingModel(), Conversation()
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(client_of(worker(MODES[mode](model), store)))
            for _ in range(4)
        ]
        order = [0, 1, 1, 2, 0, 3, 3, 3, 1, 0, 2, 1]
        for number in range(1, TURNS + 1):
            await conversation.say(workers[order[number - 1]], f"turn {number}", whole=whole)
            assert turns_seen(model) == [*range(1, number + 1)]


async def test_a_question_is_answered_in_another_worker_without_a_checkpoint_id() -> None:
    store = MemoryStore()
    mode = ScopedFactory(lambda context: asking_workflow(), scope=current_user)
    async with client_of(worker(mode, store)) as first, client_of(worker(mode, store)) as second:
        for number in range(20):
            asked = await first.say("alice", f"t{number}", "shall I?")
            foreign = await second.resume("bob", f"t{number}", asked.interrupt, "no")
            assert foreign.last["type"] == "RUN_ERROR"
            answer = await second.resume("alice", f"t{number}", asked.interrupt, "yes")
            assert answer.last["type"] == "RUN_FINISHED", answer.body
            assert "shall I?: yes" in answer.body
            again = await first.resume("alice", f"t{number}", asked.interrupt, "yes")
            assert again.last["type"] == "RUN_ERROR", "an answer counts once"
