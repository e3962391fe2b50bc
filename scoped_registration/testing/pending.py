"""Questions to a person: how an application is made to ask one, and how it is answered."""

from __future__ import annotations

from typing import Protocol

import attrs

from scoped_registration.manifest import Json
from scoped_registration.testing.requests import AGUIRoute, Request, Response, Say
from scoped_registration.testing.streams import events_of

__all__ = ["AGUIPending", "Pending"]


class Pending(Protocol):
    """Knows how an application comes to wait for a person, and how it learns the answer.

    Example:
        ```python
        class Refunds:
            def open(self, say: Say) -> Request:
                return Request("POST", f"/chat/{say.thread}?text=refund {say.text}")

            def is_open(self, response: Response) -> bool:
                return response.status == 202

            def answer(self, say: Say, response: Response) -> Request:
                return Request("POST", f"/chat/{say.thread}/approval", {"approved": True})
        ```
    """

    def open(self, say: Say) -> Request:
        """Return the request after which the application waits for a person."""
        ...

    def is_open(self, response: Response) -> bool:
        """Say whether its answer leaves a question open."""
        ...

    def answer(self, say: Say, response: Response) -> Request:
        """Return the request that answers the question. Another principal sends it as well."""
        ...


@attrs.frozen
class AGUIPending:
    """Questions of an AG-UI endpoint: runs that end with an interrupt.

    Attributes:
        says: What a user says so that the application asks a person. `{text}` stands for the
            text of the probe.
        answers: The payload that answers each interrupt.
        path: The endpoint's path.

    Raises:
        ValueError: `says` has no `{text}`.

    Example:
        ```python
        AGUIPending("refund {text}", answers={"approved": True}, path="/support")
        ```
    """

    says: str
    answers: Json
    path: str = "/"

    def __attrs_post_init__(self) -> None:
        if "{text}" not in self.says:
            raise ValueError("what is said needs {text}, or nobody could tell whose it is")

    def open(self, say: Say) -> Request:
        """Return the request after which the application waits for a person."""
        text = self.says.replace("{text}", say.text)
        return AGUIRoute(self.path).request(attrs.evolve(say, text=text))

    def is_open(self, response: Response) -> bool:
        """Say whether the run has ended with an interrupt."""
        return bool(_interrupts(response))

    def answer(self, say: Say, response: Response) -> Request:
        """Return the request that answers each interrupt of a run."""
        resume: list[Json] = [
            {"interruptId": interrupt, "status": "resolved", "payload": self.answers}
            for interrupt in _interrupts(response)
        ]
        return AGUIRoute(self.path).run(say, [], resume=resume)


def _interrupts(response: Response) -> list[Json]:
    """Return the ids of the interrupts with which a run has ended."""
    try:
        *_, last = events_of(response.text)
    except ValueError:  # no events, or no event at all
        return []
    match last.get("outcome"):
        case {"interrupts": list(interrupts)}:
            return [it["id"] for it in interrupts if isinstance(it, dict) and "id" in it]
        case _:
            return []
