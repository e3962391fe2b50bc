"""The verdicts on agent-framework, through the real endpoints."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import (
    InMemoryCheckpointStorage,
    Workflow,
)
from agent_framework_ag_ui import (
    AgentFrameworkWorkflow,
    InMemoryAGUIThreadSnapshotStore,
)
from fastapi import FastAPI, HTTPException
from typing_extensions import override

from scoped_registration import ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.testing import (
    AGUIRoute,
    AGUIRouteWithSnapshots,
    Recorder,
    Verdict,
)
from scoped_registration.testing.agent_framework import (
    RecordedCheckpoints,
    RecordedSnapshots,
    RecordingChatClient,
)
from scoped_registration.testing.findings import Control, Place
from scoped_registration.testing.requests import Request, Say
from tests.integrations.agent_framework.kit import RecordingModel
from tests.testing.apps import current_user
from tests.testing.endpoints import ours, probe, upstream
from tests.testing.reading import crossings
from tests.testing.targets import capturing_executor, make_agent, make_workflow

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


def caching_factory(client: Any) -> AgentFrameworkWorkflow:
    by_thread: dict[str, Workflow] = {}

    def build(thread_id: str) -> Workflow:
        return by_thread.setdefault(thread_id, make_workflow(client))

    return AgentFrameworkWorkflow(workflow_factory=build)


LEAKING: dict[str, Callable[[Any], Any]] = {
    "workflow": make_workflow,
    "workflow as agent": lambda client: make_workflow(client).as_agent(),
    "factory that captures an executor": capturing_executor,
}


@pytest.mark.parametrize("target", LEAKING)
async def test_upstream_with_one_target_for_all_leaks(target: str, recorder: Recorder) -> None:
    app = upstream(LEAKING[target](RecordingChatClient(recorder)))
    # Workflows that share an executor wait for each other; nothing else here does.
    report = await probe(app, recorder, overlap_timeout=0.2)
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
        Place.SESSION,
        Place.SESSION_ID,
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


class Reusing(AGUIRoute):
    """A careless client: each message of a thread has the same id."""

    @override
    def request(self, say: Say) -> Request:
        same = uuid.uuid5(uuid.NAMESPACE_URL, say.thread).hex
        message: Any = {"id": same, "role": "user", "content": say.text}
        return self.run(say, [message])


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
