"""Paths: how a reader finds a shared object, spelt much as Python spells the way to it.

They are computed only when something is shared. What they may show is for `naming` to say.
"""

from __future__ import annotations

import collections
import contextvars
import functools
import gc
import itertools
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from scoped_registration.verification.classes import (
    class_name,
    is_one,
    members_of,
    own_dict,
    partial_parts,
)
from scoped_registration.verification.kinds import VIEWS
from scoped_registration.verification.naming import Naming, is_holder

__all__ = ["path_to", "type_name"]

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


_Steps = Iterator[tuple[object, str, int | str | tuple[object] | None]]
"""Parts of an object, each with a text that leads to it, and what follows that text.

That is an index, the name of an attribute, or, in a tuple, the key of a mapping. Of containers,
which may be very large, it is only the part that is looked for.
"""


def type_name(value: object, naming: Naming) -> str:
    """Return the qualified name of a value's class, whatever its metaclass says."""
    module, name = class_name(type(value))
    if naming.hides(name):
        return "?"
    return name if module == "builtins" else f"{module}.{name}"


def path_to(
    value: object, parents: Mapping[int, object], root: object, name: str | None, naming: Naming
) -> str:
    """Return the way from a root to an object that a walk met.

    Args:
        value: Where the path leads.
        parents: The parents that the walk recorded.
        root: Where the walk began.
        name: What to call the root; by default its class, spelt as a variable.
        naming: Says which keys and attributes may be shown.
    """
    chain = [value]
    while chain[-1] is not root:
        chain.append(parents[id(chain[-1])])
    chain.reverse()
    text = root_name(root, naming) if name is None else name
    inside = False  # the last object is the __dict__ of the one before it
    holder: object = None
    far = len(chain) - 1 - 2 * _MOST_STEPS
    for index, (parent, child) in enumerate(itertools.pairwise(chain)):
        if is_holder(parent):
            holder = parent
        if 0 <= index - _MOST_STEPS < far:
            text += f".<{far} steps>" if index == _MOST_STEPS else ""
            inside = False
            continue
        if not inside and _is_namespace(child, parent):
            inside = True
            continue
        names = cast("dict[object, object]", parent) if inside else None
        steps = _steps(parent, child) if names is None else _attributes(names)
        text += next(
            (
                before + _worded(following, holder, naming)
                for part, before, following in steps
                if part is child
            ),
            _UNNAMED,
        )
        inside = False
    return f"{text}.__dict__" if inside else text


def _is_namespace(value: object, holder: object) -> bool:
    return type(value) is dict and value is own_dict(holder)


def _worded(following: int | str | tuple[object] | None, holder: object, naming: Naming) -> str:
    match following:
        case None:
            return ""
        case int():
            return f"[{following}]"
        case str():
            return naming.attribute(following)
        case (key,):
            return f"[{naming.key(key, holder)}]"


def root_name(root: object, naming: Naming) -> str:
    """Return what to call a product whose owner has not named it."""
    name = class_name(type(root))[1].rpartition(".")[2]
    if naming.hides(name):
        return "product"
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _steps(parent: object, child: object) -> _Steps:
    cls = type(parent)
    yield from _in_builtin(parent, cls)
    if is_one(cls, (functools.partial,)):
        _, arguments, keywords = partial_parts(parent)
        yield from _items(child, arguments, ".args")
        yield from ((held, ".keywords", name) for name, held in keywords.items())
    if is_one(cls, VIEWS):
        (viewed,) = gc.get_referents(parent)
        yield viewed, "", None
        yield from _steps(viewed, child)
    yield from _attributes(own_dict(parent) or {})
    yield from _in_slots(parent, child)
    if issubclass(cls, dict):
        yield from _values(child, cast(Any, parent))
    if issubclass(cls, (set, frozenset)):
        yield from ((part, "{...}", None) for part in gc.get_referents(parent) if part is child)
    for sequence in _SEQUENCES:
        if issubclass(cls, sequence):
            yield from _items(child, sequence.__iter__(parent))


def _in_builtin(parent: object, cls: type) -> _Steps:
    if cls is types.FunctionType:
        yield from _in_function(cast(types.FunctionType, parent))
    elif cls is contextvars.Context:
        for variable, held in cast(contextvars.Context, parent).items():
            yield held, f"[<{variable.name}>]", None
    elif cls is types.CellType:
        yield from ((part, "", None) for part in gc.get_referents(parent))
    elif is_one(cls, tuple(_FRAMES)):
        frame = getattr(parent, _FRAMES[cls])
        for name, held in ({} if frame is None else dict(frame.f_locals)).items():
            yield held, f".<local {name}>", None
    elif is_one(cls, _BOUND):
        yield cast(types.BuiltinFunctionType, parent).__self__, ".__self__", None
    elif issubclass(cls, BaseException):
        yield _ARGUMENTS.__get__(parent), ".args", None


def _in_function(function: types.FunctionType) -> _Steps:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield cell, f".<closure {name}>", None
    defaults = function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    for name, held in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
        yield held, f".<default {name}>", None
    for name, held in (function.__kwdefaults__ or {}).items():
        yield held, f".<default {name}>", None


def _in_slots(parent: object, child: object) -> _Steps:
    for name, member in members_of(type(parent)):
        try:
            held: object = member.__get__(parent)
        except AttributeError:  # a slot that is empty
            continue
        yield held, "", name
        if name == "__pydantic_extra__" and type(held) is dict:
            yield from _values(child, cast("dict[object, object]", held))


def _attributes(attributes: Mapping[Any, object]) -> _Steps:
    for name, held in list(attributes.items()):
        yield held, "", name if type(name) is str else ""


def _values(child: object, mapping: dict[Any, object], before: str = "") -> _Steps:
    keys, values = list(dict[Any, object].keys(mapping)), list(dict[Any, object].values(mapping))
    for key, held in zip(keys, values, strict=False):  # another thread may change it
        if held is child:
            yield held, before, (key,)
    if any(key is child for key in keys):
        yield child, f"{before}.<key>", None


def _items(child: object, values: Iterable[object], before: str = "") -> _Steps:
    for index, held in enumerate(list(values)):
        if held is child:
            yield held, before, index
