"""What the recorders of agent-framework record, through real endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentExecutor,
    AgentSession,
    ChatContext,
    ChatMiddleware,
    ContextProvider,
    InMemoryCheckpointStorage,
    Message,
    SessionContext,
    SupportsAgentRun,
    Workflow,
    WorkflowBuilder,
    WorkflowCheckpoint,
)
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    InMemoryAGUIThreadSnapshotStore,
)
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.testing import (
    AGUIRouteWithSnapshots,
    Recorder,
    Verdict,
    probe_isolation,
)
from scoped_registration.testing.agent_framework import (
    RecordedCheckpoints,
    RecordedSnapshots,
    RecordingChatClient,
    RecordingChatMiddleware,
)
from scoped_registration.testing.findings import Control, Place
from tests.testing.apps import CHAT, USERS, User, current_user
from tests.testing.endpoints import ours, probe, upstream
from tests.testing.reading import crossings, places
from tests.testing.targets import make_agent, make_workflow

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


async def test_a_providers_conversation_leaks_with_the_session(recorder: Recorder) -> None:
    client = RecordingChatClient(recorder, conversations=True)
    report = await probe(upstream(make_workflow(client)), recorder, overlap=False)
    assert ("p2/t1", "p1/t1") in crossings(report, Place.PROVIDER_CONVERSATION)
    isolated = await probe(ours(client), recorder)
    assert isolated.verdict is Verdict.ISOLATED, str(isolated)
    assert Place.PROVIDER_CONVERSATION in dict(isolated.observed)


async def test_checkpoints_of_a_shared_workflow_leak(recorder: Recorder) -> None:
    storage = RecordedCheckpoints(InMemoryCheckpointStorage(), recorder)
    app = upstream(
        make_workflow(RecordingChatClient(recorder)),
        checkpoint_storage=storage,
        snapshot_store=RecordedSnapshots(InMemoryAGUIThreadSnapshotStore(), recorder),
    )
    report = await probe(app, recorder, overlap=False)
    assert ("p2/t1", "p1/t1") in crossings(report, Place.CHECKPOINT)
    assert crossings(report, Place.SNAPSHOT) == set(), "transcripts are kept by principal"
    assert Place.SNAPSHOT in dict(report.observed), "control"


class OneScope(InMemoryAGUIThreadSnapshotStore):
    """A store that ignores whose snapshot it is."""

    @override
    async def save(self, *, scope: str, thread_id: str, snapshot: Any) -> None:
        await super().save(scope="all", thread_id=thread_id, snapshot=snapshot)

    @override
    async def get(self, *, scope: str, thread_id: str) -> Any:
        return await super().get(scope="all", thread_id=thread_id)


async def test_a_store_that_ignores_the_scope_leaks_snapshots(recorder: Recorder) -> None:
    store = RecordedSnapshots(OneScope(), recorder)
    app = upstream(make_agent(RecordingChatClient(recorder)), snapshot_store=store)
    report = await probe(app, recorder, AGUIRouteWithSnapshots())
    assert report.verdict is Verdict.LEAK
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.SNAPSHOT)
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.OUTPUT)


@pytest.mark.parametrize("leaks", [True, False])
async def test_middleware_records_what_another_client_is_sent(
    recorder: Recorder, leaks: bool
) -> None:
    agent: Agent[Any] = Agent(
        client=RecordingChatClient(Recorder()),  # its recorder is not the probe's
        name="support",
        instructions="You answer.",
        middleware=[RecordingChatMiddleware(recorder)],
    )

    def build() -> Workflow:
        return WorkflowBuilder(start_executor=AgentExecutor(agent, id="support")).build()

    app = FastAPI()
    if leaks:
        app = upstream(build())
    else:
        AGUIEndpointBuilder("support").isolation(
            ScopedFactory(lambda context: build(), scope=current_user)
        ).mount(app)
    report = await probe(app, recorder, overlap=not leaks)
    assert report.verdict is (Verdict.LEAK if leaks else Verdict.ISOLATED), str(report)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("leaks", [True, False])
async def test_middleware_records_whose_conversation_a_provider_continues(
    recorder: Recorder, leaks: bool, stream: bool
) -> None:
    client = RecordingChatClient(Recorder(), conversations=True)
    agent: Agent[Any] = Agent(client=client, middleware=[RecordingChatMiddleware(recorder)])
    sessions: dict[object, AgentSession] = {}
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        before = sessions.get("all" if leaks else (user, thread))
        # A session of its own, which continues what another one began.
        session = AgentSession(service_session_id=before.service_session_id if before else None)
        if stream:
            async for _ in agent.run(text, session=session, stream=True):
                pass
        else:
            await agent.run(text, session=session)
        sessions["all" if leaks else (user, thread)] = session

    report = await probe_isolation(app, CHAT, USERS, recorder=recorder)
    if leaks:
        assert places(report) == {Place.PROVIDER_CONVERSATION}
        assert ("p2/t1", "p1/t1") in crossings(report, Place.PROVIDER_CONVERSATION)
    else:
        assert report.verdict is Verdict.ISOLATED, str(report)
        assert Place.PROVIDER_CONVERSATION in dict(report.observed)


async def test_a_checkpoint_that_cannot_be_pickled_is_saved_and_read(recorder: Recorder) -> None:
    app = FastAPI()
    storage = RecordedCheckpoints(InMemoryCheckpointStorage(), recorder)
    everything: list[str] = []

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> str:
        await recorder.model_called(text)
        everything.append(text)
        checkpoint = WorkflowCheckpoint(workflow_name="any", graph_signature_hash="")
        checkpoint.state = {"said": everything, "later": lambda: None}
        return await storage.save(checkpoint)

    report = await probe_isolation(app, CHAT, USERS, recorder=recorder, continuity=False)
    assert places(report) == {Place.CHECKPOINT}
    assert dict(report.held)[Control.ANSWERED] == 20


@pytest.mark.parametrize("option", ["instructions", "user"])
async def test_an_option_that_holds_anothers_text(recorder: Recorder, option: str) -> None:
    agent = make_agent(RecordingChatClient(recorder))
    app = FastAPI()
    before = ""

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        nonlocal before
        options: Any = {option: f"they spoke of {before}"}
        await agent.run(text, options=options)
        before = text

    report = await probe_isolation(app, CHAT, USERS, recorder=recorder, continuity=False)
    assert places(report) == {Place.MODEL_INPUT}
    assert ("p2/t1", "p1/t1") in crossings(report, Place.MODEL_INPUT)


class Recalls(ContextProvider):
    """Recalls what sessions agreed on, in words that are nobody's, and says which ones did."""

    def __init__(self, *, only_own: bool) -> None:
        super().__init__("recalls")
        self._only_own = only_own
        self._known: list[str] = []

    @override
    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        origins = [session.session_id] if self._only_own else self._known
        agreed = Message("system", ["They prefer short answers."])
        context.extend_messages(self, [agreed], origin_session_ids=origins)
        self._known.append(session.session_id)


@pytest.mark.parametrize("only_own", [True, False])
async def test_a_memory_that_names_the_sessions_which_it_is_from(
    recorder: Recorder, only_own: bool
) -> None:
    agent = make_agent(RecordingChatClient(recorder), [Recalls(only_own=only_own)])
    report = await probe(upstream(agent), recorder, continuity=False)
    if only_own:
        assert report.verdict is Verdict.ISOLATED, str(report)
        assert Control.ORIGINS in dict(report.held)
    else:
        assert places(report) == {Place.ORIGIN}
        assert ("p2/t1", "p1/t1") in crossings(report, Place.ORIGIN)


class Remembering(ChatMiddleware):
    """Middleware that remembers on itself, for whoever comes."""

    def __init__(self) -> None:
        self.said: list[Message] = []

    @override
    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        self.said.append(context.messages[-1])
        context.messages = [*self.said, *context.messages]
        await call_next()


async def test_middleware_that_remembers_on_itself_leaks_from_new_workflows(
    recorder: Recorder,
) -> None:
    memory = Remembering()

    def build(thread_id: str) -> Workflow:
        client = RecordingChatClient(recorder)
        agent = Agent(client=client, name="support", middleware=[memory])
        return WorkflowBuilder(start_executor=AgentExecutor(agent, id="support")).build()

    app = upstream(AgentFrameworkWorkflow(workflow_factory=build))
    report = await probe(app, recorder, overlap=False)
    assert ("p2/t1", "p1/t1") in crossings(report, Place.MODEL_INPUT)
