"""Which shared objects are constants of source code, although Python lets them be changed.

Libraries refer to their defaults from each object that they make: a dict of policies, a table
of classes, a strategy that stands as the default of a parameter. Told apart from what somebody
captured by two signs at once, where it stands and what it holds:

* a table of code, such as a dict of functions, that a module or class binds to a name in
  capitals; in a library, to any name;
* a container of plain data that a library binds to a name in capitals, or an object without
  any container that no method of its class changes, bound by a library to any name or as the
  default of a parameter; both only where an object of the same library holds it.

What is empty is no constant: nothing is known of what it is for.
"""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum, IntEnum
from itertools import islice
from typing import Any, cast

from scoped_registration.verification.classes import (
    class_dicts,
    class_name,
    has_hidden_state,
    is_one,
    members_of,
    mro_of,
    own_dict,
    sets_attributes,
)
from scoped_registration.verification.kinds import Kinds
from scoped_registration.verification.object_graph import Graph

__all__ = ["Content", "constants", "content_of", "installed_as", "is_library"]

_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_DEEPEST = 4
_MOST_PARTS = 10_000
_CODE: tuple[Any, ...] = (  # Any: pyright has no one type for all of these
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GenericAlias,
    types.UnionType,
    property,
    Enum,
)
# By identity: a metaclass may have an equality of its own.
_CONTAINERS = frozenset(map(id, (dict, list, set)))
_FIXED = frozenset(map(id, (tuple, frozenset)))


class Content(IntEnum):
    """What an object holds, the harmless first."""

    CODE = 0
    DATA = 1
    OBJECT = 2  # one that nothing changes
    STATE = 3


_Bound = tuple[str, object, str | None]
"""A name in source code, what it is bound to, and the library: None in other modules.

The default of a parameter has no name.
"""


def installed_as(path: str) -> str | None:
    """Return the top-level package of a file in a directory of installed packages."""
    for home in _INSTALLED:
        _, found, inside = path.rpartition(home)
        if found:
            return inside.partition(os.sep)[0].partition(".")[0]
    return None


def is_library(module: str) -> bool:
    """Tell whether a module is one of an installed package."""
    place = vars(sys.modules[module]).get("__file__") if module in sys.modules else None
    return type(place) is str and installed_as(place) is not None


def constants(
    found: list[object], graph: Graph, kinds: Kinds, own: Collection[str]
) -> Iterator[tuple[object, Content]]:
    """Yield those of some objects that are constants of source code, and what each holds.

    Args:
        found: Objects that two products have in common.
        graph: The walk that met them.
        kinds: What counts as state.
        own: Packages of the application, also where they are installed like a library.
    """
    candidates: dict[int, tuple[object, Content, set[str]]] = {}
    classes: dict[int, type] = {}
    for value in found:
        content = content_of(value, kinds)
        if content is not Content.STATE:
            holder = _holder_of(value, graph)
            candidates[id(value)] = value, content, _libraries_of(holder).difference(own)
            classes[id(type(holder))] = type(holder)
    if not candidates:
        return
    libraries = set[str]().union(*(packages for _, _, packages in candidates.values()))
    seen: set[tuple[int, str]] = set()
    for name, bound, library in _bindings(libraries, classes.values()):
        if library is None or id(type(bound)) not in _CONTAINERS:
            inner: Iterable[object] = (bound,) if id(bound) in candidates else ()
        elif (id(bound), name) not in seen:  # modules import what others bind
            seen.add((id(bound), name))
            inner = islice(_nested(bound, _DEEPEST), _MOST_PARTS)
        else:
            continue
        for inside in inner:
            value, content, packages = candidates.get(id(inside), _NO_CANDIDATE)
            if value is inside and _fits(content, name, library in packages):
                del candidates[id(inside)]
                yield value, content
                if not candidates:
                    return


_NO_CANDIDATE: tuple[object, Content, set[str]] = (None, Content.STATE, set())


def _fits(content: Content, name: str, of_its_holder: bool) -> bool:
    if content is Content.OBJECT:
        return of_its_holder
    if content is Content.CODE:
        return name.isupper() or (of_its_holder and name != "")
    return of_its_holder and name.isupper()


def content_of(  # noqa: PLR0911  # a list of rules, the first that fits
    value: object, kinds: Kinds, within: tuple[object, ...] = ()
) -> Content:
    """Return what an object holds.

    Args:
        value: The object.
        kinds: What counts as state.
        within: The objects that it was found in.
    """
    cls = type(value)
    if is_one(cls, _CODE) or any(value is outer for outer in within):
        return Content.CODE
    if not kinds.of(cls):
        return Content.DATA
    if len(within) > _DEEPEST:
        return Content.STATE
    inner = (*within, value)
    if cls is dict:
        held = cast("dict[object, object]", value)
        if _worst(list(held), kinds, inner) > Content.DATA:
            return Content.STATE
        return _of_container(list(held.values()), kinds, inner)
    if id(cls) in _CONTAINERS:
        return _of_container(list(cast("Iterable[object]", value)), kinds, inner)
    if id(cls) in _FIXED:
        return _worst(cast("Iterable[object]", value), kinds, inner)
    if cls is types.FunctionType:
        function = cast(types.FunctionType, value)
        if "<locals>" not in function.__qualname__ and not function.__closure__:
            return Content.CODE
        return max(_worst(_parts_of_function(function), kinds, inner), Content.OBJECT)
    if cls is types.MethodType:
        return max(content_of(cast(types.MethodType, value).__self__, kinds, inner), Content.OBJECT)
    return _of_object(value, kinds, inner)


def _of_container(parts: list[object], kinds: Kinds, within: tuple[object, ...]) -> Content:
    is_held = any(id(type(outer)) not in _CONTAINERS | _FIXED for outer in within)
    found = _worst(parts, kinds, within) if parts and not is_held else Content.STATE
    return found if found is not Content.OBJECT else Content.STATE


def _of_object(value: object, kinds: Kinds, within: tuple[object, ...]) -> Content:
    cls = type(value)
    if has_hidden_state(cls) or sets_attributes(cls):
        return Content.STATE
    parts = list((own_dict(value) or {}).values())
    for _, member in members_of(cls):
        try:
            parts.append(member.__get__(value))
        except AttributeError:  # a slot that is empty
            return Content.STATE
    return max(_worst(parts, kinds, within), Content.OBJECT)


def _worst(parts: Iterable[object], kinds: Kinds, within: tuple[object, ...]) -> Content:
    worst = Content.CODE
    for part in parts:
        worst = max(worst, content_of(part, kinds, within))
        if worst is Content.STATE:
            break
    return worst


def _parts_of_function(function: types.FunctionType) -> Iterator[object]:
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # a variable that is not set yet
            yield cell.cell_contents


def _holder_of(value: object, graph: Graph) -> object:
    """Return the nearest object on the way to one that is not of the language itself."""
    holder = graph.parents[id(value)]
    while holder is not None and not any(_modules_of(holder)):
        holder = graph.parents[id(holder)]
    return holder


def _modules_of(holder: object) -> Iterator[str]:
    """Yield the modules that an object is of: of the classes of an instance, of a function."""
    if type(holder) is types.FunctionType:
        names = [holder.__module__]
    else:
        names = [class_name(base)[0] for base in mro_of(type(holder))]
    for name in names:
        if type(name) is str and name.partition(".")[0] not in sys.stdlib_module_names:
            yield name


def _libraries_of(holder: object) -> set[str]:
    return {name.partition(".")[0] for name in _modules_of(holder) if is_library(name)}


def _bindings(libraries: Collection[str], classes: Iterable[type]) -> Iterator[_Bound]:
    for module_name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType:
            continue
        package = module_name.partition(".")[0]
        library = package if package in libraries else None
        for name, value in list(vars(module).items()):
            yield name, value, library
            if library is None:
                continue
            if issubclass(type(value), type):
                if class_name(value)[0] == module_name:
                    yield from _in_class(next(class_dicts(value)), library)
            elif type(value) is types.FunctionType:
                yield from _defaults(value, library)
    for cls in classes:
        for namespace in class_dicts(cls):
            yield from _in_class(namespace, None)


def _in_class(namespace: Mapping[str, object], library: str | None) -> Iterator[_Bound]:
    for name, value in list(namespace.items()):
        if library is not None and type(value) is types.FunctionType:
            yield from _defaults(value, library)
        else:
            yield name, value, library


def _defaults(function: types.FunctionType, library: str) -> Iterator[_Bound]:
    for value in function.__defaults__ or ():
        yield "", value, library
    for value in (function.__kwdefaults__ or {}).values():
        yield "", value, library


def _nested(value: object, depth: int) -> Iterator[object]:
    """Yield an object, and what is in it if it is a container."""
    yield value
    identity = id(type(value))
    if depth and (identity in _CONTAINERS or identity == id(tuple)):
        for part in _parts_of(value):
            yield from _nested(part, depth - 1)


def _parts_of(container: object) -> list[object]:
    if type(container) is dict:
        return list(cast("dict[object, object]", container).values())
    return list(cast("Iterable[object]", container))
