"""Each stream ends once, tells no exception's text, and speaks of its own calls alone (P5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from ag_ui.core import BaseEvent, CustomEvent, RunFinishedEvent, RunStartedEvent
from agent_framework import FunctionTool
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    AGUIThreadSnapshot,
    InMemoryAGUIThreadSnapshotStore,
)
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import per_run
from tests.integrations.agent_framework.kit import (
    Answer,
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    make_agent,
    make_workflow,
    served,
    until,
)
from tests.integrations.agent_framework.samples import functional_workflow
from tests.integrations.agent_framework.streams import end_of, problems_of

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")

SECRET = "password of alice"


def fail() -> str:
    """Fail."""
    raise LookupError(SECRET)


def look() -> str:
    """Look."""
    return "seen"


def tools() -> list[FunctionTool]:
    return [
        FunctionTool(name=function.__name__, description="A tool.", func=function)
        for function in (fail, look)
    ]


MODES: dict[str, Callable[[RecordingModel], Any]] = {
    "workflow": lambda model: ScopedFactory(
        lambda context: make_workflow(model, tools=tools()), scope=current_user
    ),
    "workflow agent": lambda model: ScopedFactory(
        lambda context: make_workflow(model, tools=tools()).as_agent(), scope=current_user
    ),
    "agent": lambda model: ScopedFactory(
        lambda context: make_agent(model, tools=tools()), scope=current_user
    ),
    "per_run": lambda model: per_run(make_agent(model, tools=tools()), scope=current_user),
    "per thread": lambda model: SingleUser.per_thread(
        lambda context: make_workflow(model, tools=tools())
    ),
    "single user": lambda model: SingleUser(make_workflow(model, tools=tools())),
    "shared": lambda model: PersistentShared(
        make_workflow(model, tools=tools()), acknowledgement=acknowledge(), access=current_user
    ),
    "functional workflow": lambda model: SingleUser(functional_workflow(model)),
}


def endpoint(mode: Any, *, detached: bool, store: Any = None) -> FastAPI:
    app = FastAPI()
    stage = declare(mode)
    if detached:
        stage = stage.detached()
    if store is not None:
        stage = stage.snapshots(store)
    stage.mount(app)
    return app


@pytest.mark.parametrize("detached", [False, True], ids=["bound", "detached"])
@pytest.mark.parametrize("mode", MODES)
async def test_p5_every_stream_ends_once(mode: str, detached: bool, model: RecordingModel) -> None:
    store = InMemoryAGUIThreadSnapshotStore()
    async with client_of(endpoint(MODES[mode](model), detached=detached, store=store)) as client:
        for thread, text, end in [
            ("A", "hello", "RUN_FINISHED"),
            ("A", "call:look", "RUN_FINISHED"),
            ("A", "call:look", "RUN_FINISHED"),  # no result of the run before it
            ("A", "call:fail", "RUN_FINISHED"),  # the model is told
            ("B", "explode", "RUN_ERROR"),
            ("A", "and now", "RUN_FINISHED"),
        ]:
            if mode == "functional workflow" and text == "explode":
                continue  # its agent does not stream, and the model explodes in a stream
            answer = await client.say("alice", thread, text)
            assert end_of(answer) == end, answer.body
            assert problems_of(answer) == [], answer.body
            assert SECRET not in answer.body
            assert "the provider is down" not in answer.body
        hydrated = await client.send("alice", {"thread_id": "A", "messages": []})
        assert problems_of(hydrated) == []


@pytest.mark.parametrize("mode", ["workflow", "agent", "per_run"])
async def test_p5_a_neighbour_that_leaves_ends_no_other_stream(
    mode: str, model: RecordingModel
) -> None:
    app = FastAPI()
    registration = declare(MODES[mode](model)).mount(app)
    async with served(app) as server:
        model.block(on="hold", after_speaking=True)

        async def streaming(received: bytes) -> bool:
            return b"one moment" in received

        other = asyncio.create_task(server.client.say("bob", "A", "hold"))
        await until(lambda: len(model.calls) == 1)
        await server.hang_up("alice", "A", "hold", after=streaming)
        await until(lambda: registration.statistics().leased == 1)
        model.gate.set()
        answer = await other
        assert answer.types[-1] == "RUN_FINISHED"
        assert problems_of(answer) == []


class Unwritable(InMemoryAGUIThreadSnapshotStore):
    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: AGUIThreadSnapshot) -> None:
        raise OSError(SECRET)


class Unreadable(InMemoryAGUIThreadSnapshotStore):
    @override
    async def get(self, *, scope: str, thread_id: str) -> AGUIThreadSnapshot | None:
        raise OSError(SECRET)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("store", "end"), [(Unwritable, "RUN_FINISHED"), (Unreadable, "RUN_ERROR")]
)
async def test_p5_a_store_that_fails(
    store: type[InMemoryAGUIThreadSnapshotStore],
    end: str,
    mode: str,
    model: RecordingModel,
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = endpoint(MODES[mode](model), detached=False, store=store())
    async with client_of(app) as client:
        answer = await client.say("alice", "A", "hello")
        assert answer.types[-1] == end
        assert problems_of(answer) == []
        assert SECRET not in answer.body
    assert "OSError" in caplog.text, "control: it did fail"


class Events(AgentFrameworkWorkflow):
    """Sends what a test wants to see sent."""

    def __init__(self, *events: Callable[[], BaseEvent]) -> None:
        super().__init__()
        self._made = events

    @override
    async def run(self, input_data: dict[str, Any]) -> AsyncGenerator[BaseEvent, None]:
        yield RunStartedEvent(run_id="run", thread_id=input_data["thread_id"])
        for make in self._made:
            yield make()
        yield RunFinishedEvent(run_id="run", thread_id=input_data["thread_id"])


class Opaque:
    def __repr__(self) -> str:
        return SECRET


def unencodable() -> BaseEvent:
    return CustomEvent(name="opaque", value=Opaque())


def exploding() -> BaseEvent:
    raise LookupError(SECRET)


@pytest.mark.parametrize("detached", [False, True], ids=["bound", "detached"])
@pytest.mark.parametrize("what", [unencodable, exploding])
async def test_p5_an_event_that_cannot_be_sent(
    what: Callable[[], BaseEvent], detached: bool
) -> None:
    app = FastAPI()
    stage = declare(ScopedFactory(lambda context: Events(what), scope=current_user))
    registration = (stage.detached() if detached else stage).mount(app)
    async with client_of(app) as client:
        for _ in range(2):
            answer = await client.say("alice", "A", "hello")
            assert answer.types == ["RUN_STARTED", "RUN_ERROR"]
            assert problems_of(answer) == []
            assert SECRET not in answer.body
        await until(lambda: registration.statistics().leased == 0)


# The check itself


def stream(*events: str) -> Answer:
    return Answer(200, "\n".join(f"data: {event}" for event in events))


START, END = '{"type":"RUN_STARTED"}', '{"type":"RUN_FINISHED"}'
CALL = '{"type":"TOOL_CALL_START","toolCallId":"1","toolCallName":"look"}'
RESULT = '{"type":"TOOL_CALL_RESULT","toolCallId":"1","messageId":"m"}'


@pytest.mark.parametrize(
    "events",
    [
        (START,),
        (START, END, END),
        (START, END, '{"type":"RUN_ERROR"}'),
        (START, END, '{"type":"CUSTOM","name":"status"}'),
        (START, '{"type":"RUN_ERROR"}', '{"type":"CUSTOM","name":"other"}'),
        (END,),
        (START, START, END),
        (START, RESULT, END),
        (START, RESULT, CALL, END),
        (START, CALL, CALL, END),
        (START, CALL.replace("look", ""), END),
        (START, '{"type":"TEXT_MESSAGE_END","messageId":"m"}', END),
    ],
)
def test_control_what_is_wrong_is_found(events: tuple[str, ...]) -> None:
    assert problems_of(stream(*events)) != []
    assert problems_of(stream(START, CALL, RESULT, END)) == []
    assert problems_of(stream(START, RESULT, END), answers=["1"]) == []
