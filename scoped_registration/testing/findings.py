"""What a probe can find: verdicts, places, controls, and who saw whose text."""

from __future__ import annotations

from enum import StrEnum

import attrs
from typing_extensions import override

__all__ = [
    "Blocked",
    "Control",
    "Failure",
    "Foreign",
    "Meanwhile",
    "Overlap",
    "Phase",
    "Place",
    "Questions",
    "Repetition",
    "Seat",
    "Sighting",
    "Verdict",
]


class Verdict(StrEnum):
    """What a probe says.

    Attributes:
        ISOLATED: Nobody saw another's text or got at what is another's, nobody was refused
            because of another, and every control held.
        LEAK: Somebody saw, got or was.
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
    """Where a text was seen, or what else was another's.

    Attributes:
        MODEL_INPUT: A text in a call of the model.
        PROVIDER_CONVERSATION: A text that the provider keeps under the conversation id with
            which the model was called.
        OUTPUT: A text in an answer, its headers included.
        SNAPSHOT: A text in a stored snapshot.
        CHECKPOINT: A text in a stored checkpoint.
        SESSION: The object that keeps the conversation of a call of the model.
        SESSION_ID: That object's id.
        ORIGIN: A message in a call of the model that names a session as its origin.
        QUESTION: A question to a person, which its owner could not answer any more.
    """

    MODEL_INPUT = "model input"
    PROVIDER_CONVERSATION = "provider conversation"
    OUTPUT = "output"
    SNAPSHOT = "snapshot"
    CHECKPOINT = "checkpoint"
    SESSION = "session"
    SESSION_ID = "session id"
    ORIGIN = "origin of a message"
    QUESTION = "open question"


class Phase(StrEnum):
    """Which part of the probe a request belongs to, in order."""

    FIRST = "first turn"
    FOREIGN = "another's thread"
    REPLAY = "another's message id"
    SECOND = "second turn"
    OVERLAP = "overlapping turn"
    MEANWHILE = "turn while another's is under way"
    LAST = "turn after the overlap"
    QUESTION = "turn while a question is open"


class Control(StrEnum):
    """What must hold, or the absence of a leak says nothing."""

    LIFESPAN = "the application starts and ends"
    PRINCIPALS = "the principals' headers differ"
    MESSAGE_IDS = "each message has an id of its own"
    ANSWERED = "the request is answered"
    OWN_TEXT = "own text arrives"
    CONTINUITY = "the turn before is remembered"
    OWN_SNAPSHOT = "the own thread can be read"
    ORIGINS = "each origin is a session that was seen"
    QUESTION = "a question is open, and its owner can answer it"


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
    """One principal saw a text of another, or of another thread, or got at what is theirs.

    Attributes:
        seer: Whose request or record it was.
        owner: Who had sent the text, or had the thing first.
        place: Where the text was seen, or what else it was.
        phase: The phase of the seer's request.
        times: How often.
    """

    seer: Seat
    owner: Seat
    place: Place
    phase: Phase
    times: int


@attrs.frozen
class Blocked:
    """One principal was refused because of another, or of another thread.

    What it asked is served at any other time.

    Attributes:
        seat: Who was refused.
        by: Whose request was under way then, or to whom a question was open.
        phase: Which of both: `MEANWHILE` or `QUESTION`.
        why: How it was refused.
    """

    seat: Seat
    by: Seat
    phase: Phase
    why: str

    @override
    def __str__(self) -> str:
        then = "a question to {} was open" if self.phase is Phase.QUESTION else "{} was under way"
        return f"{self.seat} was refused while {then.format(self.by)}: {self.why}"


@attrs.frozen
class Repetition:
    """A text of one's own stood more than once in one call of the model. It is no leak.

    Attributes:
        seat: Whose call it was.
        phase: The phase of the call.
        times: In how many calls.
    """

    seat: Seat
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


@attrs.frozen
class Meanwhile:
    """How requests were answered while another principal's request was under way.

    Attributes:
        asked: How many requests were to be held under way.
        held: How many of them the application let be held, in its model or in its answer.
        waited: For how many of these the other request got no answer until they went on.
    """

    asked: int
    held: int
    waited: int

    @override
    def __str__(self) -> str:
        held = f"{self.held} of {self.asked} requests were held under way"
        return f"{held}; {self.waited} of them kept another principal waiting"


@attrs.frozen
class Questions:
    """What became of questions to a person.

    Attributes:
        asked: How many principals let the application ask one.
        open: To how many of them it was open while the others spoke.
        served: How many answers of another principal were served like any other; the rest
            were refused.
    """

    asked: int
    open: int
    served: int

    @override
    def __str__(self) -> str:
        return f"{self.open} of {self.asked} open; {self.served} answers of another served"
