"""The walk: every object that a product reaches, without running any code of its classes.

It follows what the garbage collector follows, so slots, closures, containers and objects
written in C need no rule of their own, and a property, ``__eq__``, ``__hash__``, ``__len__``
or ``__class__`` of a user is never called. The rules that there are say what *not* to follow:
the globals of a function, what belongs to a class, the attributes of a frozen object as a
dict of their own.
"""

from __future__ import annotations

import contextvars
import functools
import gc
import opcode
import types
from collections.abc import Callable, Container
from typing import Any, cast

import attrs

from scoped_registration.verification.classes import (
    class_dicts,
    class_name,
    is_frozen,
    is_one,
    own_dict,
    partial_parts,
)
from scoped_registration.verification.kinds import COUNTED, SPECIAL, TOOLS, VIEWS, Kinds, LruCache

__all__ = ["Graph", "parts_of", "walk"]

_STORES = frozenset(opcode.opmap[name] for name in ("STORE_DEREF", "DELETE_DEREF"))
# They keep a registry in their closure, as a class keeps its methods. Any: typeshed has no
# attributes of the function that it is.
_DISPATCHER: Any = functools.singledispatch(len)
_DISPATCHERS: tuple[types.CodeType, ...] = (
    _DISPATCHER.__code__,
    _DISPATCHER.dispatch.__code__,
)
# A set of names and a dict of values that pydantic keeps beside the fields of a frozen model.
_ABOUT_FIELDS = ("__pydantic_fields_set__", "__pydantic_extra__")


@attrs.frozen(eq=False)
class Graph:
    """What a walk met.

    Args:
        parents: For each object met, by identity, the object that it was first met from.
        counted: The mutable ones, by identity and in the order of their distance.
        complete: Whether everything was met, within the limit.
    """

    parents: dict[int, object]
    counted: dict[int, object]
    complete: bool


def walk(  # noqa: PLR0912  # one loop: a call for each object would double its cost
    root: object,
    kinds: Kinds,
    *,
    limit: int,
    parents: dict[int, object] | None = None,
    barrier: Container[int] = frozenset(),
) -> Graph:
    """Meet everything that an object reaches, the nearest first.

    Args:
        root: Where to begin. It is met whatever its kind is.
        kinds: What to follow, and what to count.
        limit: The most references to look at.
        parents: Objects met before, by identity; they are not followed again.
        barrier: Identities of counted objects to meet without following them.
    """
    parents = {} if parents is None else parents
    parents[id(root)] = None
    counted: dict[int, object] = {}
    if kinds.of(type(root)) & COUNTED:
        counted[id(root)] = root
        if id(root) in barrier:
            return Graph(parents, counted, complete=True)
    known = kinds.known.get
    referents: Callable[[object], list[object]] = gc.get_referents
    level: list[object] = [root]
    looked = 0
    children: list[object]
    while level:
        following: list[object] = []
        for parent in level:
            if known(id(type(parent)), 0) & SPECIAL:
                children = parts_of(parent)
                for cell in rebound_cells(parent):
                    before = parents.setdefault(id(cell), parent)
                    if id(cell) in counted or not kinds.of(types.CellType):
                        continue
                    counted[id(cell)] = cell
                    if before is parent and id(cell) not in barrier:
                        following.append(cell)
            else:
                children = referents(parent)
            looked += len(children)
            if looked > limit:
                return Graph(parents, counted, complete=False)
            for child in children:
                kind = known(id(type(child)))
                if kind is None:
                    kind = kinds.of(type(child))
                if not kind:
                    continue
                identity = id(child)
                if identity in parents:
                    continue
                parents[identity] = parent
                if kind & COUNTED:
                    counted[identity] = child
                    if identity in barrier:
                        continue
                following.append(child)
        level = following
    return Graph(parents, counted, complete=True)


def parts_of(value: object) -> list[object]:  # noqa: PLR0911  # one rule for each kind
    """Return what to follow from an object."""
    cls = type(value)  # isinstance would ask the object
    if cls is types.FunctionType:
        return _function_parts(cast(types.FunctionType, value))
    if cls is types.MethodType:
        return _method_parts(cast(types.MethodType, value))
    if cls is contextvars.Context:
        return _context_parts(cast(contextvars.Context, value))
    if is_one(cls, (functools.partial,)):
        function, arguments, keywords = partial_parts(value)
        own = {} if cls is functools.partial else own_dict(value) or {}
        return [function, *arguments, *keywords.values(), *own.values()]
    if is_one(cls, VIEWS):
        (viewed,) = gc.get_referents(value)
        return gc.get_referents(viewed) if type(viewed) is dict else [viewed]
    if cls is LruCache:  # what it remembers is as far away as a module's globals
        return [(own_dict(value) or {}).get("__wrapped__")]
    return _frozen_parts(value) if is_frozen(cls) else _tool_parts(value)


def rebound_cells(value: object) -> list[types.CellType]:
    """Return the variables around a function that it assigns to.

    Such a cell is state. Any other one only leads to what it holds.
    """
    if type(value) is not types.FunctionType or not value.__closure__:
        return []
    rebound = _rebound_names(value.__code__)
    return [
        cell
        for name, cell in zip(value.__code__.co_freevars, value.__closure__, strict=True)
        if name in rebound
    ]


def _context_parts(context: contextvars.Context) -> list[object]:
    """Return what a context has and the present one has not: that is there for any code.

    A task has a copy of the context in which it was started, which is that of the application
    where nothing else was set.
    """
    return [held for variable, held in context.items() if variable.get(None) is not held]


def _tool_parts(tool: object) -> list[object]:
    kept = TOOLS[".".join(class_name(type(tool)))]
    return [held for name, held in (own_dict(tool) or {}).items() if name not in kept]


def _function_parts(function: types.FunctionType) -> list[object]:
    if function.__code__ in _DISPATCHERS:
        return []
    parts: list[object] = [*(function.__closure__ or ()), *(function.__defaults__ or ())]
    parts.extend((function.__kwdefaults__ or {}).values())
    return parts


def _method_parts(method: types.MethodType) -> list[object]:
    owner = method.__self__
    function: object = method.__func__
    if issubclass(type(owner), type):  # a class method
        return []
    if any(held is function for names in class_dicts(type(owner)) for held in list(names.values())):
        return [owner]  # what the function holds, the class holds
    return [owner, function]


def _frozen_parts(value: object) -> list[object]:
    """Return the values of an object whose attributes cannot be set, not its ``__dict__``."""
    attributes = own_dict(value)
    hidden = {id(attributes)}
    parts: list[object] = []
    for namespace in class_dicts(type(value)):
        for name in _ABOUT_FIELDS:
            member = namespace.get(name)
            if type(member) is types.MemberDescriptorType:
                held: object = member.__get__(value)
                hidden.add(id(held))
                if type(held) is dict:
                    parts.extend(cast("dict[str, object]", held).values())
    parts += (part for part in gc.get_referents(value) if id(part) not in hidden)
    parts += (attributes or {}).values()
    return parts


@functools.lru_cache(maxsize=1024)
def _rebound_names(code: types.CodeType) -> frozenset[str]:
    """Return the free variables of a function that it, or a function in it, assigns to."""
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    names = (*code.co_varnames, *cells, *code.co_freevars)
    found: set[str] = set()
    argument = 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = argument << 8 | low
        if operation in _STORES:
            found.add(names[argument])
        if operation != opcode.EXTENDED_ARG:
            argument = 0
    for inner in code.co_consts:
        if type(inner) is types.CodeType:
            found |= _rebound_names(inner)
    return frozenset(found.intersection(code.co_freevars))
