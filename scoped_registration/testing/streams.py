"""Answers that come in parts: events of a stream, and the texts that are spread over them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import cast

from scoped_registration.manifest import Json

__all__ = ["events_of", "put_together"]


def events_of(body: str) -> Iterator[dict[str, Json]]:
    """Yield the events of a stream of server-sent events that are JSON objects.

    Raises:
        ValueError: An event is none.
    """
    for line in body.splitlines():
        if line.startswith("data:"):
            event: object = _loads(line.removeprefix("data:"))
            if not isinstance(event, dict):
                raise ValueError("an event is an object")
            yield cast(dict[str, Json], event)


def put_together(body: str) -> str:
    """Return the texts that are spread over the lines of a body, whatever its format.

    Those which stand at the same place of each line belong together; and once more, those
    in lines that are equal otherwise, since the parts of two texts may take turns.
    """
    texts: defaultdict[object, list[str]] = defaultdict(list)
    for line in body.splitlines():
        said = line.removeprefix("data:").removeprefix(" ")
        try:
            leaves = list(_leaves(_parsed(said), ()))
        except RecursionError:  # nested so deeply that it is no event of anybody's
            leaves = [((), said)]
        strings = [(place, leaf) for place, leaf in leaves if isinstance(leaf, str)]
        for place, text in strings:
            others = tuple((at, leaf) for at, leaf in leaves if at != place)
            texts[place].append(text)
            texts[place, others].append(text)
    return "\n".join("".join(parts) for parts in texts.values())


def _loads(text: str) -> Json:
    try:
        return cast(Json, json.loads(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parsed(line: str) -> Json:
    """Return what a line holds as JSON: not a number, which could be a part of a word."""
    try:
        value = _loads(line)
    except ValueError:
        return line
    return value if isinstance(value, dict | list | str) else line


def _leaves(value: Json, place: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], Json]]:
    match value:
        case dict():
            for name, item in value.items():
                yield from _leaves(item, (*place, name))
        case list():
            for number, item in enumerate(value):
                yield from _leaves(item, (*place, number))
        case _:
            yield place, value
