"""Leaks of agent-framework's own endpoint, by what its callers have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import Workflow
from agent_framework_ag_ui import AgentFrameworkWorkflow
from fastapi import FastAPI

from scoped_registration import ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.testing import (
    AGUIPending,
    Recorder,
    Verdict,
)
from scoped_registration.testing.agent_framework import RecordingChatClient
from scoped_registration.testing.findings import Control, Meanwhile, Phase, Place, Questions
from tests.testing import targets
from tests.testing.apps import current_user
from tests.testing.endpoints import ours, probe, upstream
from tests.testing.reading import crossings, places

pytestmark = pytest.mark.filterwarnings("ignore")

TEXT_LEAKS: list[Callable[[Any], Any]] = [
    targets.make_workflow,
    targets.capturing_executor,
    targets.capturing_builder,
    targets.capturing_session,
    targets.capturing_inner_workflow,
    targets.functional,
    targets.OwnRun,
    targets.remembering_provider,
]


@pytest.mark.parametrize("make", TEXT_LEAKS, ids=lambda make: make.__name__)
async def test_a_target_whose_callers_share_a_conversation(
    recorder: Recorder, make: Callable[[Any], Any]
) -> None:
    client = RecordingChatClient(recorder)
    report = await probe(upstream(make(client)), recorder, overlap=False, continuity=False)
    assert report.verdict is Verdict.LEAK, str(report)
    assert ("p2/t1", "p1/t1") in crossings(report, Place.MODEL_INPUT)
    by_session = make is not targets.remembering_provider
    assert (Place.SESSION in places(report)) is by_session
    assert Place.SESSION_ID not in places(report), "of one session that is no news"


async def test_a_session_id_that_is_the_threads(recorder: Recorder) -> None:
    target = targets.session_by_thread(RecordingChatClient(recorder))
    report = await probe(upstream(target), recorder)
    assert report.verdict is Verdict.LEAK
    assert places(report) == {Place.SESSION_ID}, "each has an object of their own"
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.SESSION_ID)
    unasked = await probe(upstream(target), recorder, foreign=False)
    assert unasked.verdict is Verdict.ISOLATED, "control: nobody else knows the id"


async def test_a_history_that_is_kept_by_the_threads_id(recorder: Recorder) -> None:
    target = targets.history_by_thread(RecordingChatClient(recorder))
    report = await probe(upstream(target), recorder)
    assert places(report) >= {Place.SESSION_ID, Place.MODEL_INPUT}
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.MODEL_INPUT)


async def test_a_providers_conversation_that_is_the_threads(recorder: Recorder) -> None:
    target = targets.conversation_by_thread(RecordingChatClient(recorder))
    report = await probe(upstream(target), recorder)
    assert places(report) == {Place.PROVIDER_CONVERSATION}
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.PROVIDER_CONVERSATION)
    unasked = await probe(upstream(target), recorder, foreign=False)
    assert unasked.verdict is Verdict.ISOLATED, "control: nobody else knows the id"


async def test_a_workflow_that_remembers_nothing_serves_one_at_a_time(recorder: Recorder) -> None:
    asking: Any = {"continuity": False, "pending": AGUIPending("refund {text}", answers="yes")}
    report = await probe(upstream(targets.asking_workflow(recorder)), recorder, **asking)
    assert report.verdict is Verdict.LEAK
    assert report.sightings == ()
    blocked = {(str(it.seat), str(it.by), it.phase, it.why) for it in report.blocked}
    running = "RUN_ERROR WorkflowException"
    waiting = "RUN_ERROR WORKFLOW_RESUME_NOT_FOUND"
    assert blocked >= {
        ("p2/t1", "p1/t1", Phase.MEANWHILE, running),
        ("p2/t1", "p1/q2", Phase.QUESTION, waiting),
        ("p1/t2", "p1/q2", Phase.QUESTION, waiting),
    }
    assert dict(report.held)[Control.QUESTION] == 2, "the questions were really open"
    assert report.questions == Questions(asked=2, open=2, served=0)

    def build(thread_id: str) -> Workflow:
        return targets.asking_workflow(recorder)

    factory = AgentFrameworkWorkflow(workflow_factory=build)
    report = await probe(upstream(factory), recorder, **asking)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.questions == Questions(asked=2, open=2, served=0)
    assert report.meanwhile == Meanwhile(asked=2, held=2, waited=0)


async def test_questions_of_our_builder_are_isolated(recorder: Recorder) -> None:
    app = FastAPI()
    AGUIEndpointBuilder("support").isolation(
        ScopedFactory(lambda context: targets.asking_workflow(recorder), scope=current_user)
    ).mount(app)
    refund = AGUIPending("refund {text}", answers="yes")
    report = await probe(app, recorder, continuity=False, pending=refund)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.questions == Questions(asked=2, open=2, served=0)


async def test_a_conversation_that_is_told_twice_is_no_leak(recorder: Recorder) -> None:
    client = RecordingChatClient(recorder)
    report = await probe(upstream(targets.telling_twice(client)), recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)
    repeated = {(str(it.seat), it.phase) for it in report.repetitions}
    assert ("p1/t1", Phase.SECOND) in repeated
    assert ("p1/t1", Phase.FIRST) not in repeated
    assert "own texts stood twice in one call of the model: p" in str(report)
    once = await probe(ours(client), recorder)
    assert once.verdict is Verdict.ISOLATED, str(once)
    assert once.repetitions == (), "control"
