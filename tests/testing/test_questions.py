"""Questions to a person: others go on while one is open, and cannot answer it."""

from __future__ import annotations

from typing import Any

import pytest

from scoped_registration.testing import AGUIPending, IsolationReport, Recorder, Verdict
from scoped_registration.testing import probe_isolation as probe
from scoped_registration.testing.findings import Control, Phase, Place, Questions
from scoped_registration.testing.requests import Response, Say
from tests.testing.apps import CHAT, USERS, by_both, by_thread, by_user
from tests.testing.asking import Refunds, asking_app
from tests.testing.reading import crossings, failed, places


async def ask(recorder: Recorder, options: dict[str, Any], **wrong: Any) -> IsolationReport:
    given: dict[str, Any] = {"continuity": False, "overlap": False, **options}
    app = asking_app(recorder, **wrong)
    return await probe(app, CHAT, USERS, recorder=recorder, pending=Refunds(), **given)


@pytest.mark.parametrize("threads", [1, 2])
async def test_questions_by_user_and_thread_are_isolated(recorder: Recorder, threads: int) -> None:
    report = await ask(recorder, {"threads": threads})
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.questions == Questions(asked=2, open=2, served=0)
    assert dict(report.held)[Control.QUESTION] == 2
    assert "questions to a person: 2 of 2 open; 0 answers of another served" in str(report)


async def test_a_question_that_another_one_answers(recorder: Recorder) -> None:
    report = await ask(recorder, {}, key=by_thread)
    assert report.verdict is Verdict.LEAK
    assert ("p2 on p1/q2", "p1/q2") in crossings(report, Place.QUESTION)
    assert "p2 on p1/q2 used up what was asked of p1/q2: open question" in str(report)
    assert ("p2 on p1/q2", "p1/q2") in crossings(report, Place.OUTPUT), "and sees what was asked"
    assert report.questions == Questions(asked=2, open=2, served=2)


async def test_a_question_that_is_lost_when_another_one_speaks(recorder: Recorder) -> None:
    report = await ask(recorder, {}, one_slot=True)
    assert report.verdict is Verdict.LEAK
    assert places(report) == {Place.QUESTION}
    assert report.questions == Questions(asked=2, open=2, served=0)


async def test_questions_of_one_user_may_be_one_where_threads_share(recorder: Recorder) -> None:
    report = await ask(recorder, {"threads_share": True}, key=by_user)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_a_question_on_one_thread_that_stops_a_users_others(recorder: Recorder) -> None:
    report = await ask(recorder, {}, key=by_user, refuses=True)
    assert report.verdict is Verdict.LEAK
    assert {(str(it.seat), str(it.by)) for it in report.blocked} == {
        (f"{user}/{thread}", f"{user}/q2") for user in ("p1", "p2") for thread in ("t1", "t2")
    }
    declared = await ask(recorder, {"threads_share": True}, key=by_user, refuses=True)
    assert declared.verdict is Verdict.ISOLATED, str(declared)


async def test_others_who_wait_for_the_answer_are_refused(recorder: Recorder) -> None:
    report = await ask(recorder, {"request_timeout": 2.0}, waits=True)
    assert report.verdict is Verdict.LEAK
    (blocked,) = report.blocked
    assert (str(blocked.by), blocked.phase) == ("p1/q2", Phase.QUESTION)
    assert blocked.why == "it did not end within 2 s"
    assert "was refused while a question to p1/q2 was open: it did not end" in str(report)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"asks": False}, "none is open after the request"),
        ({"accepts": False}, "its owner cannot answer it: status 404"),
    ],
    ids=["it asks nobody", "it accepts no answer"],
)
async def test_without_an_open_question_it_is_inconclusive(
    recorder: Recorder, wrong: Any, why: str
) -> None:
    report = await ask(recorder, {}, **wrong)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert failed(report) == {Control.QUESTION}
    assert {failure.why for failure in report.failures} == {why}
    assert report.questions == Questions(asked=2, open=0, served=0)


async def test_without_pending_nobody_is_asked(recorder: Recorder) -> None:
    app = asking_app(recorder, key=by_both)
    report = await probe(app, CHAT, USERS, recorder=recorder, continuity=False)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.questions is None
    assert Control.QUESTION not in dict(report.held)


def test_what_is_said_must_hold_the_text() -> None:
    with pytest.raises(ValueError, match="could tell whose"):
        AGUIPending("refund", answers=True)


INTERRUPT = (
    '{"type": "RUN_FINISHED", "outcome": {"type": "interrupt", "interrupts": [{"id": "1"}]}}'
)


@pytest.mark.parametrize(
    ("body", "is_open"),
    [
        (f"data: {INTERRUPT}\n\n", True),
        (f'data: {INTERRUPT}\n\ndata: {{"type": "RUN_FINISHED"}}\n\n', False),
        ('data: {"type": "RUN_FINISHED", "outcome": {"type": "success"}}\n\n', False),
        ("", False),
        ("<html>", False),
        ("data: {", False),
    ],
)
def test_an_agui_question_is_an_interrupt_at_the_end(body: str, is_open: bool) -> None:
    pending = AGUIPending("refund {text}", answers={"approved": True}, path="/support")
    response = Response(200, body)
    assert pending.is_open(response) is is_open
    say = Say("canary1", "thread-1", "message-1", "p1")
    request: Any = pending.open(say)
    assert (request.path, request.json["messages"][0]["content"]) == ("/support", "refund canary1")
    if is_open:
        answer: Any = pending.answer(say, response)
        assert answer.json["resume"] == [
            {"interruptId": "1", "status": "resolved", "payload": {"approved": True}}
        ]
        assert answer.json["messages"] == []
