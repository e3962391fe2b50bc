"""Requests that overlap, and one that is held while another one comes."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from scoped_registration.testing import JSONRoute, Recorder, Verdict
from scoped_registration.testing import probe_isolation as probe
from scoped_registration.testing.findings import Meanwhile, Phase
from tests.testing.apps import (
    CHAT,
    USERS,
    User,
    by_both,
    chat_app,
    misfiling_app,
    one_at_a_time,
    racing_app,
    racing_body_app,
    racing_stream_app,
    serializing_app,
    uneven_app,
)
from tests.testing.reading import phases


async def test_a_leak_that_only_overlapping_requests_have(recorder: Recorder) -> None:
    report = await probe(racing_app(recorder), CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    assert phases(report) == {Phase.OVERLAP, Phase.MEANWHILE}
    quiet = await probe(racing_app(recorder), CHAT, USERS, recorder=recorder, overlap=False)
    assert quiet.verdict is Verdict.ISOLATED, "control: one after another it is right"
    assert quiet.overlap is None


async def test_a_leak_between_the_parts_of_two_answers() -> None:
    report = await probe(racing_stream_app(), CHAT, USERS, continuity=False)
    assert report.verdict is Verdict.LEAK
    assert phases(report) == {Phase.OVERLAP}


async def test_a_leak_between_who_it_is_and_what_is_said() -> None:
    route = JSONRoute("/chat/{thread}", json={"said": "{text}"})
    alone: Any = {"threads": 1, "foreign": False}
    report = await probe(racing_body_app(), route, USERS, overlap=False, **alone)
    assert report.verdict is Verdict.ISOLATED, "control: one after another it is right"
    report = await probe(racing_body_app(), route, USERS, **alone)
    assert report.verdict is Verdict.LEAK
    assert Phase.OVERLAP in phases(report)


async def test_nobody_waits_for_a_request_that_has_ended() -> None:
    with anyio.fail_after(60):
        report = await probe(
            uneven_app(), CHAT, USERS, request_timeout=3000.0, overlap_timeout=1000.0
        )
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.overlap is not None
    assert report.overlap.together == 4


async def test_what_an_overlap_files_wrongly_is_seen_afterwards(recorder: Recorder) -> None:
    report = await probe(misfiling_app(recorder), CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    assert phases(report) == {Phase.MEANWHILE, Phase.LAST}


@pytest.mark.parametrize("recorded", [True, False])
async def test_requests_that_the_application_serializes(recorder: Recorder, recorded: bool) -> None:
    given = recorder if recorded else None
    app = serializing_app(recorder) if recorded else one_at_a_time(chat_app(by_both))
    report = await probe(app, CHAT, USERS, recorder=given, overlap_timeout=1.0)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.overlap is not None
    assert (report.overlap.asked, report.overlap.together) == (4, 1)
    assert "did not let them all overlap" in str(report)
    assert report.meanwhile == Meanwhile(asked=2, held=2 * recorded, waited=2 * recorded)
    assert report.blocked == (), "to wait is not to be refused"


async def test_who_is_held_is_not_late(recorder: Recorder) -> None:
    app = serializing_app(recorder)
    given: Any = {"request_timeout": 3.0, "overlap_timeout": 1000.0}
    report = await probe(app, CHAT, USERS, recorder=recorder, **given)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_who_is_refused_at_any_time_is_not_refused_because_of_another(
    recorder: Recorder,
) -> None:
    def no_bob(user: str, thread: str) -> object:
        if user == "bob":
            raise LookupError("bob is not known")
        return user, thread

    report = await probe(chat_app(no_bob, recorder=recorder), CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.meanwhile == Meanwhile(asked=2, held=1, waited=0), "alice was under way"
    assert report.blocked == ()


async def test_who_has_nothing_left_to_answer_is_not_held() -> None:
    app = FastAPI()
    histories: dict[object, list[str]] = {}

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> StreamingResponse:
        history = histories.setdefault((user, thread), [])
        history.append(text)
        return StreamingResponse(iter([" ".join(history)]))

    report = await probe(app, CHAT, USERS)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.meanwhile == Meanwhile(asked=2, held=0, waited=0)
