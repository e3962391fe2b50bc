"""One run of a probe: its phases, one after another."""

from __future__ import annotations

import uuid

import anyio
import attrs

from scoped_registration.testing.barrier import Barrier, Gate, Point
from scoped_registration.testing.exchange import Answer, Exchange
from scoped_registration.testing.findings import (
    Control,
    Foreign,
    Meanwhile,
    Overlap,
    Phase,
    Place,
    Questions,
    Seat,
)
from scoped_registration.testing.ledger import Turn, asking
from scoped_registration.testing.pending import Pending
from scoped_registration.testing.questions import ask_people
from scoped_registration.testing.recorders import Call
from scoped_registration.testing.report import IsolationReport
from scoped_registration.testing.requests import ReadsThreads, Say

__all__ = ["Run"]


@attrs.define(eq=False)
class Run:
    """One run of a probe.

    Attributes:
        exchange: Sends the requests.
        labels: The principals' labels.
        threads: How many threads each of them has.
        continuity: A turn must remember the one before it.
        threads_share: One principal's threads may see each other.
        request_timeout: Seconds that a request may take.
    """

    exchange: Exchange
    labels: list[str]
    threads: int
    continuity: bool
    threads_share: bool
    request_timeout: float
    foreign: Foreign | None = None
    overlap: Overlap | None = None
    meanwhile: Meanwhile | None = None
    questions: Questions | None = None
    _holds_at: Point = Point.ANSWER

    # What a recorder tells.

    def heard(self, place: Place, text: str) -> None:
        """Something was recorded inside the application."""
        self.exchange.ledger.heard(place, text)

    def called(self, call: Call) -> None:
        """The model was called."""
        self.exchange.ledger.called(call)

    def kept(self, conversation: str, text: str, continues: str | None) -> None:
        """The provider keeps a conversation."""
        self.exchange.ledger.kept(conversation, text, continues)

    async def hold(self) -> None:
        """Keep a call of the model waiting, while requests overlap."""
        turn = asking.get()
        if turn is None:
            return
        self._holds_at = Point.MODEL
        if (barrier := self.exchange.visitors.barrier) is not None:
            await barrier.hold(turn, Point.MODEL)

    # The phases.

    async def play(
        self, *, foreign: bool, overlap_timeout: float | None, pending: Pending | None
    ) -> None:
        """Play the phases; without a time for it, without the overlap."""
        await self._one_by_one(Phase.FIRST)
        await self._look()
        if foreign:
            await self._swap()
            await self._replay()
        await self._one_by_one(Phase.SECOND)
        if overlap_timeout is not None:
            seconds = min(overlap_timeout, self.request_timeout / 3)  # who is held must not be late
            await self._at_once(seconds)
            await self._one_meanwhile(seconds)
            await self._one_by_one(Phase.LAST)
        if pending is not None:
            self.questions = await ask_people(
                self.exchange, pending, self.labels, self.seats, threads_share=self.threads_share
            )

    @property
    def seats(self) -> list[Seat]:
        """Everybody on each of their own threads, so that principals take turns."""
        return [
            Seat(label, f"{label}/t{number}")
            for number in range(1, self.threads + 1)
            for label in self.labels
        ]

    async def _one_by_one(self, phase: Phase) -> None:
        for seat in self.seats:
            self.exchange.judge(*await self.exchange.speak(seat, phase))

    async def _look(self) -> None:
        """Let each principal read its own threads: the control of reading another's."""
        if not isinstance(self.exchange.requests, ReadsThreads):
            return
        for seat in self.seats:
            turn = self.exchange.turn(seat, Phase.FIRST, says=False)
            answer = await self.exchange.ask(turn)
            failure = self.exchange.failure(answer)
            (said,) = self.exchange.own[seat]
            if failure is None and not self.exchange.ledger.holds(self.exchange.text(answer), said):
                failure = "it does not show what its owner said"
            self.exchange.check(Control.OWN_SNAPSHOT, failure, turn)

    async def _swap(self) -> None:
        """Let each principal use the first thread of the one before it."""
        served = 0
        for number, label in enumerate(self.labels):
            seat = Seat(label, f"{self.labels[number - 1]}/t1")
            if isinstance(self.exchange.requests, ReadsThreads):
                await self.exchange.ask(self.exchange.turn(seat, Phase.FOREIGN, says=False))
            _, answer = await self.exchange.speak(seat, Phase.FOREIGN)
            served += self.exchange.failure(answer) is None
        self.foreign = Foreign(len(self.labels), served)

    async def _replay(self) -> None:
        """Let each principal send messages with the ids of those that another has sent.

        One on a thread of its own, and one on the other's, where the id is a message's too.
        """
        requests = self.exchange.requests
        one = Say("text", "thread", "one", self.labels[0])
        if requests.request(one) == requests.request(attrs.evolve(one, message_id="two")):
            return  # the route does not say what a message's id is
        for number, label in enumerate(self.labels):
            before = Seat(self.labels[number - 1], f"{self.labels[number - 1]}/r1")
            for thread in (f"{label}/r2", before.thread):
                message_id = str(uuid.uuid4())
                for seat in (before, Seat(label, thread)):
                    turn = self.exchange.turn(seat, Phase.REPLAY)
                    say = self.exchange.say(turn, message_id)
                    await self.exchange.ask(turn, requests.request(say))

    async def _at_once(self, seconds: float) -> None:
        turns = [self.exchange.turn(seat, Phase.OVERLAP) for seat in self.seats]
        answers: dict[Turn, Answer] = {}
        visitors = self.exchange.visitors
        visitors.barrier = barrier = Barrier(turns, seconds)

        async def ask(turn: Turn) -> None:
            answers[turn] = await self.exchange.ask(turn)

        async with anyio.create_task_group() as group:
            for turn in turns:
                group.start_soon(ask, turn)
        visitors.barrier = None
        for turn in turns:
            self.exchange.judge(turn, answers[turn])
        together, point = barrier.together()
        self.overlap = Overlap(len(turns), max(together, 1), point)

    async def _one_meanwhile(self, seconds: float) -> None:
        """Let each principal speak while the one before it is held under way."""
        held = waited = 0
        for number, label in enumerate(self.labels):
            before = self.labels[number - 1]
            outcome = await self._while_held(
                Seat(before, f"{before}/t1"), Seat(label, f"{label}/t1"), seconds
            )
            held += outcome is not None
            waited += bool(outcome)
        self.meanwhile = Meanwhile(len(self.labels), held, waited)

    async def _while_held(self, first: Seat, second: Seat, seconds: float) -> bool | None:
        """Return whether the second had to wait for the first; None if that was not held."""
        turn = self.exchange.turn(first, Phase.MEANWHILE)
        visitors = self.exchange.visitors
        visitors.barrier = gate = Gate(turn, self._holds_at)
        answered = anyio.Event()
        waits: bool | None = None

        async def ask_first() -> None:
            self.exchange.judge(turn, await self.exchange.ask(turn))
            gate.leave(turn)  # also if it was not sent

        async def ask_second() -> None:
            said, answer = await self.exchange.speak(second, Phase.MEANWHILE)
            answered.set()
            if gate.held:
                self.exchange.judge_beside(said, answer, turn)
            else:
                self.exchange.judge(said, answer)

        async with anyio.create_task_group() as group:
            group.start_soon(ask_first)
            with anyio.move_on_after(seconds):
                await gate.settled()
            group.start_soon(ask_second)
            with anyio.move_on_after(seconds):
                await answered.wait()
            if gate.held:
                waits = not answered.is_set()
            gate.open()
        visitors.barrier = None
        return waits

    def report(self) -> IsolationReport:
        """Return what this run has found."""
        exchange, ledger = self.exchange, self.exchange.ledger
        exchange.check_arrivals(continuity=self.continuity)
        held = exchange.held
        return IsolationReport(
            principals=len(self.labels),
            threads=self.threads,
            requests=exchange.sent,
            sightings=ledger.sightings(),
            blocked=tuple(exchange.blocked),
            failures=tuple(exchange.failures),
            held=tuple((control, held[control]) for control in Control if held[control]),
            observed=ledger.observed(),
            repetitions=ledger.repetitions(),
            foreign=self.foreign,
            overlap=self.overlap,
            meanwhile=self.meanwhile,
            questions=self.questions,
        )
