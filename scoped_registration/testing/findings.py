"""What a probe can find: verdicts, places, controls, and who saw whose text."""

from __future__ import annotations

from enum import StrEnum

import attrs
from typing_extensions import override

__all__ = [
    "Control",
    "Failure",
    "Foreign",
    "Overlap",
    "Phase",
    "Place",
    "Seat",
    "Sighting",
    "Verdict",
]


class Verdict(StrEnum):
    """What a probe says.

    Attributes:
        ISOLATED: Nobody saw another's text, and every control held.
        LEAK: Somebody saw another's text.
        INCONCLUSIVE: Nobody did, but a control failed: it might not have been seen.

    Example:
        ```python
        assert (await probe_isolation(app, route, users)).verdict is Verdict.ISOLATED
        ```
    """

    ISOLATED = "isolated"
    LEAK = "leak"
    INCONCLUSIVE = "inconclusive"


class Place(StrEnum):
    """Where a text was seen."""

    MODEL_INPUT = "model input"
    PROVIDER_CONVERSATION = "provider conversation"
    OUTPUT = "output"
    SNAPSHOT = "snapshot"
    CHECKPOINT = "checkpoint"


class Phase(StrEnum):
    """Which part of the probe a request belongs to, in order."""

    FIRST = "first turn"
    FOREIGN = "another's thread"
    SECOND = "second turn"
    OVERLAP = "overlapping turn"
    LAST = "turn after the overlap"


class Control(StrEnum):
    """What must hold, or the absence of a leak says nothing."""

    LIFESPAN = "the application starts and ends"
    PRINCIPALS = "the principals' headers differ"
    MESSAGE_IDS = "each message has an id of its own"
    ANSWERED = "the request is answered"
    OWN_TEXT = "own text arrives"
    CONTINUITY = "the turn before is remembered"
    OWN_SNAPSHOT = "the own thread can be read"


@attrs.frozen
class Seat:
    """A principal on a thread, by their labels.

    Attributes:
        principal: `p1`, `p2` and so on, in the order in which principals were given.
        thread: The thread's label, with the principal who began it: `p1/t1`.
    """

    principal: str
    thread: str

    @override
    def __str__(self) -> str:
        own = self.thread.startswith(f"{self.principal}/")
        return self.thread if own else f"{self.principal} on {self.thread}"


@attrs.frozen(order=False)
class Sighting:
    """One principal saw a text of another, or of another thread.

    Attributes:
        seer: Whose request or record it was.
        owner: Who had sent the text.
        place: Where it was seen.
        phase: The phase of the seer's request.
        times: How often.
    """

    seer: Seat
    owner: Seat
    place: Place
    phase: Phase
    times: int


@attrs.frozen
class Failure:
    """A control that did not hold.

    Attributes:
        control: Which one.
        why: What was seen instead.
        seat: Whose request; None where it concerns them all.
        phase: The phase of the request, if it concerns one.
    """

    control: Control
    why: str
    seat: Seat | None = None
    phase: Phase | None = None


@attrs.frozen
class Overlap:
    """How many requests were under way at once.

    Attributes:
        asked: How many were sent at once.
        together: How many of them waited in the application at the same moment.
        at: Where they were counted: at the model if calls of it are recorded.
    """

    asked: int
    together: int
    at: str

    @override
    def __str__(self) -> str:
        together = f"{self.together} of {self.asked} requests were {self.at} at once"
        if self.together == self.asked:
            return together
        return f"{together}; the application did not let them all overlap"


@attrs.frozen
class Foreign:
    """How requests that use another principal's thread id were answered.

    Attributes:
        asked: How many were sent.
        served: How many were answered like any other; the rest were refused.
    """

    asked: int
    served: int
