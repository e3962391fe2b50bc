"""Leaks that are easily overlooked, each beside an application that has none."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
from fastapi import FastAPI

from scoped_registration.testing import JSONRoute, Recorder, Verdict
from scoped_registration.testing import probe_isolation as probe
from scoped_registration.testing.findings import Control, Phase, Place
from tests.testing import leaks
from tests.testing.apps import CHAT, USERS, by_both, by_nothing, by_thread, by_user
from tests.testing.reading import crossings, failed, phases, places

SHOWN = [
    leaks.in_a_header,
    leaks.in_a_cookie,
    leaks.in_base64,
    leaks.in_hexadecimal,
    leaks.in_a_short_title,
    leaks.in_an_error,
    leaks.in_parts_of_a_stream,
    leaks.in_lines_of_a_stream,
    leaks.in_two_streams_that_take_turns,
    leaks.in_a_stream_that_never_ends,
    leaks.in_a_stream_that_breaks,
    leaks.in_a_false_encoding,
]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.__name__)
async def test_an_answer_shows_anothers_text_somehow(
    recorder: Recorder, shown: leaks.Shown
) -> None:
    fast: Any = {"request_timeout": 5.0, "recorder": recorder}
    report = await probe(leaks.showing_app(recorder, shown), CHAT, USERS, **fast)
    assert report.verdict is Verdict.LEAK, str(report)
    assert places(report) == {Place.OUTPUT}
    silent = leaks.showing_app(recorder, lambda texts: shown([]))
    report = await probe(silent, CHAT, USERS, **fast)
    assert report.sightings == (), "control"


BODY: Any = {"messages": [{"id": "{message_id}", "content": "{text}"}]}


@pytest.mark.parametrize("by_user_too", [True, False])
async def test_an_answer_that_is_kept_by_the_messages_id(by_user_too: bool) -> None:
    route = JSONRoute("/chat/{thread}", json=BODY)
    app = leaks.replaying_app(by_user=by_user_too)
    report = await probe(app, route, USERS)
    if by_user_too:
        assert report.verdict is Verdict.ISOLATED, str(report)
    else:
        assert phases(report) == {Phase.REPLAY}
        assert ("p2/r2", "p1/r1") in crossings(report, Place.OUTPUT)
    unasked = await probe(leaks.replaying_app(by_user=False), route, USERS, foreign=False)
    assert unasked.verdict is Verdict.ISOLATED, "control: nobody else sees it"


async def test_a_leak_that_begins_with_a_threads_third_turn(recorder: Recorder) -> None:
    report = await probe(leaks.third_turn_app(recorder), CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    assert Phase.FIRST not in phases(report)
    assert Phase.OVERLAP in phases(report)


@pytest.mark.parametrize("place", [Place.SNAPSHOT, Place.CHECKPOINT])
async def test_a_leak_that_only_a_store_shows(recorder: Recorder, place: Place) -> None:
    report = await probe(leaks.storing_app(recorder, place), CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    assert places(report) == {place}


async def test_a_session_that_principals_have_in_common(recorder: Recorder) -> None:
    app = leaks.session_app(recorder, by_nothing)
    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    assert places(report) == {Place.SESSION}, "no text crosses"
    assert ("p2/t1", "p1/t1") in crossings(report, Place.SESSION)
    assert "p2/t1 shares with p1/t1: session, first turn (1)" in str(report)
    own = await probe(leaks.session_app(recorder, by_both), CHAT, USERS, recorder=recorder)
    assert own.verdict is Verdict.ISOLATED, str(own)
    assert dict(own.observed)[Place.SESSION] == 22


async def test_a_session_id_that_principals_have_in_common(recorder: Recorder) -> None:
    app = leaks.session_app(recorder, by_thread, ids=True)
    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert places(report) == {Place.SESSION_ID}
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.SESSION_ID)
    own = leaks.session_app(recorder, by_both, ids=True)
    report = await probe(own, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_a_session_of_one_principals_threads(recorder: Recorder) -> None:
    app = leaks.session_app(recorder, by_user)
    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert ("p1/t2", "p1/t1") in crossings(report, Place.SESSION)
    report = await probe(app, CHAT, USERS, recorder=recorder, threads_share=True)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_sessions_that_are_gone_are_not_mistaken_for_later_ones(recorder: Recorder) -> None:
    app = FastAPI()
    alive: weakref.WeakSet[leaks.Session] = weakref.WeakSet()
    seen: list[int] = []

    @app.post("/chat/{thread}")
    async def chat(text: str) -> None:
        session = leaks.Session()
        alive.add(session)
        await recorder.model_called(text, sessions=[session])
        seen.append(len(alive))

    report = await probe(app, CHAT, USERS, recorder=recorder, continuity=False, overlap=False)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert seen == list(range(1, 11)), "while one is alive, no other one has its address"


async def test_a_providers_conversation_that_another_one_continues(recorder: Recorder) -> None:
    app = leaks.conversation_app(recorder, by_nothing)
    in_turn: Any = {"recorder": recorder, "foreign": False, "overlap": False}
    report = await probe(app, CHAT, USERS, **in_turn)
    assert report.verdict is Verdict.LEAK
    assert places(report) == {Place.PROVIDER_CONVERSATION}
    assert ("p2/t1", "p1/t1") in crossings(report, Place.PROVIDER_CONVERSATION)
    assert ("p1/t2", "p1/t1") in crossings(report, Place.PROVIDER_CONVERSATION), "two calls ago"
    own = leaks.conversation_app(recorder, by_both)
    report = await probe(own, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert Control.CONTINUITY in dict(report.held), "the provider remembers"


async def test_a_message_that_comes_from_anothers_session(recorder: Recorder) -> None:
    def anybodys(user: str, known: list[tuple[str, str]]) -> list[str]:
        return [session for _, session in known]

    def own(user: str, known: list[tuple[str, str]]) -> list[str]:
        return [session for other, session in known if other == user]

    options: Any = {"recorder": recorder, "threads_share": True}
    report = await probe(leaks.remembering_app(recorder, anybodys), CHAT, USERS, **options)
    assert places(report) == {Place.ORIGIN}
    assert ("p2/t1", "p1/t1") in crossings(report, Place.ORIGIN)
    report = await probe(leaks.remembering_app(recorder, own), CHAT, USERS, **options)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert Control.ORIGINS in dict(report.held)


async def test_an_origin_that_no_call_was_made_in_is_inconclusive(recorder: Recorder) -> None:
    app = leaks.remembering_app(recorder, lambda user, known: ["from last week"])
    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert failed(report) == {Control.ORIGINS}


async def test_one_who_is_refused_while_another_is_served(recorder: Recorder) -> None:
    app = leaks.busy_app(recorder, only_user=False)
    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    assert report.sightings == ()
    assert {(str(it.seat), str(it.by), it.why) for it in report.blocked} == {
        ("p1/t1", "p2/t1", "status 409"),
        ("p2/t1", "p1/t1", "status 409"),
    }
    assert "p1/t1 was refused while p2/t1 was under way: status 409" in str(report)
    own = leaks.busy_app(recorder, only_user=True)
    report = await probe(own, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.meanwhile is not None
    assert (report.meanwhile.held, report.meanwhile.waited) == (2, 0)
