"""Paths: how a reader finds a shared object, spelt much as Python spells the way to it.

They are computed only when something is shared. A key of a mapping is data, and may name a
principal: it is shown only where it holds none of the texts that the caller names.
"""

from __future__ import annotations

import collections
import contextvars
import functools
import gc
import itertools
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from scoped_registration.verification.classes import (
    class_name,
    is_one,
    members_of,
    own_dict,
    partial_parts,
)
from scoped_registration.verification.kinds import VIEWS

__all__ = ["Hides", "path_to", "type_name"]

Hides = Callable[[str], bool]
"""Tells whether a text must not be shown."""

_LONGEST_KEY = 80
_MOST_BITS = 64
_MOST_STEPS = 20  # from either end
_UNNAMED = ".<...>"
_BOUND = (types.BuiltinFunctionType, types.MethodWrapperType)
_ARGUMENTS: Any = vars(BaseException)["args"]  # Any: what a class may not hide
_SEQUENCES: tuple[Any, ...] = (list, tuple, collections.deque)
_FRAMES: dict[type, str] = {
    types.GeneratorType: "gi_frame",
    types.CoroutineType: "cr_frame",
    types.AsyncGeneratorType: "ag_frame",
}


def type_name(value: object) -> str:
    """Return the qualified name of a value's class, whatever its metaclass says."""
    module, name = class_name(type(value))
    return name if module == "builtins" else f"{module}.{name}"


def path_to(
    value: object, parents: Mapping[int, object], root: object, name: str | None, hides: Hides
) -> str:
    """Return the way from a root to an object that a walk met.

    Args:
        value: Where the path leads.
        parents: The parents that the walk recorded.
        root: Where the walk began.
        name: What to call the root; by default its class, spelt as a variable.
        hides: Tells of a key or an attribute whether it must not be shown.
    """
    chain = [value]
    while chain[-1] is not root:
        chain.append(parents[id(chain[-1])])
    chain.reverse()
    text = root_name(root) if name is None else name
    inside = False  # the last object is the __dict__ of the one before it
    far = len(chain) - 1 - 2 * _MOST_STEPS
    for index, (parent, child) in enumerate(itertools.pairwise(chain)):
        if 0 <= index - _MOST_STEPS < far:
            text += f".<{far} steps>" if index == _MOST_STEPS else ""
            inside = False
            continue
        if not inside and type(child) is dict and child is own_dict(parent):
            inside = True
            continue
        steps = (
            _attributes(cast("dict[object, object]", parent), hides)
            if inside
            else _steps(parent, hides)
        )
        text += next((step for part, step in steps if part is child), _UNNAMED)
        inside = False
    return f"{text}.__dict__" if inside else text


def root_name(root: object) -> str:
    """Return what to call a product whose owner has not named it."""
    name = class_name(type(root))[1].rpartition(".")[2]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


_Steps = Iterator[tuple[object, str]]
"""Parts of an object, each with the text that leads from the object to it."""


def _steps(parent: object, hides: Hides) -> _Steps:
    cls = type(parent)
    yield from _in_builtin(parent, cls)
    if is_one(cls, (functools.partial,)):
        _, arguments, keywords = partial_parts(parent)
        yield from _items(arguments, ".args")
        yield from _values(keywords, hides, ".keywords")
    if is_one(cls, VIEWS):
        (viewed,) = gc.get_referents(parent)
        yield viewed, ""
        yield from _steps(viewed, hides)
    yield from _attributes(own_dict(parent) or {}, hides)
    yield from _in_slots(parent, hides)
    if issubclass(cls, dict):
        yield from _values(cast(Any, parent), hides)
    if issubclass(cls, (set, frozenset)):
        yield from ((part, "{...}") for part in gc.get_referents(parent))
    for sequence in _SEQUENCES:
        if issubclass(cls, sequence):
            yield from _items(sequence.__iter__(parent))


def _in_builtin(parent: object, cls: type) -> _Steps:
    if cls is types.FunctionType:
        yield from _in_function(cast(types.FunctionType, parent))
    elif cls is contextvars.Context:
        for variable, held in cast(contextvars.Context, parent).items():
            yield held, f"[<{variable.name}>]"
    elif cls is types.CellType:
        yield from ((part, "") for part in gc.get_referents(parent))
    elif is_one(cls, tuple(_FRAMES)):
        frame = getattr(parent, _FRAMES[cls])
        for name, held in ({} if frame is None else dict(frame.f_locals)).items():
            yield held, f".<local {name}>"
    elif is_one(cls, _BOUND):
        yield cast(types.BuiltinFunctionType, parent).__self__, ".__self__"
    elif issubclass(cls, BaseException):
        yield _ARGUMENTS.__get__(parent), ".args"


def _in_function(function: types.FunctionType) -> _Steps:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield cell, f".<closure {name}>"
    defaults = function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    for name, held in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
        yield held, f".<default {name}>"
    for name, held in (function.__kwdefaults__ or {}).items():
        yield held, f".<default {name}>"


def _in_slots(parent: object, hides: Hides) -> _Steps:
    for name, member in members_of(type(parent)):
        try:
            held: object = member.__get__(parent)
        except AttributeError:  # a slot that is empty
            continue
        yield held, f".{name}"
        if name == "__pydantic_extra__" and type(held) is dict:
            yield from _attributes(cast("dict[object, object]", held), hides)


def _attributes(attributes: Mapping[Any, object], hides: Hides) -> _Steps:
    for name, held in list(attributes.items()):
        yield held, f".{name}" if type(name) is str and not hides(name) else _UNNAMED


def _values(mapping: dict[Any, object], hides: Hides, before: str = "") -> _Steps:
    items: list[tuple[object, object]] = list(dict[Any, object].items(mapping))
    for key, held in items:
        yield held, f"{before}[{_shown(key, hides)}]"
    for key, _ in items:
        yield key, f"{before}.<key>"


def _items(values: Iterable[object], before: str = "") -> _Steps:
    for index, held in enumerate(list(values)):
        yield held, f"{before}[{index}]"


def _shown(key: object, hides: Hides) -> str:
    if type(key) is int and key.bit_length() <= _MOST_BITS:
        text = shown = str(key)
    elif type(key) is str and len(key) <= _LONGEST_KEY:
        text = key
        shown = f'"{text}"' if text.isprintable() and '"' not in text else "..."
    else:
        return "..."
    return "..." if hides(text) else shown
