"""Request makers: what they send, and what they read."""

from __future__ import annotations

import json

import pytest

from scoped_registration.manifest import Json
from scoped_registration.testing import AGUIRoute, AGUIRouteWithSnapshots, JSONRoute
from scoped_registration.testing.requests import (
    Reading,
    ReadsThreads,
    Request,
    Response,
    Say,
    messages_in,
)

SAY = Say("canary1", "thread-1", "message-1", "p1")


def test_placeholders_are_filled_in_the_path_and_in_the_body() -> None:
    route = JSONRoute(
        "/{thread}?q={text}",
        json={"id": "{message_id}", "parts": [{"text": "say {text}"}, 1, None]},
        method="PUT",
    )
    body: Json = {"id": "message-1", "parts": [{"text": "say canary1"}, 1, None]}
    assert route.request(SAY) == Request("PUT", "/thread-1?q=canary1", body)
    assert route.read(Response(200, "all of it")) == Reading("all of it")


def test_an_agui_request_has_one_new_message() -> None:
    request = AGUIRoute("/support").request(SAY)
    assert (request.method, request.path) == ("POST", "/support")
    body = json.loads(json.dumps(request.json))
    assert body["threadId"] == "thread-1"
    assert body["messages"] == [{"id": "message-1", "role": "user", "content": "canary1"}]
    assert not isinstance(AGUIRoute(), ReadsThreads)
    look = AGUIRouteWithSnapshots("/support").look(SAY)
    assert json.loads(json.dumps(look.json))["messages"] == []


def stream(*events: object) -> Response:
    return Response(200, "".join(f"data: {json.dumps(event)}\n\n" for event in events))


FINISHED = {"type": "RUN_FINISHED"}
PARTS = [{"type": "TEXT_MESSAGE_CONTENT", "delta": part} for part in ("can", "ary", "1")]


@pytest.mark.parametrize(
    ("response", "reading"),
    [
        (stream(*PARTS, FINISHED), Reading("canary1")),
        (
            stream(PARTS[0], {"type": "RUN_ERROR", "code": "WorkflowException"}),
            Reading("can", "RUN_ERROR WorkflowException"),
        ),
        (stream({"type": "RUN_ERROR", "code": "sk-live-4711"}, FINISHED), Reading("", "RUN_ERROR")),
        (stream({"type": "RUN_ERROR"}), Reading("", "RUN_ERROR")),
        (stream(*PARTS), Reading("canary1", "the stream does not end with RUN_FINISHED")),
        (Response(200, ""), Reading("", "the stream does not end with RUN_FINISHED")),
        (Response(200, "data: {"), Reading("", "the answer is no stream of AG-UI events")),
        (stream("text"), Reading("", "the answer is no stream of AG-UI events")),
    ],
)
def test_an_agui_answer_is_put_together(response: Response, reading: Reading) -> None:
    assert AGUIRoute().read(response) == reading


def test_messages_are_found_wherever_they_stand() -> None:
    body = {"run": [{"messages": [{"id": "1", "content": "a"}, {"content": "b"}, "c"]}], "id": "2"}
    assert list(messages_in(json.loads(json.dumps(body)))) == [("1", '{"id": "1", "content": "a"}')]
    assert list(messages_in({"messages": "none"})) == []
    assert list(messages_in(None)) == []


def test_a_name_that_is_not_filled_in_is_refused() -> None:
    with pytest.raises(ValueError, match=r"knows no {thread_id}; .* {thread}"):
        JSONRoute("/chat/{thread_id}?text={text}")
    with pytest.raises(ValueError, match=r"knows no {user}"):
        JSONRoute("/chat", json={"text": ["{text}", {"from": "{user}"}]})
