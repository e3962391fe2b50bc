"""Reading a class without asking it: through the descriptors of `type`, never with `getattr`.

A metaclass may answer for its classes whatever it likes, and a property named ``__dict__``
would be code of a user.
"""

from __future__ import annotations

import functools
import opcode
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

__all__ = [
    "asked",
    "can_gain_state",
    "class_dicts",
    "class_name",
    "has_dict",
    "has_hidden_state",
    "is_frozen",
    "is_one",
    "members_of",
    "mro_of",
    "own_dict",
    "partial_parts",
    "sets_attributes",
]

_STORE = opcode.opmap["STORE_ATTR"]
_MAKERS = frozenset({"__init__", "__new__", "__set_name__"})  # what they set is there already
_WITHOUT_STATE = frozenset({"abc", "builtins", "typing", "typing_extensions"})

# Any: descriptors of `type` itself, which no metaclass can replace.
_MRO: Any = vars(type)["__mro__"]
_DICT: Any = vars(type)["__dict__"]
_MODULE: Any = vars(type)["__module__"]
_QUALNAME: Any = vars(type)["__qualname__"]
_BASIC_SIZE: Any = vars(type)["__basicsize__"]
_ITEM_SIZE: Any = vars(type)["__itemsize__"]
_DICT_OFFSET: Any = vars(type)["__dictoffset__"]
_WEAKREF_OFFSET: Any = vars(type)["__weakrefoffset__"]


def is_one(cls: type, of: tuple[Any, ...]) -> bool:
    """Tell whether a class is, or is derived from, one of some classes."""
    return issubclass(cls, of)


def asked(question: Callable[[type], bool], cls: type) -> bool:
    """Ask what may run a hook of the class, or of one that it is compared with."""
    try:
        return question(cls)
    except Exception:  # a protocol that is not made for it, or a hook that fails: no
        return False


def mro_of(cls: type) -> tuple[type, ...]:
    """Return the classes that an instance of a class is of."""
    found: tuple[type, ...] = _MRO.__get__(cls)
    return found


def class_dicts(cls: type) -> Iterator[Mapping[str, object]]:
    """Yield what each class of the resolution order defines."""
    for base in mro_of(cls):
        yield _DICT.__get__(base)


def class_name(cls: type) -> tuple[str, str]:
    """Return the module and the qualified name of a class."""
    module: object = _MODULE.__get__(cls)
    return module if type(module) is str else "?", _QUALNAME.__get__(cls)


def members_of(cls: type) -> Iterator[tuple[str, types.MemberDescriptorType]]:
    """Yield the slots of a class, and the members of one written in C."""
    for namespace in class_dicts(cls):
        for name, value in namespace.items():
            if type(value) is types.MemberDescriptorType:
                yield name, value


def own_dict(value: object) -> dict[str, object] | None:
    """Return the attributes of an object, whatever its class says about ``__dict__``."""
    for namespace in class_dicts(type(value)):
        found = namespace.get("__dict__")
        if type(found) is types.GetSetDescriptorType:
            attributes: object = found.__get__(value)
            return attributes if type(attributes) is dict else None  # pyright: ignore[reportUnknownVariableType]  # its keys are names
    return None


def partial_parts(value: object) -> tuple[object, tuple[object, ...], dict[str, object]]:
    """Return the function and the arguments of a `functools.partial`."""
    members = vars(functools.partial)
    function, arguments, keywords = (
        members[name].__get__(value) for name in ("func", "args", "keywords")
    )
    return function, arguments, keywords


def has_dict(cls: type) -> bool:
    """Tell whether instances of a class can have attributes besides their slots."""
    return bool(_DICT_OFFSET.__get__(cls))


def has_hidden_state(cls: type) -> bool:
    """Tell whether instances are larger than their slots: a container, or written in C."""
    word = _BASIC_SIZE.__get__(object) // 2
    size = _BASIC_SIZE.__get__(object) + word * len(list(members_of(cls)))
    size += word * (_DICT_OFFSET.__get__(cls) > 0) + word * (_WEAKREF_OFFSET.__get__(cls) > 0)
    return bool(_ITEM_SIZE.__get__(cls)) or _BASIC_SIZE.__get__(cls) > size


def can_gain_state(cls: type) -> bool:
    """Tell whether a class shows that its instances get attributes later.

    By a slot, by a default that an instance overrides, or by a method that sets an attribute.
    A class that does nothing of the kind is that of a marker, or has methods alone.
    """
    return any(
        _shows_state(name, value)
        for base, namespace in zip(mro_of(cls), class_dicts(cls), strict=True)
        if class_name(base)[0] not in _WITHOUT_STATE
        for name, value in namespace.items()
    )


def _shows_state(name: str, value: object) -> bool:
    if type(value) is types.MemberDescriptorType:
        return True
    if type(value) is types.FunctionType:
        return name not in _MAKERS and _stores(value)
    is_default = type(value) in (str, int, float, bool, types.NoneType, tuple, bytes)
    return (
        is_default and not name.startswith("__") and not name.isupper() and name != "_is_protocol"
    )


def sets_attributes(cls: type) -> bool:
    """Tell whether a method of a class sets an attribute, besides those that make an instance."""
    return any(
        name not in _MAKERS and any(map(_stores, _functions_in(value)))
        for base, namespace in zip(mro_of(cls), class_dicts(cls), strict=True)
        if class_name(base)[0] not in _WITHOUT_STATE
        for name, value in namespace.items()
    )


def _functions_in(member: object) -> Iterator[types.FunctionType]:
    """Yield the functions of a member of a class, behind decorators that keep what they wrap."""
    if type(member) is property:
        for part in (member.fget, member.fset, member.fdel):
            yield from _functions_in(part)
    while type(member) is types.FunctionType:
        yield member
        member = member.__dict__.get("__wrapped__")


def _stores(function: types.FunctionType) -> bool:
    return _STORE in function.__code__.co_code[::2]


def is_frozen(cls: type) -> bool:
    """Tell whether a class is a frozen one of attrs, dataclasses or pydantic."""
    for base, namespace in zip(mro_of(cls), class_dicts(cls), strict=True):
        if "__attrs_attrs__" in namespace:
            return asked(lambda made: attrs.inspect(made).is_frozen, base)
        if "__dataclass_params__" in namespace:
            parameters: Any = namespace["__dataclass_params__"]  # documented nowhere
            return bool(parameters.frozen)
        if "__pydantic_fields__" in namespace:
            config = namespace.get("model_config")
            return type(config) is dict and config.get("frozen") is True  # pyright: ignore[reportUnknownMemberType]  # compared by identity
    return False
