"""What holds of every stream of events, whatever happened in its run."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from tests.integrations.agent_framework.kit import Answer

TERMINAL = frozenset({"RUN_FINISHED", "RUN_ERROR"})
_OF_A_CALL = frozenset({"TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"})
_OF_A_TEXT = frozenset({"TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"})


@attrs.define
class _Seen:
    calls: list[str] = attrs.field(factory=list[str])
    texts: list[str] = attrs.field(factory=list[str])
    problems: list[str] = attrs.field(factory=list[str])


def problems_of(answer: Answer, *, answers: Iterable[str] = ()) -> list[str]:
    """Return what is wrong with a stream that was read to its end.

    Args:
        answer: The stream.
        answers: Calls of an earlier run that this run was asked to go on with: their results
            belong to it.
    """
    types = answer.types
    seen = _Seen(calls=[*answers])
    ends = [kind for kind in types if kind in TERMINAL]
    if len(ends) != 1:
        seen.problems.append(f"ends {len(ends)} times")
    if types and types[-1] not in TERMINAL and not _is_last_status(answer.events[-2:]):
        seen.problems.append(f"goes on after its end with {types[-1]}")
    if types[:1] not in (["RUN_STARTED"], ["RUN_ERROR"]):
        seen.problems.append(f"begins with {types[:1]}")
    if types.count("RUN_STARTED") > 1:
        seen.problems.append("starts twice")
    for event in answer.events:
        _look_at(event, seen)
    return seen.problems


def end_of(answer: Answer) -> str:
    """Return the one event that ends a stream."""
    (end,) = (kind for kind in answer.types if kind in TERMINAL)
    return end


def _is_last_status(events: list[dict[str, object]]) -> bool:
    """Tell a workflow that failed: the framework says so once more, after RUN_ERROR."""
    return [event["type"] for event in events] == ["RUN_ERROR", "CUSTOM"] and (
        events[-1].get("name") == "status"
    )


def _look_at(event: dict[str, object], seen: _Seen) -> None:
    kind, call, text = event["type"], str(event.get("toolCallId")), str(event.get("messageId"))
    if kind == "TOOL_CALL_START":
        if call in seen.calls:
            seen.problems.append(f"call {call} starts twice")
        if not event["toolCallName"]:
            seen.problems.append(f"call {call} has no name")
        seen.calls.append(call)
    elif kind in _OF_A_CALL and call not in seen.calls:
        seen.problems.append(f"{kind} of a call that this run did not start: {call}")
    elif kind == "TEXT_MESSAGE_START":
        seen.texts.append(text)
    elif kind in _OF_A_TEXT and text not in seen.texts:
        seen.problems.append(f"{kind} of a text that this run did not start: {text}")
