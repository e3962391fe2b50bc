"""A thread's transcript and its state, as far as a client and a store see them (P2, P11)."""

from __future__ import annotations

import logging
from typing import Any

import attrs
import pytest
from agent_framework import (
    AgentSession,
    ContextProvider,
    SessionContext,
    SupportsAgentRun,
)
from agent_framework_ag_ui import AGUIThreadSnapshot, InMemoryAGUIThreadSnapshotStore
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import per_run
from tests.integrations.agent_framework.kit import (
    Answer,
    Client,
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    factory_of,
    make_agent,
    make_workflow,
)
from tests.integrations.agent_framework.streams import end_of, problems_of

Row = tuple[str, str]


class Store(InMemoryAGUIThreadSnapshotStore):
    """Keeps what was saved in sight, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[Row, AGUIThreadSnapshot] = {}
        self.fails = False

    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        if self.fails:
            raise OSError("disk of alice, at /srv/snapshots")
        self.rows[scope, thread_id] = snapshot
        await super().save(scope=scope, thread_id=thread_id, snapshot=snapshot)


def modes(model: RecordingModel, **agent: Any) -> dict[str, Any]:
    return {
        "workflow": ScopedFactory(factory_of(model, **agent), scope=current_user),
        "agent": ScopedFactory(lambda context: make_agent(model, **agent), scope=current_user),
        "per_run": per_run(make_agent(model, **agent), scope=current_user),
        "per thread": SingleUser.per_thread(lambda context: make_workflow(model, **agent)),
        "single user": SingleUser(make_agent(model, **agent)),
        "shared": PersistentShared(
            make_workflow(model, **agent), acknowledgement=acknowledge(), access=current_user
        ),
    }


MODES = ["workflow", "agent", "per_run", "per thread", "single user", "shared"]
APART = ["workflow", "agent", "per_run", "shared"]


def endpoint(mode: Any, store: Store, **options: Any) -> FastAPI:
    app = FastAPI()
    declare(mode).options(**options).snapshots(store).mount(app)
    return app


async def hydrate(client: Client, user: str, thread: str) -> Answer:
    answer = await client.send(user, {"thread_id": thread, "messages": []})
    assert (answer.status, problems_of(answer)) == (200, [])
    return answer


def transcript(answer: Answer) -> list[str]:
    found = [event for event in answer.events if event["type"] == "MESSAGES_SNAPSHOT"]
    return [message["content"] for event in found for message in event["messages"]]


def states(answer: Answer) -> list[Any]:
    return [event["snapshot"] for event in answer.events if event["type"] == "STATE_SNAPSHOT"]


@pytest.mark.parametrize("mode", MODES)
async def test_one_record_for_each_scope_and_thread(mode: str, model: RecordingModel) -> None:
    store = Store()
    async with client_of(endpoint(modes(model)[mode], store)) as client:
        turns = [("alice", "A"), ("alice", "A2"), ("bob", "A"), ("alice", "A")]
        for turn, (user, thread) in enumerate(turns):
            said = await client.say(user, thread, f"SECRET-{turn}.")
            assert problems_of(said) == []
        hydrated = transcript(await hydrate(client, "alice", "A"))
    assert len(store.rows) == (3 if mode in APART else 2)
    assert [text for text in hydrated if "SECRET" in text] == (
        ["SECRET-0.", "SECRET-3."] if mode in APART else ["SECRET-0.", "SECRET-2.", "SECRET-3."]
    )


@pytest.mark.parametrize("mode", APART)
async def test_p2_anothers_thread_is_empty_and_runs_nothing(
    mode: str, model: RecordingModel
) -> None:
    store = Store()
    async with client_of(endpoint(modes(model)[mode], store)) as client:
        await client.say("alice", "A", "SECRET-alice", state={"pin": "1234"})
        calls = len(model.calls)
        his = await hydrate(client, "bob", "A")
        assert his.types == ["RUN_STARTED", "RUN_FINISHED"]
        hers = await hydrate(client, "alice", "A")
        assert "SECRET-alice" in hers.body, "control"
        assert states(hers) == [{"pin": "1234"}], "control"
        assert len(model.calls) == calls
        assert len(store.rows) == 1, "who asks for nothing stores nothing"


@pytest.mark.parametrize("mode", MODES)
async def test_a_failed_run_keeps_the_transcript_before_it(
    mode: str, model: RecordingModel
) -> None:
    store = Store()
    async with client_of(endpoint(modes(model)[mode], store)) as client:
        await client.say("alice", "A", "first", state={"step": 1})
        before = await hydrate(client, "alice", "A")
        failed = await client.say("alice", "A", "explode", state={"step": 2})
        assert end_of(failed) == "RUN_ERROR"
        assert problems_of(failed) == []
        after = await hydrate(client, "alice", "A")
        assert (transcript(after), states(after)) == (transcript(before), [{"step": 1}])
        assert (await client.say("alice", "A", "second")).types[-1] == "RUN_FINISHED"
        assert "second" in transcript(await hydrate(client, "alice", "A"))


@pytest.mark.parametrize("mode", MODES)
async def test_a_store_that_fails_ends_no_run_twice(
    mode: str, model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store()
    async with client_of(endpoint(modes(model)[mode], store)) as client:
        await client.say("alice", "A", "first")
        before = transcript(await hydrate(client, "alice", "A"))
        store.fails = True
        with caplog.at_level(logging.ERROR):
            said = await client.say("alice", "A", "lost")
        assert said.types[-1] == "RUN_FINISHED"
        assert problems_of(said) == []
        assert "disk of alice" not in said.body
        assert "OSError" in caplog.text, "control: it did fail"
        store.fails = False
        assert transcript(await hydrate(client, "alice", "A")) == before
        assert (await client.say("alice", "A", "second")).types[-1] == "RUN_FINISHED"


@pytest.mark.parametrize("mode", MODES)
async def test_state_is_overlaid_and_missing_state_resets_nothing(
    mode: str, model: RecordingModel
) -> None:
    store = Store()
    app = endpoint(modes(model)[mode], store, default_state={"a": 0, "b": 0, "c": 0})
    async with client_of(app) as client:
        await client.say("alice", "A", "one", state={"a": 1})
        await client.say("alice", "A", "two", state={"b": 2})
        await client.say("alice", "A", "three", state={})
        await client.say("alice", "A", "four")
        assert states(await hydrate(client, "alice", "A")) == [{"a": 1, "b": 2, "c": 0}]
        await store.clear()
        await client.say("alice", "A", "five")
        assert states(await hydrate(client, "alice", "A")) == [{"a": 0, "b": 0, "c": 0}], (
            "deleting the record is what resets it"
        )


@attrs.define
class Turns:
    """A context provider that counts, in its session, how often it was there."""

    seen: list[int] = attrs.field(factory=list[int])

    def provider(self) -> ContextProvider:
        turns = self

        class Counting(ContextProvider):
            @override
            async def before_run(
                self,
                *,
                agent: SupportsAgentRun,
                session: AgentSession,
                context: SessionContext,
                state: dict[str, Any],
            ) -> None:
                state["turns"] = state.get("turns", 0) + 1
                turns.seen.append(state["turns"])

        return Counting("counting")


@pytest.mark.parametrize("mode", ["agent", "per_run"])
async def test_p2_what_a_provider_keeps_goes_on_with_its_own_thread(
    mode: str, model: RecordingModel
) -> None:
    turns, store = Turns(), Store()
    made = modes(model, providers=[turns.provider()])[mode]
    if mode == "agent":
        made = ScopedFactory(
            lambda context: make_agent(model, providers=[turns.provider()]),
            scope=current_user,
            shares=[turns],
        )
    async with client_of(endpoint(made, store)) as client:
        for user, thread in [("alice", "A"), ("alice", "A"), ("bob", "A"), ("alice", "A2")]:
            await client.say(user, thread, "hello", state={"counting": {"turns": 40}})
        assert turns.seen == [1, 2, 1, 1], "nor does the client say how many"
        hers = await hydrate(client, "alice", "A")
        assert '"turns":2' not in hers.body.replace(" ", ""), "what is private is not replayed"


@pytest.mark.parametrize("mode", ["agent", "per_run", "single user"])
async def test_a_continuation_that_cannot_be_read_does_not_end_the_thread(
    mode: str, model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store()
    made = modes(model, providers=[Turns().provider()])[mode]
    async with client_of(endpoint(made, store)) as client:
        await client.say("alice", "A", "first")
        ((scope, thread_id),) = store.rows
        broken = store.rows[scope, thread_id]
        assert broken.session_state, "control: there is one"
        broken.session_state = {"type": "no such class", "state": {"counting": {"type": "none"}}}
        await store.save(scope=scope, thread_id=thread_id, snapshot=broken)
        for text in ("second", "third"):
            said = await client.say("alice", "A", text)
            assert said.types[-1] == "RUN_FINISHED", said.body
            assert problems_of(said) == []
        assert {"first", "second", "third"} <= set(transcript(await hydrate(client, "alice", "A")))
