"""The step with a question to a person: the others go on meanwhile, and cannot answer it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from scoped_registration.testing.exchange import Exchange
from scoped_registration.testing.findings import Control, Phase, Questions, Seat
from scoped_registration.testing.ledger import Turn
from scoped_registration.testing.pending import Pending
from scoped_registration.testing.requests import Response

__all__ = ["ask_people"]


@attrs.frozen
class _Question:
    """A question that is open, and the turn and the answer that opened it."""

    turn: Turn
    response: Response


async def ask_people(
    exchange: Exchange,
    pending: Pending,
    labels: Sequence[str],
    seats: Sequence[Seat],
    *,
    threads_share: bool,
) -> Questions:
    """Let the application ask each principal something, and the others speak meanwhile.

    The first question is answered by its owner alone: the control that it can be. The second
    one is answered by another principal as well, before its owner does.
    """
    opened = served = 0
    for number, label in enumerate(labels):
        control = await _open(exchange, pending, Seat(label, f"{label}/q1"))
        if control is None:
            continue
        failure = await _answer(exchange, pending, control, control.turn.seat)
        if failure is not None:
            failure = f"its owner cannot answer it: {failure}"
        exchange.check(Control.QUESTION, failure, control.turn)
        question = await _open(exchange, pending, Seat(label, f"{label}/q2"))
        if question is None or failure is not None:
            continue
        opened += 1
        others = [it for it in seats if it.principal != label or not threads_share]
        for seat in others:
            turn, answer = await exchange.speak(seat, Phase.QUESTION)
            exchange.judge_beside(turn, answer, question.turn)
        other = Seat(labels[number - 1], question.turn.seat.thread)
        served += await _answer(exchange, pending, question, other) is None
        if await _answer(exchange, pending, question, question.turn.seat) is not None:
            exchange.ledger.took(Turn(other, Phase.QUESTION, ""), question.turn)
    return Questions(len(labels), opened, served)


async def _open(exchange: Exchange, pending: Pending, seat: Seat) -> _Question | None:
    turn = exchange.turn(seat, Phase.QUESTION)
    answer = await exchange.ask(turn, pending.open(exchange.say(turn)))
    failure = exchange.failure(answer)
    if isinstance(answer, Response) and failure is None:
        if pending.is_open(answer):
            return _Question(turn, answer)
        failure = "none is open after the request"
    exchange.check(Control.QUESTION, failure, turn)
    return None


async def _answer(
    exchange: Exchange, pending: Pending, question: _Question, seat: Seat
) -> str | None:
    """Answer a question; return why that was refused."""
    turn = exchange.turn(seat, Phase.QUESTION, says=False)
    request = pending.answer(exchange.say(turn), question.response)
    return exchange.failure(await exchange.ask(turn, request))
