"""The ledger: which text was whose, where it was seen, and whose request that was."""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from contextvars import ContextVar

import attrs

from scoped_registration.testing.findings import Phase, Place, Repetition, Seat, Sighting
from scoped_registration.testing.recorders import Call

__all__ = ["Ledger", "Turn", "asking"]


@attrs.frozen(eq=False)
class Turn:
    """One request of a probe.

    Attributes:
        seat: Whose it is, and on which thread.
        phase: When it is sent.
        canary: What it says, and nothing else in the world does; empty if it says nothing.
    """

    seat: Seat
    phase: Phase
    canary: str

    def forms(self) -> list[str]:
        """Return the canary as it can be found, in lower case."""
        if not self.canary:
            return []
        said = self.canary.encode()
        return [self.canary.lower(), said.hex(), *(_base64(said, at).lower() for at in range(3))]


asking: ContextVar[Turn | None] = ContextVar("scoped_registration.testing.asking", default=None)
"""The turn that the running task serves, as far as tasks inherit their context."""


class Ledger:
    """Attributes what is seen.

    The caller is the request that the context names, as long as it is under way. A worker
    that an earlier request started keeps that request's context: then, and where there is
    no context, the caller is whose canary stands last.

    Args:
        threads_share: One principal's threads may see each other.
    """

    def __init__(self, *, threads_share: bool) -> None:
        self._threads_share = threads_share
        self._turns: list[tuple[Turn, list[str]]] = []
        self._under_way: set[Turn] = set()
        self._arrived: set[tuple[Turn, Turn]] = set()
        self._seen: Counter[tuple[Seat, Seat, Place, Phase]] = Counter()
        self._own: Counter[Place] = Counter()
        self._sessions: dict[object, tuple[Turn, object]] = {}
        self._origins: Counter[tuple[Turn, str]] = Counter()
        self._conversations: defaultdict[str, set[Turn]] = defaultdict(set[Turn])
        self._repeated: Counter[tuple[Seat, Phase]] = Counter()

    def begin(self, turn: Turn) -> None:
        """A request is sent."""
        self._under_way.add(turn)
        if turn.canary:
            self._turns.append((turn, turn.forms()))

    def end(self, turn: Turn) -> None:
        """A request has been answered."""
        self._under_way.discard(turn)

    # What recorders tell.

    def heard(self, place: Place, text: str) -> None:
        """Something was recorded inside the application."""
        found = self._found(text)
        caller = self._caller(found)
        if caller is None or not found:
            return
        self._see(caller, found, place)
        if place in {Place.MODEL_INPUT, Place.PROVIDER_CONVERSATION}:  # what is stored has not
            self._arrived.update((caller, turn) for turn in found)

    def called(self, call: Call) -> None:
        """The model was called."""
        found = self._found("\n".join(call.texts))
        caller = self._caller(found)
        if caller is None:
            return
        self._see(caller, found, Place.MODEL_INPUT)
        if call.conversation is not None:
            kept = self._conversations[call.conversation]
            earlier = [*self._found(call.conversation), *kept]
            self._see(caller, earlier, Place.PROVIDER_CONVERSATION)
            kept.update(found)
            found += earlier
        self._arrived.update((caller, turn) for turn in found)
        for session in call.sessions:
            if self._shares(caller, session):
                break  # its id is the same then, which says nothing new
        self._origins.update((caller, origin) for origin in call.origins)
        said = "\n".join(call.said).lower()
        own = [turn for turn in found if turn.seat == caller.seat]
        if any(said.count(turn.canary) > 1 for turn in own):
            self._repeated[caller.seat, caller.phase] += 1

    def kept(self, conversation: str, text: str, continues: str | None) -> None:
        """The provider keeps a text, after those of the conversation that it continues."""
        turns = self._conversations[conversation]
        turns.update(self._found(text))
        if continues is not None:
            turns.update(self._conversations[continues])

    # What answers and people tell.

    def read(self, turn: Turn, text: str, *, arrives: bool) -> None:
        """A request was answered with a text.

        Args:
            turn: The request.
            text: All that its sender can read.
            arrives: What stands in answers counts as having arrived.
        """
        found = self._found(text)
        self._see(turn, found, Place.OUTPUT)
        if arrives:
            self._arrived.update((turn, other) for other in found)

    def took(self, seer: Turn, owner: Turn) -> None:
        """A principal used up a question to another one."""
        self._see(seer, [owner], Place.QUESTION)

    # What there is to say.

    def arrived(self, turn: Turn, *, of: Turn) -> bool:
        """Say whether the text of a turn was there when another, or itself, was answered."""
        return (turn, of) in self._arrived

    def holds(self, text: str, turn: Turn) -> bool:
        """Say whether a text holds what a turn said."""
        return turn in self._found(text)

    def sightings(self) -> tuple[Sighting, ...]:
        """Return who saw whose text, what crosses principals first."""
        seen = self._seen.copy()
        for (caller, origin), times in self._origins.items():
            if origin in self._sessions:
                owner, _ = self._sessions[origin]
                if self._is_foreign(caller.seat, owner.seat):
                    seen[caller.seat, owner.seat, Place.ORIGIN, caller.phase] += times
        found = [Sighting(*key, times) for key, times in seen.items()]
        return tuple(sorted(found, key=lambda it: it.seer.principal == it.owner.principal))

    def origins(self) -> tuple[int, int]:
        """Return how many origins are sessions that were seen, and how many are not."""
        known = sum(origin in self._sessions for _, origin in self._origins)
        return known, len(self._origins) - known

    def observed(self) -> tuple[tuple[Place, int], ...]:
        """Return where texts were seen on the thread to which they belong."""
        return tuple((place, self._own[place]) for place in Place if self._own[place])

    def repetitions(self) -> tuple[Repetition, ...]:
        """Return whose texts stood more than once in one call of the model."""
        return tuple(Repetition(*key, times) for key, times in self._repeated.items())

    def _found(self, text: str) -> list[Turn]:
        """Return the turns whose canaries a text holds, by the last place of each."""
        text = text.lower()
        places = [
            (max(text.rfind(form) for form in forms), number)
            for number, (_, forms) in enumerate(self._turns)
        ]
        return [self._turns[number][0] for place, number in sorted(places) if place >= 0]

    def _caller(self, found: list[Turn]) -> Turn | None:
        caller = asking.get()
        if caller is not None and caller in self._under_way:
            return caller
        under_way = [turn for turn in found if turn in self._under_way] or found
        return under_way[-1] if under_way else None

    def _shares(self, caller: Turn, session: object) -> bool:
        """Note whose a session is; say whether another one has it.

        Sessions are kept: the address of one that is gone could be another one's.
        """
        is_id = isinstance(session, str)
        owner, _ = self._sessions.setdefault(session if is_id else id(session), (caller, session))
        self._see(caller, [owner], Place.SESSION_ID if is_id else Place.SESSION)
        return self._is_foreign(caller.seat, owner.seat)

    def _see(self, seer: Turn, found: list[Turn], place: Place) -> None:
        for turn in found:
            if turn.seat == seer.seat:
                self._own[place] += 1
            elif self._is_foreign(seer.seat, turn.seat):
                self._seen[seer.seat, turn.seat, place, seer.phase] += 1

    def _is_foreign(self, seer: Seat, owner: Seat) -> bool:
        may_share = self._threads_share and seer.principal == owner.principal
        return seer != owner and not may_share


def _base64(said: bytes, at: int) -> str:
    """Return the base64 of some bytes that stand `at` bytes after a multiple of three.

    Without the characters at both ends, which depend on what stands beside.
    """
    whole = base64.b64encode(b"\0" * at + said).decode()
    return whole[-(-at * 8 // 6) : (at + len(said)) * 8 // 6]
