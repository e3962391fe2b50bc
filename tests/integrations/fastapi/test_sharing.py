"""Shared is spoken of as shared, in the start-up log and to nobody by accident (P10)."""

import logging
from datetime import date
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    RegistrationBuilder,
    Risk,
    SingleUser,
)
from scoped_registration.integrations.fastapi import attach, leased
from tests.integrations.fastapi.support import (
    ALICE,
    BOB,
    CANARY,
    Chat,
    Unseen,
    add_chat,
    as_user,
    client_of,
    current_user,
    scoped,
    shared,
    untouched,
)


def room_app(registration: Unseen) -> FastAPI:
    app = FastAPI()
    attach(app, registration)
    add_chat(app, leased(registration), "/room")
    return app


def start_up_lines(app: FastAPI, caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    with caplog.at_level(logging.INFO, logger="scoped_registration"), TestClient(app):
        pass
    return [
        (record.levelno, record.getMessage())
        for record in caplog.records
        if record.name == "scoped_registration"
    ]


def test_p10_the_start_up_log_says_what_is_shared_and_who_answers_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ((level, line),) = start_up_lines(room_app(shared(review_by=date.max)), caplog)
    assert level == logging.WARNING  # seen where nobody has configured logging, too
    for part in ("'room'", "PersistentShared", "SHARED", "one incident room", "team-sre"):
        assert part in line
    assert "object_state" in line
    assert "review by 9999-12-31" in line
    assert "OVERDUE" not in line


def test_p10_an_overdue_review_is_a_warning_and_never_a_failed_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ((level, line),) = start_up_lines(room_app(shared(review_by=date(2020, 1, 1))), caplog)
    assert level == logging.WARNING
    assert "review by 2020-01-01 (OVERDUE)" in line


def test_p10_each_registration_has_its_line(caplog: pytest.LogCaptureFixture) -> None:
    single = RegistrationBuilder("mine").isolation(SingleUser(Chat())).build()
    threads = RegistrationBuilder("threads").isolation(SingleUser.per_thread(Chat)).build()
    app = FastAPI()
    attach(app, scoped(), single, threads)
    lines = [line for _, line in start_up_lines(app, caplog)]
    assert len(lines) == 3
    assert sum("every caller is one and the same principal" in line for line in lines) == 2
    assert sum("one instance per (authorization scope, thread id)" in line for line in lines) == 1


def test_p10_a_reason_is_text_and_no_format(caplog: pytest.LogCaptureFixture) -> None:
    acknowledgement = Acknowledgement(
        reason="100%s shared %d", owner="team", risks={Risk.OBJECT_STATE}
    )
    registration = (
        RegistrationBuilder("room")
        .isolation(PersistentShared(Chat(), acknowledgement=acknowledgement))
        .build()
    )
    ((_, line),) = start_up_lines(room_app(registration), caplog)
    assert "100%s shared %d" in line


def test_one_instance_serves_all_principals_and_stays_open() -> None:
    registration = shared()
    with client_of(room_app(registration)) as client:
        client.get("/room?text=from alice", headers=ALICE)
        answer = client.get("/room?text=from bob", headers=BOB)
        assert answer.json() == {"lines": ["from alice", "from bob"]}
    assert registration.mode.target.closed == 0


def test_without_access_nobody_is_asked_who_calls() -> None:
    assert client_of(room_app(shared())).get("/room").status_code == 200


def access_app(access: Unseen = current_user) -> tuple[Any, FastAPI]:
    acknowledgement = Acknowledgement(reason="room", owner="team", risks={Risk.OBJECT_STATE})
    mode = PersistentShared(Chat(), acknowledgement=acknowledgement, access=access)
    registration = RegistrationBuilder("room").isolation(mode).build()
    return registration, room_app(registration)


def test_with_access_a_request_without_a_principal_is_401(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registration, app = access_app()
    client = client_of(app)
    assert client.get("/room").json() == {"detail": "who are you?"}
    refused = client.get("/room", headers=as_user("  "))
    assert (refused.status_code, refused.json()["detail"]["code"]) == (401, "scope_missing")
    assert untouched(registration)
    assert client.get("/room", headers=as_user(CANARY)).status_code == 200
    assert client.get("/room", headers=BOB).status_code == 200
    assert CANARY not in caplog.text


@pytest.mark.parametrize(("value", "status"), [(None, 401), ("", 401), (7.0, 500), ([], 500)])
def test_access_obeys_the_rules_of_a_scope(value: object, status: int) -> None:
    def access() -> Unseen:
        return value

    registration, app = access_app(access)
    assert client_of(app).get("/room").status_code == status
    assert untouched(registration)
