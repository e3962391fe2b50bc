"""What is worth knowing of a registration is told, and is no reason to refuse it (P10)."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from agent_framework import (
    Agent,
    ChatOptions,
    FunctionTool,
    RawAgent,
    ToolApprovalMiddleware,
)
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    ReasonCode,
    RegistrationError,
    Risk,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    Sessions,
    client_of,
    current_user,
    declare,
    make_agent,
    make_workflow,
)

CARRIED = set(Risk) - {Risk.OBJECT_STATE, Risk.CHECKPOINT_CONTENTS}


async def notes_of(app: FastAPI, registration: Any, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the notes of the manifest, which are to stand in the start-up log too."""
    with caplog.at_level(logging.INFO, "scoped_registration"):
        async with client_of(app):
            pass
    notes = list(registration.describe().notes)
    logged = [record.getMessage() for record in caplog.records]
    for note in notes:
        assert sum(note in line and "'support'" in line for line in logged) == 1, logged
    assert registration.describe().as_dict().get("notes", []) == notes
    return notes


async def test_risks_that_are_not_carried_are_told(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    given = Acknowledgement(reason="one desk", owner="team", risks=CARRIED | {Risk.OBJECT_STATE})
    registration = declare(PersistentShared(make_workflow(model), acknowledgement=given)).mount(app)
    (note,) = await notes_of(app, registration, caplog)
    assert "Risk.OBJECT_STATE" in note
    assert not any(f"Risk.{risk.name}" in note for risk in CARRIED)


async def test_risks_that_are_carried_are_no_news(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    given = Acknowledgement(reason="one desk", owner="team", risks=CARRIED)
    registration = declare(PersistentShared(make_workflow(model), acknowledgement=given)).mount(app)
    assert await notes_of(app, registration, caplog) == []


def lookup() -> str:
    """Look something up."""
    return "found"


def limited_tool() -> FunctionTool:
    return FunctionTool(name="lookup", description="Look up.", func=lookup, max_invocations=1)


async def test_a_tool_that_counts_serves_all_of_per_run(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    agent = make_agent(model, tools=[limited_tool()])
    registration = declare(per_run(agent, scope=current_user)).mount(app)
    (note,) = await notes_of(app, registration, caplog)
    assert note.startswith("availability: ")
    assert "'lookup' (1)" in note
    async with client_of(app) as client:
        await client.say("alice", "A", "call:lookup")
        assert model.calls[-1].tools == ("lookup",)
        hers = await client.say("alice", "B", "hello")
        assert hers.types[-1] == "RUN_FINISHED"
        his = await client.say("bob", "A", "call:lookup")
    results = [event["content"] for event in his.events if event["type"] == "TOOL_CALL_RESULT"]
    assert len(results) == 1
    assert "found" not in results[0], "alice has used up what bob has"


async def test_control_a_tool_per_key_counts_for_its_key(model: RecordingModel) -> None:
    app = FastAPI()
    mode = ScopedFactory(
        lambda context: make_agent(model, tools=[limited_tool()]), scope=current_user
    )
    registration = declare(mode).mount(app)
    assert registration.describe().notes == ()
    async with client_of(app) as client:
        for user in ("alice", "bob"):
            answer = await client.say(user, "A", "call:lookup")
            results = [e["content"] for e in answer.events if e["type"] == "TOOL_CALL_RESULT"]
            assert results == ["found"]


async def test_standing_approvals_of_per_run_end_with_their_run(
    model: RecordingModel, sessions: Sessions, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    agent = make_agent(
        model, providers=[sessions.provider()], middleware=[ToolApprovalMiddleware()]
    )
    registration = declare(per_run(agent, scope=current_user)).mount(app)
    (note,) = await notes_of(app, registration, caplog)
    assert "ToolApprovalMiddleware" in note
    async with client_of(app) as client:
        await client.say("alice", "A", "hello")
        (first,) = sessions.seen
        first.state["tool_approval"]["rules"].append("whatever alice approved for ever")
        await client.say("alice", "A", "and now")
    second = sessions.seen[-1]
    assert second is not first
    assert second.session_id == first.session_id, "control: it is the same thread"
    assert second.state["tool_approval"]["rules"] == []


async def test_a_plain_agent_needs_no_note(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    unlimited = FunctionTool(name="lookup", description="Look up.", func=lookup)
    registration = declare(per_run(make_agent(model, tools=[unlimited]), scope=current_user)).mount(
        app
    )
    assert await notes_of(app, registration, caplog) == []


# A runner whose every run would want a session that it does not get


def service_runner(model: RecordingModel, *, store: bool = True) -> AgentFrameworkAgent:
    options: ChatOptions[None] = {"store": store}
    agent: RawAgent[Any] = Agent(client=model, default_options=options)
    return AgentFrameworkAgent(agent, use_service_session=True)


async def test_control_the_raw_helper_accepts_it_and_fails_every_request(
    model: RecordingModel,
) -> None:
    app = FastAPI()
    add_agent_framework_fastapi_endpoint(
        app, service_runner(model), "/", authorization_scope_resolver=current_user
    )
    async with client_of(app) as client:
        for user in ("alice", "bob"):
            answer = await client.say(user, "A", "hello")
            assert answer.types[-1] == "RUN_ERROR"
    assert model.calls == []


@pytest.mark.parametrize("why", ["no snapshots", "store=False"])
def test_a_service_session_that_cannot_be_is_refused(why: str, model: RecordingModel) -> None:
    runner = service_runner(model, store=why == "no snapshots")
    stage = AGUIEndpointBuilder("support").isolation(SingleUser(runner))
    if why == "store=False":
        stage = stage.snapshots(InMemoryAGUIThreadSnapshotStore())
    app = FastAPI()
    routes = list(app.routes)
    with pytest.raises(RegistrationError) as refusal:
        stage.mount(app)
    assert refusal.value.code is ReasonCode.CAPABILITY_NEEDS_SESSION
    assert refusal.value.declared_at is not None
    assert app.routes == routes


async def test_a_service_session_that_is_kept_is_served() -> None:
    model = RecordingModel(conversations=True)
    app = FastAPI()
    stage = AGUIEndpointBuilder("support").isolation(SingleUser(service_runner(model)))
    stage.snapshots(InMemoryAGUIThreadSnapshotStore()).mount(app)
    async with client_of(app) as client:
        for _ in range(2):
            assert (await client.say("me", "A", "hello")).types[-1] == "RUN_FINISHED"
    assert [call.conversation_id for call in model.calls] == [None, "conversation-1"]


async def test_a_factory_that_returned_such_a_runner_is_refused_when_it_built(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    mode = ScopedFactory(lambda context: service_runner(model), scope=current_user)
    registration = declare(mode).mount(app)
    async with client_of(app) as client:
        assert (await client.say("alice", "A", "hello")).status == 500
    assert "[capability_needs_session]" in caplog.text
    assert registration.statistics().live == 0
