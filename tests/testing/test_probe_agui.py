"""The verdicts on agent-framework, through the real endpoints."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentExecutor,
    ChatContext,
    ChatMiddleware,
    InMemoryCheckpointStorage,
    Message,
    Workflow,
    WorkflowBuilder,
)
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    InMemoryAGUIThreadSnapshotStore,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import FastAPI, HTTPException
from typing_extensions import override

from scoped_registration import ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.testing import (
    AGUIRoute,
    AGUIRouteWithSnapshots,
    IsolationReport,
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
from scoped_registration.testing.requests import Request, Say
from tests.integrations.agent_framework.kit import RecordingModel
from tests.testing.apps import USERS, current_user

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


def make_agent(client: Any) -> Agent[Any]:
    return Agent(client=client, name="support", instructions="You answer.")


def make_workflow(client: Any) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(make_agent(client), id="support")).build()


def capturing_factory(client: Any) -> AgentFrameworkWorkflow:
    executor = AgentExecutor(make_agent(client), id="support")
    return AgentFrameworkWorkflow(
        workflow_factory=lambda thread_id: WorkflowBuilder(start_executor=executor).build()
    )


def caching_factory(client: Any) -> AgentFrameworkWorkflow:
    by_thread: dict[str, Workflow] = {}

    def build(thread_id: str) -> Workflow:
        return by_thread.setdefault(thread_id, make_workflow(client))

    return AgentFrameworkWorkflow(workflow_factory=build)


def upstream(target: Any, **options: Any) -> FastAPI:
    app = FastAPI()
    add_agent_framework_fastapi_endpoint(
        app, target, "/", authorization_scope_resolver=current_user, **options
    )
    return app


def ours(client: Any, **stores: Any) -> FastAPI:
    app = FastAPI()
    stage = AGUIEndpointBuilder("support").isolation(
        ScopedFactory(lambda context: make_workflow(client), scope=current_user)
    )
    if stores:
        stage = stage.snapshots(stores["snapshots"]).checkpoints(stores["checkpoints"])
    stage.mount(app)
    return app


async def probe(
    app: FastAPI, recorder: Recorder | None, route: AGUIRoute | None = None, **options: Any
) -> IsolationReport:
    # Workflows that share an executor wait for each other; nothing else here does.
    return await probe_isolation(
        app, route or AGUIRoute(), USERS, recorder=recorder, overlap_timeout=0.2, **options
    )


def crossings(report: IsolationReport, place: Place) -> set[tuple[str, str]]:
    return {(str(it.seer), str(it.owner)) for it in report.sightings if it.place is place}


LEAKING: dict[str, Callable[[Any], Any]] = {
    "workflow": make_workflow,
    "workflow as agent": lambda client: make_workflow(client).as_agent(),
    "factory that captures an executor": capturing_factory,
}


@pytest.mark.parametrize("target", LEAKING)
async def test_upstream_with_one_target_for_all_leaks(target: str, recorder: Recorder) -> None:
    app = upstream(LEAKING[target](RecordingChatClient(recorder)))
    report = await probe(app, recorder)
    assert report.verdict is Verdict.LEAK
    assert ("p2/t1", "p1/t1") in crossings(report, Place.MODEL_INPUT)
    one_after_another = await probe(
        upstream(LEAKING[target](RecordingChatClient(recorder))), recorder, overlap=False
    )
    assert one_after_another.verdict is Verdict.LEAK
    assert one_after_another.failures == (), "the leak is silent"


async def test_upstream_with_a_cache_by_thread_leaks_to_who_knows_the_id(
    recorder: Recorder,
) -> None:
    report = await probe(upstream(caching_factory(RecordingChatClient(recorder))), recorder)
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.MODEL_INPUT)
    assert ("p2/t1", "p1/t1") not in crossings(report, Place.MODEL_INPUT)


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


async def test_our_builder_isolates(recorder: Recorder) -> None:
    report = await probe(ours(RecordingChatClient(recorder)), recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.overlap is not None
    assert report.overlap.together == 4
    assert report.foreign is not None
    assert report.foreign.served == 2


async def test_our_builder_isolates_its_stores(recorder: Recorder) -> None:
    app = ours(
        RecordingChatClient(recorder),
        snapshots=RecordedSnapshots(InMemoryAGUIThreadSnapshotStore(), recorder),
        checkpoints=RecordedCheckpoints(InMemoryCheckpointStorage(), recorder),
    )
    report = await probe(app, recorder, AGUIRouteWithSnapshots())
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert dict(report.observed).keys() == {
        Place.MODEL_INPUT,
        Place.OUTPUT,
        Place.SNAPSHOT,
        Place.CHECKPOINT,
    }
    assert dict(report.held)[Control.OWN_SNAPSHOT] == 4


async def test_threads_that_cannot_be_read_are_inconclusive(recorder: Recorder) -> None:
    report = await probe(
        ours(RecordingChatClient(recorder)), recorder, AGUIRouteWithSnapshots(), overlap=False
    )
    assert report.verdict is Verdict.INCONCLUSIVE
    assert Control.OWN_SNAPSHOT in {failure.control for failure in report.failures}


async def test_an_agent_that_runs_anew_each_time_promises_no_continuity(
    recorder: Recorder,
) -> None:
    app = FastAPI()
    agent = make_agent(RecordingChatClient(recorder))
    AGUIEndpointBuilder("support").isolation(per_run(agent, scope=current_user)).mount(app)
    report = await probe(app, recorder, continuity=False)
    assert report.verdict is Verdict.ISOLATED, str(report)
    promised = await probe(app, recorder)
    assert {failure.control for failure in promised.failures} == {Control.CONTINUITY}


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


class Reusing(AGUIRoute):
    """A careless client: each message of a thread has the same id."""

    @override
    def request(self, say: Say) -> Request:
        same = uuid.uuid5(uuid.NAMESPACE_URL, say.thread).hex
        message: Any = {"id": same, "role": "user", "content": say.text}
        return self._run(say, [message])


@pytest.mark.parametrize("promised", [True, False])
async def test_reused_message_ids_are_inconclusive(recorder: Recorder, promised: bool) -> None:
    report = await probe(
        ours(RecordingChatClient(recorder)), recorder, Reusing(), continuity=promised
    )
    assert report.verdict is Verdict.INCONCLUSIVE
    assert Control.MESSAGE_IDS in {failure.control for failure in report.failures}


async def test_a_model_that_fails_is_inconclusive(recorder: Recorder) -> None:
    class Failing(RecordingChatClient):
        @override
        def _inner_get_response(self, **kwargs: Any) -> Any:
            raise ConnectionError("the provider is down")

    report = await probe(ours(Failing(recorder)), recorder)
    assert report.verdict is Verdict.INCONCLUSIVE
    why = {it.why for it in report.failures if it.control is Control.ANSWERED}
    assert len(why) == 1
    assert next(iter(why)).startswith("RUN_ERROR")


async def test_an_agent_without_a_recorder_in_its_client_is_inconclusive(
    recorder: Recorder,
) -> None:
    report = await probe(ours(RecordingModel()), recorder)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert Control.OWN_TEXT in {failure.control for failure in report.failures}


async def test_nobody_is_let_in(recorder: Recorder) -> None:
    def nobody() -> str:
        raise HTTPException(401)

    app = FastAPI()
    client = RecordingChatClient(recorder)
    AGUIEndpointBuilder("support").isolation(
        ScopedFactory(lambda context: make_workflow(client), scope=nobody)
    ).mount(app)
    report = await probe(app, recorder)
    assert report.verdict is Verdict.INCONCLUSIVE
    why = {it.why for it in report.failures if it.control is Control.ANSWERED}
    assert why == {"status 401"}
