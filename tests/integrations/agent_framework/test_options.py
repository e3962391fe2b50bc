"""What `.options(...)` sets has an effect, in each mode where it exists (promise P12)."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Annotated, Any

import pytest
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

from scoped_registration import (
    ReasonCode,
    RegistrationError,
    ScopedFactory,
    SingleUser,
)
from tests.integrations.agent_framework.kit import (
    HANG,
    Answer,
    RecordingModel,
    client_of,
    current_user,
    declare,
    make_agent,
    make_workflow,
    served,
)
from tests.integrations.agent_framework.offered import (
    AGENTS,
    MODES,
    RETURNED,
    SCHEMA,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


def endpoint(mode: Any, **options: Any) -> FastAPI:
    app = FastAPI()
    declare(mode).options(**options).mount(app)
    return app


def states(answer: Answer) -> list[Any]:
    return [event["snapshot"] for event in answer.events if event["type"] == "STATE_SNAPSHOT"]


def customs(answer: Answer, name: str) -> list[Any]:
    return [event["value"] for event in answer.events if event.get("name") == name]


# What every endpoint has


@pytest.mark.parametrize("mode", MODES)
def test_tags_stand_on_the_operation(mode: str, model: RecordingModel) -> None:
    for options, expected in (({"tags": ["desk", "beta"]}, ["desk", "beta"]), ({}, ["AG-UI"])):
        app = endpoint(MODES[mode](model), **options)
        assert app.openapi()["paths"]["/"]["post"]["tags"] == expected


@pytest.mark.parametrize("mode", MODES)
async def test_dependencies_run_first_and_do_not_say_who_calls(
    mode: str, model: RecordingModel
) -> None:
    def gate(x_key: Annotated[str, Header()] = "") -> str:
        if x_key != "open":
            raise HTTPException(403, "no")
        return "mallory"  # would be the scope, if it meant anything

    app = FastAPI()
    stage = declare(MODES[mode](model)).options(dependencies=[Depends(gate)])
    registration = stage.mount(app)
    async with client_of(app) as client:
        assert (await client.say("alice", "A", "hello")).status == 403
        assert (model.calls, registration.statistics().built) == ([], 0)
        client.http.headers["x-key"] = "open"
        assert (await client.say("alice", "A", "hello")).types[-1] == "RUN_FINISHED"
        if mode in ("scoped workflow", "scoped agent", "per_run"):
            assert registration.invalidate(scope="mallory") == 0
            assert registration.invalidate(scope="alice") == 1, "control"


@pytest.mark.parametrize("mode", MODES)
async def test_an_idle_stream_is_kept_open_as_often_as_declared(
    mode: str, model: RecordingModel
) -> None:
    app, silent_model = FastAPI(), RecordingModel()
    declare(MODES[mode](model)).options(keepalive=0.01).mount(app)
    silent = declare(MODES[mode](silent_model), "silent", "/silent").options(keepalive=None)
    silent.mount(app)
    model.block()
    silent_model.block()
    async with served(app) as server:
        other = asyncio.create_task(server.client.say("alice", "A", "hello", "/silent"))
        await asyncio.wait_for(silent_model.arrived.wait(), HANG)

        async def kept(received: bytes) -> bool:
            return received.count(b": keepalive") >= 3

        await server.hang_up("alice", "A", "hello", after=kept)
        silent_model.gate.set()
        answer = await other
        assert answer.types[-1] == "RUN_FINISHED"
        assert "keepalive" not in answer.body, "three were due in the same time"


@pytest.mark.parametrize("mode", MODES)
async def test_a_default_fills_what_neither_the_client_nor_the_store_has(
    mode: str, model: RecordingModel
) -> None:
    for options, first in (({"default_state": {"language": "en"}}, "en"), ({}, None)):
        app = FastAPI()
        stage = declare(MODES[mode](model)).options(**options)
        stage.snapshots(InMemoryAGUIThreadSnapshotStore()).mount(app)

        async with client_of(app) as client:
            hydrate: dict[str, Any] = {"thread_id": "A", "messages": []}

            await client.say("alice", "A", "hello")
            filled = states(await client.send("alice", hydrate))
            assert filled == ([{"language": first}] if first else []), options
            await client.say("alice", "A", "switch", state={"language": "fr"})
            await client.say("alice", "A", "and now")
            assert states(await client.send("alice", hydrate)) == [{"language": "fr"}]


@pytest.mark.parametrize("of", ["agent", "workflow"])
@pytest.mark.parametrize("through", ["the raw helper", "an instance", "a factory"])
async def test_a_default_does_not_reset_what_a_runners_own_store_has(
    through: str, of: str, model: RecordingModel
) -> None:
    """The raw helper is the control: the builder's endpoint is to do the same."""
    store, defaults = InMemoryAGUIThreadSnapshotStore(), {"language": "en"}

    def build(context: object = None) -> Any:
        if of == "agent":
            return AgentFrameworkAgent(make_agent(model), snapshot_store=store)
        return AgentFrameworkWorkflow(workflow=make_workflow(model), snapshot_store=store)

    app = FastAPI()
    if through == "the raw helper":
        add_agent_framework_fastapi_endpoint(
            app, build(), "/", default_state=defaults, single_user=True
        )
    else:
        mode: Any = SingleUser(build())
        if through == "a factory":
            mode = ScopedFactory(build, scope=current_user, shares=[store])
        declare(mode).options(default_state=defaults).mount(app)
    async with client_of(app) as client:
        await client.say("me", "A", "switch", state={"language": "fr"})
        await client.say("me", "A", "and now")
        hydrated = await client.send("me", {"thread_id": "A", "messages": []})
    assert states(hydrated) == [{"language": "fr"}]


# What agents have


class Shared(BaseModel):
    language: str = "en"


@pytest.mark.parametrize("mode", AGENTS)
@pytest.mark.parametrize("schema", [SCHEMA, Shared, Shared()], ids=["dict", "class", "model"])
async def test_a_state_schema_makes_the_state_shared(
    schema: Any, mode: str, model: RecordingModel
) -> None:
    for options, expected in (({"state_schema": schema}, [{"language": "fr"}]), ({}, [])):
        async with client_of(endpoint(AGENTS[mode](model), **options)) as client:
            answer = await client.say("alice", "A", "hello", state={"language": "fr"})
            assert answer.types[-1] == "RUN_FINISHED"
            assert states(answer) == expected


@pytest.mark.parametrize("mode", AGENTS)
async def test_a_prediction_is_told_to_the_client(mode: str, model: RecordingModel) -> None:
    prediction = {"language": {"tool": "choose", "tool_argument": "code"}}
    told = {"state_key": "language", "tool": "choose", "tool_argument": "code"}
    for options, expected in (({"predict_state_config": prediction}, [[told]]), ({}, [])):
        async with client_of(endpoint(AGENTS[mode](model), **options)) as client:
            answer = await client.say("alice", "A", "hello")
            assert answer.types[-1] == "RUN_FINISHED"
            assert customs(answer, "PredictState") == expected


@pytest.mark.parametrize("mode", ["single agent", "agent per thread", "scoped agent", "per_run"])
async def test_a2ui_gives_the_agent_the_tool(
    mode: str, model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    async with client_of(endpoint(AGENTS[mode](model))) as client:
        await client.say("alice", "A", "hello")
        assert not model.calls[-1].tools, "control"
    app = endpoint(AGENTS[mode](model), a2ui={"inject_a2ui_tool": True})
    async with client_of(app) as client:
        answer = await client.say("alice", "A", "hello")
    if importlib.util.find_spec("ag_ui_a2ui_toolkit") is None:
        assert answer.last["code"] == "RuntimeError"
        assert "A2UI was requested" in caplog.text
    else:
        assert "generate_a2ui" in model.calls[-1].tools


# What is not changed, and what counts


def attributes(target: object) -> dict[str, Any]:
    """Return them without what the framework itself caches on an agent that runs."""
    found: dict[str, Any] = vars(target) if hasattr(target, "__dict__") else {}
    return {name: value for name, value in found.items() if not name.startswith("_cached_")}


@pytest.mark.parametrize("kind", ["agent", "agent runner", "workflow runner", "workflow"])
async def test_what_was_given_is_not_changed(kind: str, model: RecordingModel) -> None:
    target: Any = (RETURNED | {"agent": make_agent})[kind](model)
    before, configured = attributes(target), attributes(getattr(target, "config", None))
    declared = {"state_schema": SCHEMA} if kind == "agent" else {}
    stage = declare(SingleUser(target)).options(default_state={"language": "en"}, **declared)
    app = FastAPI()
    store = InMemoryAGUIThreadSnapshotStore()
    stage.snapshots(store).mount(app)
    async with client_of(app) as client:
        await client.say("me", "A", "hello")
        hydrated = await client.send("me", {"thread_id": "A", "messages": []})
    assert states(hydrated) == [{"language": "en"}], "control: the options had an effect"
    assert attributes(target) == before
    assert attributes(getattr(target, "config", None)) == configured


@pytest.mark.parametrize(
    "mode",
    ["single workflow", "runner with a factory", "workflow per thread", "single agent"],
)
def test_a_security_scheme_among_the_dependencies_counts(mode: str, model: RecordingModel) -> None:
    scheme = Depends(APIKeyHeader(name="x-key"))
    app = FastAPI()
    routes = list(app.routes)
    with pytest.raises(RegistrationError) as refusal:
        declare(MODES[mode](model)).options(dependencies=[scheme]).mount(app)
    assert refusal.value.code is ReasonCode.SINGLE_USER_BEHIND_AUTHENTICATION
    assert app.routes == routes
    declare(MODES[mode](model)).options(dependencies=[Depends(current_user)]).mount(app)
    guarded = SingleUser(make_workflow(model), owner=current_user)
    declare(guarded, "guarded", "/guarded").options(dependencies=[scheme]).mount(app)
