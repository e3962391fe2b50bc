"""One run of a probe: its phases, its requests and its controls."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import anyio
import attrs

from scoped_registration.testing.barrier import Barrier, Point
from scoped_registration.testing.findings import (
    Control,
    Failure,
    Foreign,
    Overlap,
    Phase,
    Place,
    Seat,
)
from scoped_registration.testing.ledger import Ledger, Turn, asking
from scoped_registration.testing.report import IsolationReport
from scoped_registration.testing.requests import (
    ReadsThreads,
    Request,
    RequestMaker,
    Response,
    Say,
    messages_in,
)
from scoped_registration.testing.serving import Late, Unanswered, Visitors

__all__ = ["Run"]


@attrs.define(eq=False)
class Run:
    """One run of a probe.

    Attributes:
        requests: How the route is asked.
        labels: The principals' labels.
        threads: How many threads each of them has.
        recorded: A recorder tells what arrives; otherwise only answers do.
        continuity: A turn must remember the one before it.
        ledger: Who saw whose text.
        visitors: Who sends the requests, once the application runs.
    """

    requests: RequestMaker
    labels: list[str]
    threads: int
    recorded: bool
    continuity: bool
    ledger: Ledger
    visitors: Visitors = attrs.field(init=False)
    sent: int = 0
    stopped: bool = False
    failures: list[Failure] = attrs.field(factory=list[Failure])
    held: Counter[Control] = attrs.field(factory=Counter[Control])
    foreign: Foreign | None = None
    overlap: Overlap | None = None
    own: list[list[Turn]] = attrs.field(factory=list[list[Turn]])
    ids: dict[str, str] = attrs.field(factory=dict[str, str])
    messages: dict[str, set[str]] = attrs.field(factory=lambda: defaultdict[str, set[str]](set))

    # What a recorder tells.

    def heard(self, place: Place, text: str) -> None:
        """Something was recorded inside the application."""
        self.ledger.heard(place, text)

    async def hold(self) -> None:
        """Keep a call of the model waiting, while requests overlap."""
        turn = asking.get()
        if turn is not None and self.visitors.barrier is not None:
            await self.visitors.barrier.hold(turn, Point.MODEL)

    # The phases.

    async def play(self, *, foreign: bool, overlap_timeout: float | None) -> None:
        """Play the phases; without a time for it, without the overlap."""
        await self._one_by_one(Phase.FIRST)
        await self._look()
        if foreign:
            await self._swap()
        await self._one_by_one(Phase.SECOND)
        if overlap_timeout is not None:
            await self._at_once(overlap_timeout)
            await self._one_by_one(Phase.LAST)

    @property
    def seats(self) -> list[Seat]:
        """Everybody on each of their own threads, so that principals take turns."""
        return [
            Seat(label, f"{label}/t{number}")
            for number in range(1, self.threads + 1)
            for label in self.labels
        ]

    async def _one_by_one(self, phase: Phase) -> None:
        turns = [self._turn(seat, phase) for seat in self.seats]
        for turn in turns:
            self._judge(turn, await self._ask(turn))
        self.own.append(turns)

    async def _at_once(self, seconds: float) -> None:
        turns = [self._turn(seat, Phase.OVERLAP) for seat in self.seats]
        answers: dict[Turn, Response | str] = {}
        self.visitors.barrier = barrier = Barrier(turns, seconds)

        async def ask(turn: Turn) -> None:
            answers[turn] = await self._ask(turn)

        async with anyio.create_task_group() as group:
            for turn in turns:
                group.start_soon(ask, turn)
        self.visitors.barrier = None
        for turn in turns:
            self._judge(turn, answers[turn])
        self.own.append(turns)
        together, point = barrier.together()
        self.overlap = Overlap(len(turns), max(together, 1), point)

    async def _swap(self) -> None:
        """Let each principal use the first thread of the one before it."""
        served = 0
        for number, label in enumerate(self.labels):
            seat = Seat(label, f"{self.labels[number - 1]}/t1")
            if isinstance(self.requests, ReadsThreads):
                await self._ask(self._turn(seat, Phase.FOREIGN, says=False))
            answer = await self._ask(self._turn(seat, Phase.FOREIGN))
            served += self._failure(answer) is None
        self.foreign = Foreign(len(self.labels), served)

    async def _look(self) -> None:
        """Let each principal read its own threads: the control of reading another's."""
        if not isinstance(self.requests, ReadsThreads):
            return
        for said in self.own[0]:
            turn = self._turn(said.seat, Phase.FIRST, says=False)
            answer = await self._ask(turn)
            if (failure := self._failure(answer)) is None and not self.ledger.holds(
                self._text(answer), said
            ):
                failure = "it does not show what its owner said"
            self.check(Control.OWN_SNAPSHOT, failure, turn)

    # One request.

    def _turn(self, seat: Seat, phase: Phase, *, says: bool = True) -> Turn:
        return Turn(seat, phase, f"canary{uuid.uuid4().hex}" if says else "")

    async def _ask(self, turn: Turn) -> Response | str:
        """Send one request; return its answer, or why there is none."""
        if self.stopped:
            return "not sent: a request before it did not end"
        request = self._request(turn)
        self.sent += 1
        self.ledger.begin(turn)
        answers: list[Response | str] = []

        async def ask() -> None:
            try:
                answers.append(await self.visitors.ask(turn, request))
            except Unanswered as reason:
                answers.append(str(reason))
                self.stopped |= isinstance(reason, Late)

        # In a task of its own, as under a server: what one request leaves in its context
        # does not reach the next one.
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
        self.ledger.end(turn)
        (answer,) = answers
        self.ledger.read(turn, self._text(answer), arrives=not self.recorded)
        return answer

    def _request(self, turn: Turn) -> Request:
        thread = self.ids.setdefault(turn.seat.thread, str(uuid.uuid4()))
        say = Say(turn.canary, thread, str(uuid.uuid4()), turn.seat.principal)
        if not turn.canary and isinstance(self.requests, ReadsThreads):
            return self.requests.look(say)
        request = self.requests.request(say)
        for message_id, text in messages_in(request.json):
            if turn.canary in text:
                self.messages[message_id].add(turn.canary)
        return request

    def _text(self, answer: Response | str) -> str:
        """Return all that a principal can read: what is put together, and the raw parts."""
        if isinstance(answer, str):
            return ""
        if not _succeeded(answer):
            return answer.text
        return f"{self.requests.read(answer).text}\n{answer.text}"

    def _failure(self, answer: Response | str) -> str | None:
        if isinstance(answer, str):
            return answer
        if not _succeeded(answer):
            return f"status {answer.status}"
        return self.requests.read(answer).failure

    # The controls.

    def tells_apart(self, principals: Sequence[Mapping[str, str]]) -> bool:
        """Say whether each principal has headers of its own."""
        distinct = {frozenset((k.lower(), v) for k, v in it.items()) for it in principals}
        same = len(distinct) < len(principals)
        self.check(Control.PRINCIPALS, "two principals have the same headers" if same else None)
        return not same

    def check(self, control: Control, failure: str | None, turn: Turn | None = None) -> None:
        """Note that a control held, or why it did not."""
        if failure is None:
            self.held[control] += 1
        elif turn is None:
            self.failures.append(Failure(control, failure))
        else:
            self.failures.append(Failure(control, failure, turn.seat, turn.phase))

    def _judge(self, turn: Turn, answer: Response | str) -> None:
        self.check(Control.ANSWERED, self._failure(answer), turn)

    def report(self) -> IsolationReport:
        """Return what this run has found."""
        self._check_arrivals()
        return IsolationReport(
            principals=len(self.labels),
            threads=self.threads,
            requests=self.sent,
            sightings=self.ledger.sightings(),
            failures=tuple(self.failures),
            held=tuple((control, self.held[control]) for control in Control if self.held[control]),
            observed=self.ledger.observed(),
            foreign=self.foreign,
            overlap=self.overlap,
        )

    def _check_arrivals(self) -> None:
        """Look at the end: a model may be called after its request was answered."""
        if self.own and not (self.recorded or self.continuity):
            # An answer that repeats its own request would hide a state that all share.
            why = "without a recorder only an answer that repeats an earlier turn shows anything"
            self.check(Control.OWN_TEXT, why)
        for number, turns in enumerate(self.own):
            for place, turn in enumerate(turns):
                self._check_arrival(Control.OWN_TEXT, turn, turn)
                if self.continuity and number:
                    self._check_arrival(Control.CONTINUITY, turn, self.own[number - 1][place])
        for said in self.messages.values():
            several = len(said) > 1
            self.check(Control.MESSAGE_IDS, "one id stands for several" if several else None)

    def _check_arrival(self, control: Control, turn: Turn, said: Turn) -> None:
        where = "no recorded call of the model holds it" if self.recorded else "no answer holds it"
        arrived = self.ledger.arrived(turn, of=said)
        self.check(control, None if arrived else where, turn)


def _succeeded(answer: Response) -> bool:
    return answer.status // 100 == 2  # noqa: PLR2004  # the class of success
