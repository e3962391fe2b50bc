"""Promise P9 on AG-UI endpoints: what the framework shares passes, what keeps state does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import AgentExecutor, InMemoryHistoryProvider, Workflow, WorkflowBuilder, tool
from fastapi import FastAPI

from scoped_registration import ReasonCode, RegistrationError, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    client_of,
    current_user,
    make_agent,
    make_workflow,
)

Factory = Callable[[Any], Workflow]


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def capturing(model: RecordingModel) -> Factory:
    """Return a factory of workflows around one executor, which keeps a conversation."""
    executor = AgentExecutor(make_agent(model), id="support")
    return lambda _: WorkflowBuilder(start_executor=executor).build()


def constructing(model: RecordingModel) -> Factory:
    """Return a factory that constructs all but what the framework makes to be shared."""
    provider = InMemoryHistoryProvider()
    agent = make_agent(model, tools=[add], providers=[provider])
    return lambda _: WorkflowBuilder(start_executor=AgentExecutor(agent, id="support")).build()


def endpoint(factory: Factory, *samples: str, shares: tuple[object, ...] = ()) -> FastAPI:
    app = FastAPI()
    stage = AGUIEndpointBuilder("support").isolation(
        ScopedFactory(factory, scope=current_user, shares=shares)
    )
    if samples:
        stage = stage.verify_at_startup(sample_scopes=samples)
    stage.mount(app)
    return app


async def test_p9_a_captured_executor_is_refused_to_the_second_user(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(endpoint(capturing(model))) as client:
        assert (await client.say("alice-1", "thread-a", "hers")).text == "reply 1"
        refused = await client.say("bob-2", "thread-b", "his")
        assert (refused.status, refused.body) == (500, '{"detail":"Internal Server Error"}')
        assert (await client.say("alice-1", "thread-a", "more")).text == "reply 2"

    assert len(model.calls) == 2
    assert model.calls[1].holds("hers")
    assert "[factory_reuses_state] registration 'support'" in caplog.text
    assert 'workflow.executors["support"] (' in caplog.text
    for word in ("alice-1", "bob-2", "thread-a", "thread-b", "hers"):
        assert word not in caplog.text


async def test_p9_what_the_framework_shares_needs_no_declaration(model: RecordingModel) -> None:
    async with client_of(endpoint(constructing(model))) as client:
        for number, user in enumerate(("alice", "bob", "carol"), start=1):
            assert (await client.say(user, "thread", user)).text == f"reply {number}"
            assert not model.calls[-1].holds("alice") or user == "alice"


async def test_p9_an_agent_that_a_workflow_makes_is_not_to_be_shared(
    model: RecordingModel,
) -> None:
    inner = make_workflow(model).as_agent(name="inner")

    def build(_: object) -> Workflow:
        return WorkflowBuilder(start_executor=AgentExecutor(inner, id="support")).build()

    async with client_of(endpoint(build)) as client:
        answers = [await client.say(user, "thread", "hello") for user in ("alice", "bob")]
    assert [answer.status for answer in answers] == [200, 500]


async def test_p9_what_is_declared_passes(model: RecordingModel) -> None:
    executor = AgentExecutor(make_agent(model), id="support")

    def build(_: object) -> Workflow:
        return WorkflowBuilder(start_executor=executor).build()

    async with client_of(endpoint(build, shares=(AgentExecutor,))) as client:
        await client.say("alice", "A", "hers")
        await client.say("bob", "B", "his")
    assert model.calls[1].holds("hers")  # as declared


async def test_p9_one_principal_may_share_between_threads(model: RecordingModel) -> None:
    app = FastAPI()
    mode = SingleUser.per_thread(capturing(model))
    AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with client_of(app) as client:
        assert [(await client.say("me", thread, "hello")).status for thread in "AB"] == [200, 200]


async def test_p9_a_leak_fails_the_start(model: RecordingModel) -> None:
    with pytest.raises(RegistrationError) as refused:
        async with client_of(endpoint(capturing(model), "sample-alice", "sample-bob")):
            raise AssertionError("it started")

    assert refused.value.code is ReasonCode.FACTORY_REUSES_STATE
    assert 'workflow.executors["support"]' in str(refused.value)


async def test_p9_a_good_factory_starts(model: RecordingModel) -> None:
    app = endpoint(lambda _: make_workflow(model), "sample-alice", "sample-bob")
    async with client_of(app) as client:
        assert model.calls == []
        assert (await client.say("alice", "A", "hello")).text == "reply 1"


def test_p9_per_run_has_nothing_to_verify(model: RecordingModel) -> None:
    stage = AGUIEndpointBuilder("support").isolation(per_run(make_agent(model), scope=current_user))
    with pytest.raises(RegistrationError) as refused:
        stage.verify_at_startup(sample_scopes=["alice"])

    assert refused.value.code is ReasonCode.OPTION_UNAVAILABLE
    assert refused.value.registration == "support"
