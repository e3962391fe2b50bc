"""What `.options(...)` refuses, where it is declared or when a product is built."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
)
from fastapi import Depends, FastAPI

from scoped_registration import (
    ReasonCode,
    RegistrationError,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    client_of,
    current_user,
    declare,
    make_agent,
    make_workflow,
)
from tests.integrations.agent_framework.offered import (
    FOR_AGENTS,
    RETURNED,
    WORKFLOWS,
    shared,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


# What is refused


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("default_state", []),
        ("default_state", {1: "one"}),
        ("default_state", "{}"),
        ("keepalive", 0),
        ("keepalive", -1.0),
        ("keepalive", True),
        ("keepalive", "15"),
        ("keepalive", float("nan")),
        ("keepalive", float("inf")),
        ("tags", "desk"),
        ("tags", [1]),
        ("tags", []),
        ("dependencies", [current_user]),
        ("dependencies", Depends(current_user)),
        ("dependencies", None),
        ("state_schema", "language"),
        ("state_schema", ["language"]),
        ("state_schema", object),
        ("predict_state_config", []),
        ("predict_state_config", {1: {}}),
        ("a2ui", True),
        ("a2ui", {None: 1}),
    ],
)
def test_a_bad_value_is_refused_where_it_stands(
    option: str, value: Any, model: RecordingModel
) -> None:
    stage = declare(SingleUser(make_agent(model)))
    with pytest.raises(RegistrationError, match=option) as refusal:
        stage.options(**{option: value})
    assert refusal.value.code is ReasonCode.OPTION_INVALID
    assert refusal.value.declared_at is not None
    assert refusal.value.declared_at.startswith(str(Path(__file__)))


@pytest.mark.parametrize("option", ["state_schema", "predict_state_config", "a2ui"])
@pytest.mark.parametrize("mode", ["single workflow", "shared workflow"])
def test_a_workflow_has_no_options_of_an_agent(
    mode: str, option: str, model: RecordingModel
) -> None:
    stage = declare(WORKFLOWS[mode](model))
    with pytest.raises(RegistrationError, match=option) as refusal:
        stage.options(**{option: {}})
    assert refusal.value.code is ReasonCode.OPTION_UNAVAILABLE
    assert refusal.value.declared_at is not None
    assert refusal.value.declared_at.startswith(str(Path(__file__)))


@pytest.mark.parametrize("option", FOR_AGENTS)
@pytest.mark.parametrize("how", ["single user", "shared"])
def test_a_runner_has_a_configuration_of_its_own(
    how: str, option: str, model: RecordingModel
) -> None:
    inner = make_workflow(model).as_agent() if how == "shared" else make_agent(model)
    runner = AgentFrameworkAgent(inner)
    builder: Any = AGUIEndpointBuilder("support")
    stage = builder.isolation(shared(runner) if how == "shared" else SingleUser(runner))
    with pytest.raises(RegistrationError) as refusal:
        stage.options(**{option: FOR_AGENTS[option]})
    assert refusal.value.code is ReasonCode.OPTION_UNAVAILABLE
    assert refusal.value.declared_at is not None
    assert refusal.value.declared_at.startswith(str(Path(__file__)))
    stage.options(keepalive=1.0).mount(FastAPI())  # control: the others are the endpoint's


@pytest.mark.parametrize("option", FOR_AGENTS)
@pytest.mark.parametrize("returned", RETURNED)
@pytest.mark.parametrize("how", ["scoped", "per thread"])
async def test_a_factory_that_returned_no_plain_agent_is_refused_when_it_built(
    how: str,
    returned: str,
    option: str,
    model: RecordingModel,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def build(context: object) -> Any:
        return RETURNED[returned](model)

    mode: Any = SingleUser.per_thread(build)
    if how == "scoped":
        mode = ScopedFactory(build, scope=current_user)
    app = FastAPI()
    registration = declare(mode).options(**{option: FOR_AGENTS[option]}).mount(app)
    async with client_of(app) as client:
        with caplog.at_level(logging.ERROR, "scoped_registration"):
            answer = await client.say("alice", "A", "hello")
    assert (answer.status, answer.body) == (500, '{"detail":"Internal Server Error"}')
    assert "[option_unavailable]" in caplog.text
    assert (registration.statistics().live, model.calls) == (0, [])
