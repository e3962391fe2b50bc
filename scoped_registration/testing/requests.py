"""Requests that a probe sends: what a route wants to be told, and how its answer is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

import attrs

from scoped_registration.manifest import Json
from scoped_registration.testing.streams import events_of

__all__ = [
    "AGUIRoute",
    "AGUIRouteWithSnapshots",
    "JSONRoute",
    "Reading",
    "ReadsThreads",
    "Request",
    "RequestMaker",
    "Response",
    "Say",
]


@attrs.frozen
class Say:
    """What one principal says on one thread.

    Attributes:
        text: The canary; the request must hold it as it is.
        thread: The id of the thread.
        message_id: An id that no other message has.
        principal: The principal's label, for applications that headers alone do not tell
            apart.
    """

    text: str
    thread: str
    message_id: str
    principal: str


@attrs.frozen
class Request:
    """A request, without what tells its principal: the probe adds the principal's headers.

    Attributes:
        method: The HTTP method.
        path: The path, with a query if there is one.
        json: The body; None for a request without one.
        headers: Headers that every principal sends.
    """

    method: str
    path: str
    json: Json = None
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])


@attrs.frozen
class Response:
    """An answer, read to its end.

    Attributes:
        status: The HTTP status.
        text: The body.
        headers: The headers, by lower-case names.
    """

    status: int
    text: str
    headers: tuple[tuple[str, str], ...] = ()


@attrs.frozen
class Reading:
    """What a principal gets to read in an answer.

    Attributes:
        text: The text, put together from the parts that the answer came in.
        failure: Why this is no answer, though its status says so; None if it is one. It
            stands in the report, so it must not quote what a principal sent.
    """

    text: str
    failure: str | None = None


class RequestMaker(Protocol):
    """Knows a route. Write one for an application that neither class here fits.

    Example:
        ```python
        class Search:
            def request(self, say: Say) -> Request:
                return Request("GET", f"/search?session={say.thread}&q={say.text}")

            def read(self, response: Response) -> Reading:
                return Reading(response.text)
        ```
    """

    def request(self, say: Say) -> Request:
        """Return the request that says something on a thread."""
        ...

    def read(self, response: Response) -> Reading:
        """Read an answer whose status is 2xx."""
        ...


@runtime_checkable
class ReadsThreads(Protocol):
    """What a request maker has besides, if a thread can be read without saying anything.

    The probe then reads each principal's thread as its owner, who must see what they said,
    and as another principal.

    Example:
        ```python
        class Transcripts(JSONRoute):
            def look(self, say: Say) -> Request:
                return Request("GET", f"/chat/{say.thread}")
        ```
    """

    def look(self, say: Say) -> Request:
        """Return the request that reads a thread. The text is empty."""
        ...


@attrs.frozen
class JSONRoute:
    """A route that takes JSON, or no body, and answers with text.

    `{thread}`, `{text}`, `{message_id}` and `{principal}` stand for what is said, in the path
    and in the strings of the body.

    Attributes:
        path: The path, with a query if there is one.
        json: The body; None for none.
        method: The HTTP method.

    Raises:
        ValueError: Another name in braces, which would be sent as it stands.

    Example:
        ```python
        JSONRoute("/chat/{thread}", json={"text": "{text}"})
        JSONRoute("/chat/{thread}?text={text}")
        ```
    """

    path: str
    json: Json = None
    method: str = "POST"

    def __attrs_post_init__(self) -> None:
        unknown = set(re.findall(r"{(\w+)}", f"{self.path}{self.json}")) - _PLACEHOLDERS
        if unknown:
            raise ValueError(
                f"JSONRoute knows no {{{min(unknown)}}}; what it fills in is "
                + ", ".join(f"{{{name}}}" for name in sorted(_PLACEHOLDERS))
            )

    def request(self, say: Say) -> Request:
        """Return the request that says something on a thread."""
        return Request(self.method, _filled(self.path, say), _filled_json(self.json, say))

    def read(self, response: Response) -> Reading:
        """Read an answer: all of it is text."""
        return Reading(response.text)


_PLACEHOLDERS = frozenset({"message_id", "principal", "text", "thread"})


def _filled(template: str, say: Say) -> str:
    values: dict[str, str] = attrs.asdict(say)
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _filled_json(template: Json, say: Say) -> Json:
    match template:
        case str():
            return _filled(template, say)
        case list():
            return [_filled_json(item, say) for item in template]
        case dict():
            return {key: _filled_json(value, say) for key, value in template.items()}
        case _:
            return template


@attrs.frozen
class AGUIRoute:
    """An AG-UI endpoint, such as the agent-framework serves.

    Each request holds one new message, as for an application that keeps the conversation.
    An answer whose stream has a `RUN_ERROR`, or does not end with `RUN_FINISHED`, is none.

    Attributes:
        path: The endpoint's path.

    Example:
        ```python
        AGUIRoute("/support")
        ```
    """

    path: str = "/"

    def request(self, say: Say) -> Request:
        """Return the request that says something on a thread."""
        message: Json = {"id": say.message_id, "role": "user", "content": say.text}
        return self.run(say, [message])

    def read(self, response: Response) -> Reading:
        """Put the streamed parts of each message together."""
        try:
            events = list(events_of(response.text))
        except ValueError:
            return Reading("", "the answer is no stream of AG-UI events")
        text = "".join(str(event.get("delta", "")) for event in events)
        for event in events:
            if event.get("type") == "RUN_ERROR":
                code = str(event.get("code", ""))
                # The name of an error, and nothing that could be anybody's secret.
                known = re.fullmatch(r"[A-Za-z_]{1,64}", code)
                return Reading(text, f"RUN_ERROR {code}" if known else "RUN_ERROR")
        if not events or events[-1].get("type") != "RUN_FINISHED":
            return Reading(text, "the stream does not end with RUN_FINISHED")
        return Reading(text)

    def run(self, say: Say, messages: list[Json], **more: Json) -> Request:
        """Return the request that begins a run.

        Args:
            say: On which thread; the text is not looked at.
            messages: The new messages, as the protocol has them.
            more: Other keys of the body.
        """
        body: dict[str, Json] = {
            "threadId": say.thread,
            "runId": say.message_id,
            "messages": messages,
            "state": {},
            "tools": [],
            "context": [],
            "forwardedProps": {},
            **more,
        }
        return Request("POST", self.path, body, {"accept": "text/event-stream"})


@attrs.frozen
class AGUIRouteWithSnapshots(AGUIRoute):
    """An AG-UI endpoint with a snapshot store: a run without messages shows the thread.

    Example:
        ```python
        AGUIRouteWithSnapshots("/support")
        ```
    """

    def look(self, say: Say) -> Request:
        """Return the request that reads a thread."""
        return self.run(say, [])


def messages_in(body: Json) -> Iterator[tuple[str, str]]:
    """Yield the id of each message in a body, and the message as text.

    A message is an object in a list that is called `messages`.
    """
    match body:
        case dict():
            for name, value in body.items():
                if name == "messages" and isinstance(value, list):
                    for item in value:
                        if isinstance(item, dict) and isinstance(item.get("id"), str):
                            yield str(item["id"]), json.dumps(item)
                yield from messages_in(value)
        case list():
            for item in body:
                yield from messages_in(item)
        case _:
            return
