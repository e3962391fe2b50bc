"""The ledger: which text was whose, where it was seen, and whose request that was."""

from __future__ import annotations

from collections import Counter
from contextvars import ContextVar

import attrs

from scoped_registration.testing.findings import Phase, Place, Seat, Sighting

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


asking: ContextVar[Turn | None] = ContextVar("scoped_registration.testing.asking", default=None)
"""The turn that the running task serves, as far as tasks inherit their context."""

# What stands there has arrived; what is stored has not come back yet.
_ARRIVES = frozenset({Place.MODEL_INPUT, Place.PROVIDER_CONVERSATION})


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
        self._turns: list[Turn] = []
        self._under_way: set[Turn] = set()
        self._arrived: set[tuple[Turn, Turn]] = set()
        self._seen: Counter[tuple[Seat, Seat, Place, Phase]] = Counter()
        self._own: Counter[Place] = Counter()

    def begin(self, turn: Turn) -> None:
        """A request is sent."""
        self._under_way.add(turn)
        if turn.canary:
            self._turns.append(turn)

    def end(self, turn: Turn) -> None:
        """A request has been answered."""
        self._under_way.discard(turn)

    def heard(self, place: Place, text: str) -> None:
        """Something was recorded inside the application."""
        found = self._found(text)
        if not found:
            return
        caller = asking.get()
        if caller is None or caller not in self._under_way:
            caller = next((turn for turn in reversed(found) if turn in self._under_way), found[-1])
        self._see(caller, found, place)
        if place in _ARRIVES:
            self._arrived.update((caller, turn) for turn in found)

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

    def arrived(self, turn: Turn, *, of: Turn) -> bool:
        """Say whether the text of a turn was there when another, or itself, was answered."""
        return (turn, of) in self._arrived

    def holds(self, text: str, turn: Turn) -> bool:
        """Say whether a text holds what a turn said."""
        return turn in self._found(text)

    def sightings(self) -> tuple[Sighting, ...]:
        """Return who saw whose text, what crosses principals first."""
        seen = [Sighting(*key, times) for key, times in self._seen.items()]
        return tuple(sorted(seen, key=lambda it: it.seer.principal == it.owner.principal))

    def observed(self) -> tuple[tuple[Place, int], ...]:
        """Return where texts were seen on the thread to which they belong."""
        return tuple((place, self._own[place]) for place in Place if self._own[place])

    def _found(self, text: str) -> list[Turn]:
        """Return the turns whose canaries a text holds, by the last place of each."""
        text = text.lower()
        places = [(text.rfind(turn.canary), number) for number, turn in enumerate(self._turns)]
        return [self._turns[number] for place, number in sorted(places) if place >= 0]

    def _see(self, seer: Turn, found: list[Turn], place: Place) -> None:
        for turn in found:
            if turn.seat == seer.seat:
                self._own[place] += 1
            elif not self._may_see(seer.seat, turn.seat):
                self._seen[seer.seat, turn.seat, place, seer.phase] += 1

    def _may_see(self, seer: Seat, owner: Seat) -> bool:
        return self._threads_share and seer.principal == owner.principal
