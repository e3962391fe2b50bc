"""The report: readable, frozen, as JSON, and without anybody's secrets."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from scoped_registration.testing import IsolationReport, JSONRoute, Verdict, probe_isolation
from scoped_registration.testing.findings import (
    Blocked,
    Control,
    Failure,
    Foreign,
    Meanwhile,
    Overlap,
    Phase,
    Place,
    Questions,
    Repetition,
    Seat,
    Sighting,
)
from tests.testing.apps import CHAT, USERS, by_nothing, chat_app, unauthorized_app

P1, P2 = Seat("p1", "p1/t1"), Seat("p2", "p2/t1")
SEEN = Sighting(P2, P1, Place.OUTPUT, Phase.SECOND, 3)
HELD = ((Control.OWN_TEXT, 8),)


def report(**parts: Any) -> IsolationReport:
    nothing: dict[str, Any] = {"sightings": (), "failures": (), "held": HELD}
    return IsolationReport(principals=2, threads=1, requests=8, **{**nothing, **parts})


BLOCKED = Blocked(P2, P1, Phase.MEANWHILE, "status 409")
FAILED = Failure(Control.ANSWERED, "status 500", P1, Phase.FIRST)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({}, Verdict.ISOLATED),
        ({"sightings": (SEEN,)}, Verdict.LEAK),
        ({"sightings": (SEEN,), "failures": (FAILED,)}, Verdict.LEAK),
        ({"blocked": (BLOCKED,)}, Verdict.LEAK),
        ({"repetitions": (Repetition(P1, Phase.LAST, 1),)}, Verdict.ISOLATED),
        ({"failures": (FAILED,)}, Verdict.INCONCLUSIVE),
        ({"held": ()}, Verdict.INCONCLUSIVE),
        ({"held": ((Control.ANSWERED, 8),)}, Verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict_follows_from_what_was_seen(parts: dict[str, Any], verdict: Verdict) -> None:
    assert report(**parts).verdict is verdict


def test_the_text_says_who_saw_whose_text_and_where() -> None:
    text = str(
        report(
            sightings=(
                SEEN,
                attrs.evolve(SEEN, phase=Phase.LAST, times=1),
                attrs.evolve(SEEN, place=Place.SESSION),
                attrs.evolve(SEEN, place=Place.ORIGIN),
                attrs.evolve(SEEN, place=Place.QUESTION),
            ),
            blocked=(BLOCKED, attrs.evolve(BLOCKED, phase=Phase.QUESTION)),
            failures=(FAILED, Failure(Control.LIFESPAN, "the shutdown failed")),
            observed=((Place.OUTPUT, 8),),
            repetitions=(Repetition(P1, Phase.LAST, 2), Repetition(P2, Phase.LAST, 1)),
            foreign=Foreign(2, 0),
            overlap=Overlap(2, 1, "at the model"),
            meanwhile=Meanwhile(2, 2, 1),
            questions=Questions(2, 1, 0),
        )
    )
    assert text == "\n".join(
        [
            "LEAK: 2 principals with 1 thread each, 8 requests",
            "  p2/t1 saw the text of p1/t1: output, second turn (3), turn after the overlap (1)",
            "  p2/t1 shares with p1/t1: session, second turn (3)",
            "  p2/t1 was sent something of p1/t1: origin of a message, second turn (3)",
            "  p2/t1 used up what was asked of p1/t1: open question, second turn (3)",
            "  p2/t1 was refused while p1/t1 was under way: status 409",
            "  p2/t1 was refused while a question to p1/t1 was open: status 409",
            "  control failed: the request is answered: status 500",
            "    p1/t1 first turn",
            "  control failed: the application starts and ends: the shutdown failed",
            "  controls that held: own text arrives (8)",
            "  own texts were seen in: output (8)",
            "  own texts stood twice in one call of the model: "
            "p1/t1 turn after the overlap (2), p2/t1 turn after the overlap (1)",
            "  another's thread id: 0 of 2 served",
            "  overlap: 1 of 2 requests were at the model at once; "
            "the application did not let them all overlap",
            "  meanwhile: 2 of 2 requests were held under way; "
            "1 of them kept another principal waiting",
            "  questions to a person: 1 of 2 open; 0 answers of another served",
        ]
    )


SEEN_REST = (Place.OUTPUT, Phase.FIRST, 1)


def test_a_long_text_is_cut_and_the_data_is_not() -> None:
    many = tuple(Sighting(P2, Seat("p1", f"p1/t{n}"), *SEEN_REST) for n in range(50))
    text = str(report(sightings=many))
    assert "and 30 more" in text
    assert "p1/t19" in text
    assert "p1/t20" not in text
    assert len(json.loads(report(sightings=many).as_json())["sightings"]) == 50


def test_the_json_holds_the_same() -> None:
    whole = json.loads(
        report(
            sightings=(SEEN,),
            blocked=(BLOCKED,),
            repetitions=(Repetition(P1, Phase.LAST, 2),),
            failures=(FAILED, Failure(Control.LIFESPAN, "the shutdown failed")),
            observed=((Place.OUTPUT, 8),),
            foreign=Foreign(2, 0),
            overlap=Overlap(2, 1, "at the model"),
            meanwhile=Meanwhile(2, 2, 1),
            questions=Questions(2, 1, 0),
        ).as_json()
    )
    assert whole == {
        "version": 1,
        "verdict": "leak",
        "principals": 2,
        "threads": 1,
        "requests": 8,
        "sightings": [
            {
                "seer": "p2/t1",
                "owner": "p1/t1",
                "place": "output",
                "phase": "second turn",
                "times": 3,
            }
        ],
        "blocked": [
            {
                "seat": "p2/t1",
                "by": "p1/t1",
                "phase": "turn while another's is under way",
                "why": "status 409",
            }
        ],
        "failures": [
            {
                "control": "the request is answered",
                "why": "status 500",
                "seat": "p1/t1",
                "phase": "first turn",
            },
            {
                "control": "the application starts and ends",
                "why": "the shutdown failed",
                "seat": None,
                "phase": None,
            },
        ],
        "held": {"own text arrives": 8},
        "observed": {"output": 8},
        "repetitions": [{"seat": "p1/t1", "phase": "turn after the overlap", "times": 2}],
        "foreign": {"asked": 2, "served": 0},
        "overlap": {"asked": 2, "together": 1, "at": "at the model"},
        "meanwhile": {"asked": 2, "held": 2, "waited": 1},
        "questions": {"asked": 2, "open": 1, "served": 0},
    }
    skipped = json.loads(report().as_json())
    assert {skipped[name] for name in ("foreign", "overlap", "meanwhile", "questions")} == {None}


def test_a_report_is_frozen() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        report().requests = 9  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    assert hash(report()) == hash(report())


@pytest.mark.parametrize("app", [chat_app(by_nothing), unauthorized_app()], ids=["leak", "401"])
async def test_no_header_of_a_principal_is_shown(app: Any) -> None:
    users = [{"x-user": "alice", "authorization": "Bearer 4711"}, {"x-user": "bob"}]
    seen: list[str] = []

    async def listening(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(value.decode() for _, value in scope.get("headers", []))
        await app(scope, receive, send)

    found = await probe_isolation(listening, CHAT, users)
    assert "Bearer 4711" in seen, "control: it was sent"
    for text in (str(found), found.as_json(), repr(found)):
        assert not any(secret in text for secret in ("alice", "bob", "4711", "x-user"))


async def test_a_request_maker_sees_labels_and_no_headers() -> None:
    route = JSONRoute("/chat/{thread}?text={text}", json={"who": ["{principal}", 1]})
    bodies: list[Any] = []

    async def listening(scope: Any, receive: Any, send: Any) -> None:
        bodies.append(json.loads((await receive())["body"]))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    await probe_isolation(listening, route, USERS, threads=1, lifespan=False)
    assert bodies[:2] == [{"who": ["p1", 1]}, {"who": ["p2", 1]}]
