"""What two products may have in common although it is mutable.

What the user declares is not walked at all. What belongs to a framework, to the standard
library or to the source code of a class is told apart when it is found in two products.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import cast

from scoped_registration.verification.classes import (
    asked,
    class_dicts,
    class_name,
    own_dict,
)
from scoped_registration.verification.constants import Content, constants, content_of
from scoped_registration.verification.kinds import HOLLOW, SHAREABLE, Kinds
from scoped_registration.verification.object_graph import Graph, walk

__all__ = ["Permitted"]

_ANNOTATIONS = "__annotations__"
_MODULE = "__module__"
_DECLARATIONS = 10_000
"""References to look at from the attributes of one function."""

_AT_FIRST = 200
"""Objects that are looked at first: if one of them is refused, no other is looked at."""


# What a decorator wrote down is data: the closure of a function that it wrapped is not.
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_WRITTEN = Kinds(lambda cls: issubclass(cls, _FUNCTIONS), None)


class Permitted:
    """What products may have in common. One of these serves a whole registration.

    Args:
        shares: Objects and types of the user. They are not walked: nothing below them counts.
        shareable: Tells of a class whether the framework makes its instances to be shared.
            Only one and the same instance in both products is excused, and what is below it;
            two distinct ones are walked. It is called once for each class.
        own: Packages of the application, which are no library wherever they are installed.
    """

    def __init__(
        self,
        shares: Iterable[object] = (),
        *,
        shareable: Callable[[type], bool] | None = None,
        own: Collection[str] = (),
    ) -> None:
        self._own = own
        declared = tuple(shares)
        self.objects: dict[int, object] = {id(shared): shared for shared in declared}
        # They are walked all the same: what they hold may change.
        self._constants: dict[int, tuple[object, Content]] = {}
        self._declared = [question for shared in declared for question in _questions(shared)]
        self.kinds: Kinds = Kinds(self._is_declared, shareable)

    def refused(self, common: Iterable[object], graph: Graph) -> list[object]:
        """Return the nearest of those objects that two products must not have in common.

        What turns out to belong to the source code or to the standard library is remembered:
        it is not walked again.

        Args:
            common: Objects that both products reach, the nearest first. They may be very many:
                where some are refused, the rest is not looked at.
            graph: The walk that met them.
        """
        candidates = (value for value in common if not self._excuses(value))
        at_once = _AT_FIRST
        while found := list(islice(candidates, at_once)):
            at_once *= 10
            self._learn(_declarations(found, graph))
            found = [value for value in found if id(value) not in self.objects]
            for value, content in constants(found, graph, self.kinds, self._own):
                self._constants[id(value)] = value, content
            found = [value for value in found if id(value) not in self._constants]
            if found:
                self._learn(_library_globals({id(value) for value in found}))
            found = [value for value in found if id(value) not in self.objects]
            if found:
                return found
        return []

    def _learn(self, values: Iterable[object]) -> None:
        self.objects.update((id(value), value) for value in values)

    def _excuses(self, value: object) -> bool:
        constant = self._constants.get(id(value))
        if constant is not None:
            if content_of(value, self.kinds) <= constant[1]:
                return True
            del self._constants[id(value)]  # somebody has put something else into it
        kind = self.kinds.of(type(value))
        return bool(kind & SHAREABLE or (kind & HOLLOW and _is_marker(value)))

    def _is_declared(self, cls: type) -> bool:
        return any(asked(declared, cls) for declared in self._declared)


def _questions(declared: object) -> Iterator[Callable[[type], bool]]:
    """Yield how to tell whether a class is the one that was declared, or derived from it."""
    if class_name(type(declared))[0] in ("types", "typing"):  # an alias: no other object is asked
        declared = typing.get_origin(declared)
    if issubclass(type(declared), type):
        wanted = cast(type, declared)
        yield lambda cls: issubclass(cls, wanted)


def _is_marker(value: object) -> bool:
    """Tell whether an object has no attribute: it only tells itself from others.

    Libraries that export their sentinels set ``__module__`` on them, as on their classes.
    """
    attributes = own_dict(value)
    unmarked: list[object] = [type(value)]
    if attributes is not None:
        if any(type(name) is not str or name != _MODULE for name in attributes):
            return False
        unmarked += [attributes, *attributes.values()]
    return all(any(part is each for each in unmarked) for part in gc.get_referents(value))


def _declarations(found: list[object], graph: Graph) -> Iterator[object]:
    """Yield what decorators wrote onto methods, and annotations that a wrapper copied.

    A framework reads its handlers' declarations from a class into each instance. They belong
    to the source code, as the class does, although they are lists and dicts.
    """
    wanted = {id(value) for value in found}
    classes: dict[int, type] = {}
    climbed: set[int] = set()
    for value in found:
        parent = graph.parents[id(value)]
        if _are_annotations(value, parent):
            yield value
        while parent is not None and id(parent) not in climbed:
            climbed.add(id(parent))
            classes[id(type(parent))] = type(parent)
            parent = graph.parents[id(parent)]
    for cls in classes.values():
        for namespace in class_dicts(cls):
            for function in list(namespace.values()):
                if type(function) is types.FunctionType and function.__dict__:
                    written = walk(function.__dict__, _WRITTEN, limit=_DECLARATIONS).counted
                    yield from (written[each] for each in written.keys() & wanted)


def _are_annotations(value: object, holder: object) -> bool:
    names = cast("dict[str, object]", holder) if type(holder) is dict else own_dict(holder)
    return names is not None and names.get(_ANNOTATIONS) is value


def _library_globals(wanted: set[int]) -> Iterator[object]:
    """Yield those of some objects that are globals of the standard library: `os.environ`."""
    for module in _library_modules():
        for value in list(vars(module).values()):
            if id(value) in wanted:
                yield value


def _library_modules() -> Iterator[types.ModuleType]:
    home = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in sys.stdlib_module_names:
            continue
        place = vars(module).get("__file__") if type(module) is types.ModuleType else ""
        if place is None or (  # one of the user's may have the same name
            type(place) is str and place.startswith(home) and "-packages" not in place
        ):
            yield module
