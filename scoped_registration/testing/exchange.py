"""The requests of a probe and their answers, and the controls that failed or held."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import anyio
import attrs

from scoped_registration.testing.findings import Blocked, Control, Failure, Phase, Seat
from scoped_registration.testing.ledger import Ledger, Turn
from scoped_registration.testing.requests import (
    ReadsThreads,
    Request,
    RequestMaker,
    Response,
    Say,
    messages_in,
)
from scoped_registration.testing.serving import Late, Unanswered, Unsent, Visitors
from scoped_registration.testing.streams import put_together

__all__ = ["Answer", "Exchange"]

Answer = Response | Unanswered


@attrs.define(eq=False)
class Exchange:
    """Sends requests and reads their answers.

    Attributes:
        requests: How the route is asked.
        ledger: Who saw whose text.
        recorded: A recorder tells what arrives; otherwise only answers do.
        visitors: Who sends the requests, once the application runs.
        sent: How many requests were sent.
        blocked: Who was refused because of whom.
        failures: The controls that failed.
        held: How often each control held.
        own: The turns of each seat on its own thread, in order.
        unserved: The seats that were refused though nothing else was under way.
    """

    requests: RequestMaker
    ledger: Ledger
    recorded: bool
    visitors: Visitors = attrs.field(init=False)
    sent: int = 0
    blocked: list[Blocked] = attrs.field(factory=list[Blocked])
    failures: list[Failure] = attrs.field(factory=list[Failure])
    held: Counter[Control] = attrs.field(factory=Counter[Control])
    own: dict[Seat, list[Turn]] = attrs.field(factory=lambda: defaultdict[Seat, list[Turn]](list))
    unserved: set[Seat] = attrs.field(factory=set[Seat])
    _stopped: bool = False
    _threads: dict[str, str] = attrs.field(factory=dict[str, str])
    _said: dict[str, set[str]] = attrs.field(factory=lambda: defaultdict[str, set[str]](set))

    # What is sent.

    def turn(self, seat: Seat, phase: Phase, *, says: bool = True) -> Turn:
        """Return a request to be sent, with a canary of its own."""
        # Long enough to be nobody else's, and short enough to stand in a shortened text.
        return Turn(seat, phase, f"canary{uuid.uuid4().hex[:12]}" if says else "")

    def say(self, turn: Turn, message_id: str | None = None) -> Say:
        """Return what a request says, on its thread."""
        thread = self._threads.setdefault(turn.seat.thread, str(uuid.uuid4()))
        return Say(turn.canary, thread, message_id or str(uuid.uuid4()), turn.seat.principal)

    def request(self, turn: Turn) -> Request:
        """Return the request of a turn, and remember its message's id."""
        say = self.say(turn)
        if not turn.canary and isinstance(self.requests, ReadsThreads):
            return self.requests.look(say)
        request = self.requests.request(say)
        for message_id, text in messages_in(request.json):
            if turn.canary in text:
                self._said[message_id].add(turn.canary)
        return request

    async def ask(self, turn: Turn, request: Request | None = None) -> Answer:
        """Send one request: the turn's, or another one for it."""
        if self._stopped:
            return Unsent("not sent: a request before it did not end")
        if request is None:
            request = self.request(turn)
        self.sent += 1
        self.ledger.begin(turn)
        answers: list[Answer] = []

        async def ask() -> None:
            try:
                answers.append(await self.visitors.ask(turn, request))
            except Unanswered as reason:
                answers.append(reason)
                self._stopped |= isinstance(reason, Late)

        # In a task of its own, as under a server: what one request leaves in its context
        # does not reach the next one.
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
        self.ledger.end(turn)
        (answer,) = answers
        self.ledger.read(turn, self.text(answer), arrives=not self.recorded)
        return answer

    async def speak(self, seat: Seat, phase: Phase) -> tuple[Turn, Answer]:
        """Let a seat say something, without judging how it is answered."""
        turn = self.turn(seat, phase)
        return turn, await self.ask(turn)

    # What is answered.

    def text(self, answer: Answer) -> str:
        """Return all that a principal can read: what is put together, and the raw parts."""
        texts = [answer.text, put_together(answer.text)]
        if isinstance(answer, Response):
            texts += [value for _, value in answer.headers]
            if _succeeded(answer):
                texts.append(self.requests.read(answer).text)
        return "\n".join(texts)

    def failure(self, answer: Answer) -> str | None:
        """Return why an answer is none."""
        if isinstance(answer, Unanswered):
            return str(answer)
        if not _succeeded(answer):
            return f"status {answer.status}"
        return self.requests.read(answer).failure

    def judge_beside(self, turn: Turn, answer: Answer, other: Turn) -> None:
        """Judge a turn while another one is under way: only then is it refused, or ever."""
        failure = self.failure(answer)
        served = turn.seat not in self.unserved and not isinstance(answer, Unsent)
        if failure is not None and served:
            self.blocked.append(Blocked(turn.seat, other.seat, turn.phase, failure))
        else:
            self.judge(turn, answer)

    def judge(self, turn: Turn, answer: Answer) -> None:
        """Hold a seat's own turn against what must be: it is answered, and it arrives."""
        failure = self.failure(answer)
        self.check(Control.ANSWERED, failure, turn)
        self.own[turn.seat].append(turn)
        if failure is not None and turn.phase is not Phase.OVERLAP:
            self.unserved.add(turn.seat)

    # The controls.

    def check(self, control: Control, failure: str | None, turn: Turn | None = None) -> None:
        """Note that a control held, or why it did not."""
        if failure is None:
            self.held[control] += 1
        elif turn is None:
            self.failures.append(Failure(control, failure))
        else:
            self.failures.append(Failure(control, failure, turn.seat, turn.phase))

    def tells_apart(self, principals: Sequence[Mapping[str, str]]) -> bool:
        """Say whether each principal has headers of its own."""
        distinct = {frozenset((k.lower(), v) for k, v in it.items()) for it in principals}
        same = len(distinct) < len(principals)
        self.check(Control.PRINCIPALS, "two principals have the same headers" if same else None)
        return not same

    def check_arrivals(self, *, continuity: bool) -> None:
        """Look at the end: a model may be called after its request was answered."""
        if self.own and not (self.recorded or continuity):
            # An answer that repeats its own request would hide a state that all share.
            why = "without a recorder only an answer that repeats an earlier turn shows anything"
            self.check(Control.OWN_TEXT, why)
        for turns in self.own.values():
            for turn in turns:
                self._check_arrival(Control.OWN_TEXT, turn, turn)
            if continuity:
                for before, turn in pairwise(turns):
                    self._check_arrival(Control.CONTINUITY, turn, before)
        for said in self._said.values():
            several = len(said) > 1
            self.check(Control.MESSAGE_IDS, "one id stands for several" if several else None)
        known, unknown = self.ledger.origins()
        if known or unknown:
            why = f"{unknown} of {known + unknown} are no session of a recorded call"
            self.check(Control.ORIGINS, why if unknown else None)

    def _check_arrival(self, control: Control, turn: Turn, said: Turn) -> None:
        where = "no recorded call of the model holds it" if self.recorded else "no answer holds it"
        arrived = self.ledger.arrived(turn, of=said)
        self.check(control, None if arrived else where, turn)


def _succeeded(answer: Response) -> bool:
    return answer.status // 100 == 2  # noqa: PLR2004  # the class of success
