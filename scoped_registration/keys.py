"""Keys: one canonical text for each value that names a principal.

The text stands for a scope everywhere: in the pool, in stores and in locks. Two values
that differ never have the same text (promise P2), because each part carries its kind
and its length, and because a class that is compared by a rule of its own is refused.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable
from enum import Enum
from typing import Any, cast
from uuid import UUID

import attrs

from scoped_registration.errors import (
    ReasonCode,
    RegistrationError,
    close_coroutine,
    describe_type,
    short_place,
)

__all__ = ["check_thread_id", "scope_digest", "scope_leaves", "scope_text", "storage_key"]

MAX_THREAD_ID = 512
_MAX_DEPTH = 16
_TUPLE: type[tuple[object, ...]] = tuple
# Characters that count as printable and show nothing: fillers, joiners, variation selectors.
_UNSEEN = " \u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(
    map(chr, range(0xFE00, 0xFE10))
)


def storage_key(registration: str, scope_text: str, thread_id: str) -> str:
    """Return the stable digest of a whole key. Golden values stand in the tests."""
    return _digest("thread", registration, scope_text, thread_id)


def scope_digest(registration: str, scope_text: str) -> str:
    """Return the stable digest of one principal at one registration, for all threads."""
    return _digest("scope", registration, scope_text)


def _digest(*parts: str) -> str:
    import hashlib  # noqa: PLC0415  # it loads OpenSSL, which a declaration does not need

    text = "".join(map(_text, parts))
    return f"sr1-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def check_thread_id(value: object) -> str:
    """Return a thread id that can be a key, or refuse it (promise P7: it is bounded).

    Raises:
        RegistrationError: ``thread_id_invalid``.
    """
    if type(value) is str and len(value) <= MAX_THREAD_ID and not is_blank(value):
        return value  # nearly every call
    if not isinstance(value, str) or value.__class__ is not type(value):  # a proxy is none
        problem = f"the thread id is a {describe_type(value)}, not a str"
        raise RegistrationError(ReasonCode.THREAD_ID_INVALID, problem)
    text = str.__str__(value)  # of a subclass, the characters alone
    if len(text) > MAX_THREAD_ID:
        problem = f"the thread id has more than {MAX_THREAD_ID} characters"
    elif is_blank(text):
        problem = "the thread id is empty or blank"
    else:
        return text
    raise RegistrationError(ReasonCode.THREAD_ID_INVALID, problem)


def scope_text(value: object) -> str:
    """Return the canonical text of a scope value.

    Args:
        value: What the resolver returned.

    Raises:
        RegistrationError: ``scope_missing`` for ``None`` and for an empty or blank
            value or part; ``scope_type_unsupported`` for a value that cannot be a key.
    """
    if type(value) is str and not is_blank(value):  # nearly every call
        return _text(value)
    try:
        return _encode(value, depth=0)
    except RegistrationError:
        raise
    except Exception as error:  # a method of the value's class; its text may name a principal
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        code = "?" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
        raise _unsupported(
            f"is a {describe_type(value)} that raised a {describe_type(error)} when it was read "
            f"({short_place(code)})"
        ) from None


def scope_leaves(text: str) -> list[str]:
    """Return what names a principal in the text of a scope: no name of a class or a field."""
    leaves: list[str] = []
    at = depth = 0
    while at < len(text):
        if depth and text[at] != ")":  # each part begins with its name
            _, at = _sized(text, at)
        kind, at = text[at], at + 1
        if kind == ")":
            depth -= 1
        elif kind == "u":
            leaves += (text[at : at + 32], str(UUID(text[at : at + 32])))
            at += 32
        elif kind == "i":
            leaves.append(text[at : text.index(";", at)])
            at += len(leaves[-1]) + 1
        elif kind == "t":
            named = _sized(text, at)[1] if text[at] == "s" else at
            at, depth = text.index("(", named) + 1, depth + 1
        else:  # a text, the name of an enum member or a scope_key
            leaf, at = _sized(text, _sized(text, at)[1] if kind == "e" else at - (kind == "s"))
            leaves.append(leaf)
    return leaves


def _sized(text: str, at: int) -> tuple[str, int]:
    start = text.index(":", at) + 1
    end = start + int(text[at + 1 : start - 1])
    return text[start:end], end


def is_blank(text: str) -> bool:
    """Tell whether a text shows nothing: control and zero-width characters included."""
    if "!" <= text[:1] <= "~":  # nearly every text
        return False
    if text.isprintable():
        return not text.strip(_UNSEEN)
    return not any(char.isprintable() and char not in _UNSEEN for char in text)


def _text(text: str) -> str:
    return f"s{len(text)}:{text}"


def _encode(value: object, *, depth: int) -> str:
    if depth > _MAX_DEPTH:
        raise _unsupported("is nested too deeply")
    if value is None:
        raise _missing("is None")
    if value.__class__ is not type(value):  # `isinstance` would believe it
        raise _unsupported(f"is a {describe_type(value)}, a proxy of something else")
    if callable(getattr(type(value), "scope_key", None)):  # isinstance with a protocol is slow
        return _encode_own_key(value)
    if isinstance(value, Enum):
        return _encode_enum(value)
    if isinstance(value, str | int | UUID) and not isinstance(value, bool):
        return _encode_leaf(value)
    for read in (_tuple_parts, _attrs_parts, _pydantic_parts, _dataclass_parts):
        parts = read(value)
        if parts is not None:
            return _encode_parts(value, list(parts), depth)
    close_coroutine(value)
    raise _unsupported(f"is a {describe_type(value)}")


def _encode_leaf(value: str | int | UUID) -> str:
    if isinstance(value, UUID):
        plain = UUID(int=value.int)
        if plain != value:  # drivers have subclasses of their own, which are equal
            raise _own_rule(value)
        return f"u{plain.hex}"
    if type(value).__eq__ not in (str.__eq__, int.__eq__):
        raise _own_rule(value)
    if isinstance(value, int):
        return f"i{int.__repr__(value)};"
    text = str.__str__(value)
    if is_blank(text):
        raise _missing("is empty or blank")
    return _text(text)


def _encode_parts(value: object, parts: list[tuple[str, object]], depth: int) -> str:
    if not parts:
        raise _missing(f"is an empty {describe_type(value)}")
    head = "" if type(value) is tuple else _text(_class_name(type(value)))
    encoded = [f"{_text(name)}{_encode(part, depth=depth + 1)}" for name, part in parts]
    return f"t{head}{len(encoded)}({''.join(encoded)})"


def _encode_own_key(value: Any) -> str:  # it has a method scope_key
    key: object = value.scope_key()
    if not isinstance(key, str):
        close_coroutine(key)
        raise _unsupported(f"has a scope_key() that returned a {describe_type(key)}")
    text = str.__str__(key)
    if is_blank(text):
        raise _missing("has a scope_key() that returned an empty or blank text")
    return f"k{_text(text)}"


def _encode_enum(value: Enum) -> str:
    # `_name_` and `_value_` are documented, and no property of a class hides them.
    inner: object = value._value_
    name = cast("str | None", value._name_)
    if inner is None or (isinstance(inner, str) and is_blank(inner)):
        raise _missing("is an enum member with a blank value")
    if name is None:  # a Flag without a bit
        raise _unsupported(f"is a {describe_type(value)} without a name")
    return f"e{_text(_class_name(type(value)))}{_text(name)}"


def _class_name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _tuple_parts(value: object) -> Iterable[tuple[str, object]] | None:
    if not issubclass(type(value), tuple):
        return None
    if type(value).__eq__ is not _TUPLE.__eq__:
        raise _own_rule(value)
    return (("", part) for part in _TUPLE.__iter__(cast("tuple[object, ...]", value)))


def _attrs_parts(value: object) -> Iterable[tuple[str, object]] | None:
    cls = type(value)
    if not attrs.has(cls):
        return None
    made = next(one for one in cls.__mro__ if "__attrs_attrs__" in vars(one))
    properties = attrs.inspect(made)
    if not properties.is_frozen:
        raise _unsupported(f"is a {describe_type(value)}, an attrs class that is not frozen")
    if not properties.added_eq or not _written_by(cls, "<attrs generated"):
        raise _own_rule(value)
    return (
        (field.name, part if field.eq_key is None else field.eq_key(part))
        for field in attrs.fields(made)
        if field.eq
        for part in [getattr(value, field.name)]
    )


def _dataclass_parts(value: object) -> Iterable[tuple[str, object]] | None:
    cls: Any = type(value)
    parameters: Any = getattr(cls, "__dataclass_params__", None)  # documented nowhere
    if parameters is None:
        return None
    if not parameters.frozen:
        raise _unsupported(f"is a {describe_type(value)}, a dataclass that is not frozen")
    if not parameters.eq or not _written_by(cls, "<string>"):
        raise _own_rule(value)
    return (
        (field.name, getattr(value, field.name))
        for field in dataclasses.fields(cls)
        if field.compare
    )


def _pydantic_parts(value: object) -> Iterable[tuple[str, object]] | None:
    cls: Any = type(value)  # pydantic is not a dependency of this module
    fields: dict[str, object] | None = getattr(cls, "__pydantic_fields__", None)
    if fields is None or dataclasses.is_dataclass(cls):
        return None
    if not cls.model_config.get("frozen"):
        raise _unsupported(f"is a {describe_type(value)}, a pydantic model that is not frozen")
    if not cls.__eq__.__module__.startswith("pydantic."):
        raise _own_rule(value)
    if getattr(value, "__pydantic_private__", None):
        raise _unsupported(f"is a {describe_type(value)}, a model with private attributes")
    extra: dict[str, object] = getattr(value, "__pydantic_extra__", None) or {}
    declared: list[tuple[str, object]] = [(name, getattr(value, name)) for name in fields]
    return declared + [(name, extra[name]) for name in sorted(extra)]


def _written_by(cls: type, source: str) -> bool:
    """Tell whether a library wrote a class's ``__eq__``: then the fields are all of it."""
    code = getattr(cls.__eq__, "__code__", None)
    return isinstance(code, types.CodeType) and code.co_filename.startswith(source)


def _missing(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.SCOPE_MISSING,
        f"the scope, or a part of it, {problem}",
        instead="return the authenticated principal, or raise HTTPException(401)",
    )


def _own_rule(value: object) -> RegistrationError:
    return _unsupported(f"is a {describe_type(value)}, which is compared by its own rule")


def _unsupported(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.SCOPE_TYPE_UNSUPPORTED,
        f"the scope, or a part of it, {problem}",
        instead="return a str, int, UUID, enum member, tuple or frozen class of these, "
        "or an object with scope_key() -> str",
    )
