"""The five requests: alice/A, bob/B, alice/A2, bob/A, alice/A, and what each put before the model.

They go through the isolation kit: its chat client and stores tell what reaches the model and
what is stored, its route makes the requests and reads the streams. Each message has an id of
its own, since the framework's history drops repeated ids, which would hide a leak.
"""

from __future__ import annotations

import uuid
from collections import defaultdict

import attrs
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration.manifest import Json
from scoped_registration.testing import AGUIRoute, Recorder
from scoped_registration.testing.findings import Place
from scoped_registration.testing.recorders import Call
from scoped_registration.testing.requests import Request, Response, Say
from tests.integrations.agent_framework.kit import Client, client_of

__all__ = ["FIVE", "USERS", "Played", "SaidTwice", "play"]

USERS = [{"x-user": "alice"}, {"x-user": "bob"}]
FIVE = [("alice", "A"), ("bob", "B"), ("alice", "A2"), ("bob", "A"), ("alice", "A")]
_BOB_IN_HER_THREAD, _ALICE_AGAIN = 3, 4


class SaidTwice(AGUIRoute):
    """An AG-UI route whose caller is named in the body too: some resolvers look only there."""

    @override
    def request(self, say: Say) -> Request:
        message: Json = {"id": say.message_id, "role": "user", "content": say.text}
        return self.run(say, [message], forwardedProps={"user": say.principal})


def _marker(number: int) -> str:
    user, thread = FIVE[number]
    return f"SECRET-{number}-{user}-{thread}."


@attrs.frozen
class Turn:
    """One of the five requests, answered.

    Attributes:
        number: Which one, from 0.
        failure: Why this is no answer; None if it is one.
        model: All that the model was sent, and what its provider had kept of it.
        rows: All that was written to a store of the framework's protocols.
    """

    number: int
    failure: str | None
    model: str
    rows: str

    def saw(self, number: int) -> bool:
        """Tell whether what a request said was before the model."""
        return _marker(number) in self.model

    @property
    def stored(self) -> set[int]:
        """Whose texts stand in the rows that it wrote."""
        return {number for number in range(len(FIVE)) if _marker(number) in self.rows}


@attrs.frozen
class Played:
    """The five requests."""

    turns: tuple[Turn, ...]

    @property
    def refused(self) -> frozenset[int]:
        """Which requests were not served."""
        return frozenset(turn.number for turn in self.turns if turn.failure is not None)

    @property
    def unseen(self) -> list[int]:
        """The positive control: whose own text did not reach the model, though it was served."""
        return [it.number for it in self.turns if it.failure is None and not it.saw(it.number)]

    @property
    def between_principals(self) -> list[tuple[int, int]]:
        """Which request's model call held a text of another principal, and of which request."""
        return [
            (turn.number, number)
            for turn in self.turns
            for number, (user, _) in enumerate(FIVE)
            if user != FIVE[turn.number][0] and turn.saw(number)
        ]

    @property
    def between_threads(self) -> list[tuple[int, int]]:
        """Likewise of a text of another thread, whoever had said it."""
        return [
            (turn.number, number)
            for turn in self.turns
            for number, (_, thread) in enumerate(FIVE)
            if thread != FIVE[turn.number][1] and turn.saw(number)
        ]

    @property
    def stored_between_principals(self) -> list[tuple[int, int]]:
        """Which request wrote a text of another principal to a store."""
        return [
            (turn.number, number)
            for turn in self.turns
            for number in sorted(turn.stored)
            if FIVE[number][0] != FIVE[turn.number][0]
        ]

    @property
    def bob_sees_her_thread(self) -> bool:
        """Whether bob on thread A is told what alice had said there."""
        return self.turns[_BOB_IN_HER_THREAD].saw(0)

    @property
    def bob_sees_her_other_thread(self) -> bool:
        """Whether bob on thread B is told what alice had said on A."""
        return self.turns[1].saw(0)

    @property
    def alice_continues(self) -> bool:
        """Whether alice's second turn on thread A knows the first."""
        return self.turns[_ALICE_AGAIN].saw(0)


class _Hearing:
    """Listens to a recorder, as the kit's probe does. The model here has a server-side memory."""

    def __init__(self) -> None:
        self.model: list[str] = []
        self.rows: list[str] = []
        self._provider: defaultdict[str, list[str]] = defaultdict(list)

    def heard(self, place: Place, text: str) -> None:
        self.rows.append(text)

    def called(self, call: Call) -> None:
        texts = [*call.texts]
        if call.conversation is not None:
            # A provider puts what it keeps under that id before what it is sent.
            self._provider[call.conversation] += texts
            texts = self._provider[call.conversation]
        self.model += texts

    def kept(self, conversation: str, text: str, continues: str | None) -> None:
        before = [] if continues is None else self._provider[continues]
        self._provider[conversation] = [*before, text]

    async def hold(self) -> None:
        """Requests come one by one: none is kept waiting."""


async def play(app: FastAPI, recorder: Recorder) -> Played:
    """Send the five requests, each answer read to its end."""
    turns: list[Turn] = []
    hearing = _Hearing()
    with recorder.heard_by(hearing):
        async with client_of(app) as client:
            for number, (user, thread) in enumerate(FIVE):
                hearing.model, hearing.rows = [], []
                say = Say(_marker(number), thread, uuid.uuid4().hex, user)
                failure = await _ask(client, say)
                turns.append(
                    Turn(number, failure, "\n".join(hearing.model), "\n".join(hearing.rows))
                )
    return Played(tuple(turns))


async def _ask(client: Client, say: Say) -> str | None:
    """Say something; return why there is no answer, or None."""
    route = SaidTwice("/")
    request = route.request(say)
    headers = {**request.headers, "x-user": say.principal}
    answer = await client.http.post(request.path, headers=headers, json=request.json)
    if not answer.is_success:
        return f"status {answer.status_code}"
    return route.read(Response(answer.status_code, answer.text)).failure
