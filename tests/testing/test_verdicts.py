"""Each verdict, on applications of plain FastAPI that were written for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI

from scoped_registration.testing import JSONRoute, Recorder, Verdict
from scoped_registration.testing import probe_isolation as probe
from scoped_registration.testing.findings import Control, Failure, Meanwhile, Overlap, Place
from tests.testing.apps import (
    CHAT,
    USERS,
    Transcripts,
    by_both,
    by_nothing,
    by_thread,
    by_user,
    chat_app,
    cookie_app,
    forgetful_app,
    leased_app,
    transcripts_app,
    unauthorized_app,
)
from tests.testing.reading import crossings, failed


async def test_one_list_for_all_leaks_to_everybody(recorder: Recorder) -> None:
    report = await probe(chat_app(by_nothing, recorder=recorder), CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    for place in (Place.MODEL_INPUT, Place.OUTPUT):
        assert ("p2/t1", "p1/t1") in crossings(report, place)
        assert ("p1/t1", "p2/t2") in crossings(report, place)


async def test_a_leak_is_seen_in_answers_alone() -> None:
    report = await probe(chat_app(by_nothing), CHAT, USERS)
    assert report.verdict is Verdict.LEAK
    assert ("p2/t1", "p1/t1") in crossings(report, Place.OUTPUT)
    assert crossings(report, Place.MODEL_INPUT) == set()


async def test_a_leak_is_seen_at_the_model_alone(recorder: Recorder) -> None:
    app = chat_app(by_nothing, recorder=recorder, echoes=False)
    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.LEAK
    assert ("p2/t1", "p1/t1") in crossings(report, Place.MODEL_INPUT)
    assert crossings(report, Place.OUTPUT) == set()


@pytest.mark.parametrize("threads", [1, 2])
async def test_histories_by_user_and_thread_are_isolated(recorder: Recorder, threads: int) -> None:
    app = chat_app(by_both, recorder=recorder)
    report = await probe(app, CHAT, USERS, recorder=recorder, threads=threads)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.failures == ()
    seats = 2 * threads
    # First, second, overlapping and last turn of each seat, two turns of each principal while
    # one of them is held, and one each on another's thread.
    own = 4 * seats + 4
    assert report.requests == own + 2
    held = dict(report.held)
    assert held[Control.OWN_TEXT] == held[Control.ANSWERED] == own
    assert held[Control.CONTINUITY] == own - seats
    assert report.overlap == Overlap(seats, seats, "at the model")
    assert report.meanwhile == Meanwhile(asked=2, held=2, waited=0)


async def test_three_principals(recorder: Recorder) -> None:
    users = [*USERS, {"x-user": "carol"}]
    app = chat_app(by_both, recorder=recorder)
    report = await probe(app, CHAT, users, recorder=recorder)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert (report.principals, report.requests) == (3, 33)
    leak = await probe(chat_app(by_nothing), CHAT, users)
    assert ("p3/t1", "p2/t1") in crossings(leak, Place.OUTPUT)


async def test_answers_that_repeat_the_history_are_a_control_of_their_own() -> None:
    report = await probe(chat_app(by_both), CHAT, USERS)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert dict(report.observed).keys() == {Place.OUTPUT}


@pytest.mark.parametrize("recorded", [True, False])
async def test_leased_instances_are_isolated(recorder: Recorder, recorded: bool) -> None:
    given = recorder if recorded else None
    report = await probe(leased_app(given), CHAT, USERS, recorder=given)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.overlap is not None
    assert report.overlap.together == 4


async def test_histories_by_thread_leak_to_who_knows_the_id() -> None:
    report = await probe(chat_app(by_thread), CHAT, USERS)
    assert report.verdict is Verdict.LEAK
    assert ("p2 on p1/t1", "p1/t1") in crossings(report, Place.OUTPUT)
    assert ("p1/t1", "p2 on p1/t1") in crossings(report, Place.OUTPUT)
    assert ("p2/t1", "p1/t1") not in crossings(report, Place.OUTPUT)
    assert (await probe(chat_app(by_thread), CHAT, USERS, foreign=False)).foreign is None


async def test_another_threads_text_leaks_unless_threads_may_share() -> None:
    report = await probe(chat_app(by_user), CHAT, USERS, foreign=False)
    assert crossings(report, Place.OUTPUT) == {
        ("p1/t2", "p1/t1"),
        ("p1/t1", "p1/t2"),
        ("p2/t2", "p2/t1"),
        ("p2/t1", "p2/t2"),
    }
    report = await probe(chat_app(by_user), CHAT, USERS, threads_share=True)
    assert report.verdict is Verdict.ISOLATED, str(report)
    report = await probe(chat_app(by_nothing), CHAT, USERS, threads_share=True)
    assert report.verdict is Verdict.LEAK


async def test_refusing_another_ones_thread_id_is_isolation() -> None:
    owners: dict[str, str] = {}

    def by_owner(user: str, thread: str) -> object:
        from fastapi import HTTPException

        if owners.setdefault(thread, user) != user:
            raise HTTPException(404)
        return thread

    report = await probe(chat_app(by_owner), CHAT, USERS)
    assert report.verdict is Verdict.ISOLATED, str(report)
    assert report.foreign is not None
    assert (report.foreign.asked, report.foreign.served) == (2, 0)


@pytest.mark.parametrize("checked", [True, False])
async def test_threads_that_can_be_read(checked: bool) -> None:
    report = await probe(transcripts_app(checked=checked), Transcripts(), USERS, overlap=False)
    held = dict(report.held)
    if checked:
        assert report.verdict is Verdict.ISOLATED, str(report)
        assert held[Control.OWN_SNAPSHOT] == 4
    else:
        assert report.verdict is Verdict.LEAK
        assert crossings(report, Place.OUTPUT) == {
            ("p1 on p2/t1", "p2/t1"),
            ("p2 on p1/t1", "p1/t1"),
        }


async def test_a_thread_that_shows_its_owner_nothing_is_inconclusive() -> None:
    app = transcripts_app(checked=True, kept=False)
    report = await probe(app, Transcripts(), USERS, overlap=False)
    assert failed(report) == {Control.OWN_SNAPSHOT}


async def test_a_model_that_is_never_called_is_inconclusive(recorder: Recorder) -> None:
    app = chat_app(by_both, recorder=recorder, model=False)
    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert failed(report) == {Control.OWN_TEXT, Control.CONTINUITY}
    assert "own text arrives: no recorded call of the model holds it" in str(report)


async def test_answers_that_repeat_nothing_are_inconclusive_without_a_recorder() -> None:
    report = await probe(chat_app(by_nothing, echoes=False), CHAT, USERS)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert failed(report) == {Control.OWN_TEXT, Control.CONTINUITY}


async def test_a_promise_of_continuity_that_is_not_kept_is_inconclusive(
    recorder: Recorder,
) -> None:
    report = await probe(forgetful_app(recorder), CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert failed(report) == {Control.CONTINUITY}
    unpromised = await probe(
        forgetful_app(recorder), CHAT, USERS, recorder=recorder, continuity=False
    )
    assert unpromised.verdict is Verdict.ISOLATED, str(unpromised)


@pytest.mark.parametrize("recorded", [True, False])
async def test_nobody_is_let_in(recorder: Recorder, recorded: bool) -> None:
    report = await probe(unauthorized_app(), CHAT, USERS, recorder=recorder if recorded else None)
    assert report.verdict is Verdict.INCONCLUSIVE
    refused = [it for it in report.failures if it.control is Control.ANSWERED]
    assert {failure.why for failure in refused} == {"status 401"}
    assert len(refused) == 20


async def test_an_answer_that_repeats_its_own_request_is_no_control(recorder: Recorder) -> None:
    report = await probe(forgetful_app(recorder), CHAT, USERS, continuity=False)
    assert dict(report.held)[Control.OWN_TEXT] == 20
    assert failed(report) == {Control.OWN_TEXT}
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "without a recorder" in str(report)


async def test_principals_with_the_same_headers_are_inconclusive() -> None:
    report = await probe(chat_app(by_both), CHAT, [{"X-User": "alice"}, {"x-user": "alice"}])
    assert report.verdict is Verdict.INCONCLUSIVE
    assert failed(report) == {Control.PRINCIPALS}
    assert report.requests == 0


async def test_one_failing_principal_is_enough_to_be_inconclusive() -> None:
    def no_bob(user: str, thread: str) -> object:
        if user == "bob":
            raise LookupError("bob is not known")
        return user, thread

    report = await probe(chat_app(no_bob), CHAT, USERS)
    assert report.verdict is Verdict.INCONCLUSIVE
    answered = [it for it in report.failures if it.control is Control.ANSWERED]
    assert {it.seat.principal for it in answered if it.seat} == {"p2"}
    assert {it.why for it in answered} == {"status 500"}


async def test_a_leak_is_a_leak_though_controls_fail() -> None:
    report = await probe(chat_app(by_nothing), CHAT, [*USERS, {"no": "user"}])
    assert failed(report) >= {Control.ANSWERED}
    assert report.verdict is Verdict.LEAK
    assert "control failed" in str(report)


async def test_cookies_stay_with_their_principal() -> None:
    report = await probe(cookie_app(), CHAT, USERS, threads=1, foreign=False)
    assert report.verdict is Verdict.ISOLATED, str(report)


async def test_a_text_in_capitals_is_the_same_text() -> None:
    said: list[str] = []
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(text: str) -> list[str]:
        said.append(text.upper())
        return said

    assert (await probe(app, CHAT, USERS)).verdict is Verdict.LEAK


@pytest.mark.parametrize(
    ("users", "options"), [(USERS[:1], {}), ([], {}), (USERS, {"threads": 0})], ids=str
)
async def test_what_cannot_be_probed(users: list[dict[str, str]], options: Any) -> None:
    with pytest.raises(ValueError, match="principal"):
        await probe(chat_app(by_both), CHAT, users, **options)


async def test_a_recorder_listens_to_one_probe_at_a_time(recorder: Recorder) -> None:
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(text: str) -> None:
        with pytest.raises(RuntimeError, match="another probe"):
            await probe(chat_app(by_both), CHAT, USERS, recorder=recorder)

    await probe(app, CHAT, USERS, recorder=recorder, threads=1, overlap=False)


def _reused(once: str) -> Callable[[], JSONRoute]:
    body: Any = {"messages": [{"id": once, "content": "{text}"}]}
    return lambda: JSONRoute("/chat/{thread}?text={text}", json=body)


async def test_reused_message_ids_are_inconclusive() -> None:
    report = await probe(chat_app(by_both), _reused("1")(), USERS)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.failures == (Failure(Control.MESSAGE_IDS, "one id stands for several"),)
    distinct = await probe(chat_app(by_both), _reused("{message_id}")(), USERS)
    assert distinct.verdict is Verdict.ISOLATED, "control"
    assert dict(distinct.held)[Control.MESSAGE_IDS] == 22
