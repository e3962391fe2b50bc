"""Texts that come in parts are put together, whatever the format of the stream."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoped_registration.testing.findings import Phase, Seat
from scoped_registration.testing.ledger import Ledger, Turn
from scoped_registration.testing.streams import events_of, put_together


def lines(*events: object, prefix: str = "") -> str:
    return "".join(f"{prefix}{json.dumps(event)}\n" for event in events)


DELTAS = [{"n": n, "choices": [{"delta": {"content": part}}]} for n, part in enumerate("secret")]
TURNS = [{"of": of, "text": part} for part in "secret" for of in ("one", "two")]


@pytest.mark.parametrize(
    "body",
    [
        "secret",
        '["secret"]',
        lines(*DELTAS),
        lines(*DELTAS, prefix="data: "),
        lines(*DELTAS, prefix="data:"),
        lines(*TURNS),
        lines(*"secret"),
        "".join(f"data: {part}\n\n" for part in "secret"),
        lines({"text": "other"}, {"text": "sec", "more": True}, {"text": "ret", "more": True}),
    ],
)
def test_a_text_is_found_in_its_parts(body: str) -> None:
    assert "secret" in put_together(body)


def test_digits_on_lines_of_their_own_are_parts_of_a_word() -> None:
    assert "can4ry7" in put_together("data: can\ndata: 4\ndata: ry\ndata: 7\n")


def test_numbers_are_no_text_and_objects_may_be_empty() -> None:
    assert put_together("{}\n[]\n{'a': 1}\n\n") == "{'a': 1}\n{'a': 1}"
    assert put_together('{"a": 1, "b": null}') == ""


@pytest.mark.parametrize("depth", [500, 900, 100_000])
def test_what_is_nested_deeply_is_a_text(depth: int) -> None:
    body = f'{"[" * depth}"secret"{"]" * depth}'
    assert "secret" in put_together(body)
    with pytest.raises(ValueError, match=r"event is an object|nested too deeply"):
        list(events_of(f"data: {body}"))


@given(st.text())
def test_any_body_is_read(body: str) -> None:
    put_together(body)


@given(st.binary(max_size=20), st.binary(max_size=20), st.integers(0, 3))
def test_a_canary_is_found_in_base64_wherever_it_stands(
    before: bytes, after: bytes, bytes_more: int
) -> None:
    ledger = Ledger(threads_share=False)
    turn = Turn(Seat("p1", "p1/t1"), Phase.FIRST, f"canary0123456789ab{'c' * bytes_more}")
    ledger.begin(turn)
    whole = base64.b64encode(before + turn.canary.encode() + after).decode()
    assert ledger.holds(f"x{whole}y", turn)
    assert not ledger.holds(base64.b64encode(before + after).decode(), turn), "control"
