"""Scope keys: which values name a principal, and how a key is made of them.

One canonical text stands for (scope, thread) everywhere: in the pool, in stores and
in locks. Two values that differ never have the same text (promise P2), because each
part carries its kind and its length.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Awaitable, Callable, Iterator
from enum import Enum
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, runtime_checkable
from uuid import UUID

import attrs
from typing_extensions import TypeVar, override

from scoped_registration.errors import ReasonCode, RegistrationError, describe_type

__all__ = ["ScopeContext", "ScopeResolver", "ScopeValue", "SupportsScopeKey"]

MAX_THREAD_ID = 512
_MAX_DEPTH = 16


@runtime_checkable
class SupportsScopeKey(Protocol):
    """A scope value that says itself what its identity is.

    The text is the whole identity: two values with the same text are one principal,
    whatever their classes, and a blank text names nobody (401).
    """

    def scope_key(self) -> str:
        """Return the identity as a text that is not blank."""
        ...


class _AttrsValue(Protocol):
    """An instance of a hashable attrs class: one that is not frozen has no hash."""

    # A tuple class that attrs makes for each class.
    __attrs_attrs__: ClassVar[Any]

    @override
    def __hash__(self) -> int: ...


class _DataclassValue(Protocol):
    """An instance of a hashable dataclass: one that is not frozen has no hash."""

    __dataclass_fields__: ClassVar[dict[str, Any]]  # as typeshed spells it

    @override
    def __hash__(self) -> int: ...


class _PydanticValue(Protocol):
    """An instance of a pydantic model."""

    __pydantic_fields__: ClassVar[dict[str, Any]]  # pydantic is no dependency of this module


_ScopePart: TypeAlias = (
    str | int | UUID | Enum | SupportsScopeKey | _AttrsValue | _DataclassValue | _PydanticValue
)
ScopeValue: TypeAlias = _ScopePart | tuple[_ScopePart, ...]
"""The shapes a scope may have. A checker sees them; the rest is checked per request.

`bool` is told from `int` at run time only, and a frozen class from a mutable one where a
checker does not model hashing.
"""

S_co = TypeVar("S_co", bound=ScopeValue, covariant=True)


class ScopeResolver(Protocol[S_co]):
    """A FastAPI dependency that says who calls.

    It is a protocol and no `Callable`, because mypy solves a protocol first: the scope's
    type is known when it looks at a lambda factory.
    """

    # A dependency declares parameters of its own, which FastAPI fills.
    def __call__(self, *args: Any, **kwargs: Any) -> Awaitable[S_co] | S_co: ...


class ScopeContext(Generic[S_co]):
    """What a factory receives: for whom, and for which thread, it builds.

    Example:
        ```python
        def build_chat(context: ScopeContext[str]) -> Chat:
            return Chat(history_file=f"{context.storage_key}.json")
        ```
    """

    __slots__ = ("_current", "_registration", "_scope", "_scope_text", "_thread_id")

    def __init__(self, registration: str, scope: S_co, thread_id: str, scope_text: str) -> None:
        self._registration = registration
        self._scope = scope
        self._thread_id = thread_id
        self._scope_text = scope_text
        self._current: S_co | None = None

    @property
    def scope(self) -> S_co:
        """The value that built the instance. See `current` for the caller of now."""
        return self._scope

    @property
    def current(self) -> S_co:
        """The resolver's value for the lease now running.

        It has the same key as `scope`, but a rotated token or changed roles are seen
        here. Read from it whatever decides what a caller may do.

        Raises:
            RegistrationError: ``no_current_lease`` outside a lease.
        """
        if self._current is None:
            raise RegistrationError(
                ReasonCode.NO_CURRENT_LEASE,
                "ScopeContext.current was read while no lease of this instance is running",
                instead="read it inside a run, or use ScopeContext.scope",
                registration=self._registration,
            )
        return self._current

    @property
    def thread_id(self) -> str:
        """The thread id of the caller; it names a thread and grants no access."""
        return self._thread_id

    @property
    def registration(self) -> str:
        """The name of the registration."""
        return self._registration

    @property
    def storage_key(self) -> str:
        """A name for this (registration, scope, thread), and for no other (promise P2).

        Stable across processes and releases, safe in file names and database keys, and
        without the principal in readable form: ``sr1-`` and 64 hexadecimal digits.
        """
        return storage_key(self._registration, self._scope_text, self._thread_id)

    @override
    def __repr__(self) -> str:
        return f"ScopeContext(registration={self._registration!r}, key={self.storage_key[:12]!r})"


def set_current(context: ScopeContext[Any], scope: object) -> None:
    """Set what `ScopeContext.current` answers; None outside a lease. For leases only."""
    context._current = scope  # pyright: ignore[reportPrivateUsage]  # same module


def storage_key(registration: str, scope_text: str, thread_id: str) -> str:
    """Return the stable digest of a whole key. Golden values stand in the tests."""
    return _digest("thread", registration, scope_text, thread_id)


def scope_digest(registration: str, scope_text: str) -> str:
    """Return the stable digest of one principal at one registration, for all threads."""
    return _digest("scope", registration, scope_text)


def _digest(*parts: str) -> str:
    text = "".join(map(_text, parts))
    return f"sr1-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def check_thread_id(value: object) -> str:
    """Return a thread id that can be a key, or refuse it (promise P7: it is bounded).

    Raises:
        RegistrationError: ``thread_id_invalid``.
    """
    if isinstance(value, str) and len(value) <= MAX_THREAD_ID and not _blank(value):
        return value
    if not isinstance(value, str):
        problem = f"the thread id is a {describe_type(value)}, not a str"
    elif len(value) > MAX_THREAD_ID:
        problem = f"the thread id has more than {MAX_THREAD_ID} characters"
    else:
        problem = "the thread id is empty or blank"
    raise RegistrationError(ReasonCode.THREAD_ID_INVALID, problem)


def scope_text(value: object) -> str:
    """Return the canonical text of a scope value.

    Args:
        value: What the resolver returned.

    Raises:
        RegistrationError: ``scope_missing`` for ``None`` and for an empty or blank
            value or part; ``scope_type_unsupported`` for a value that cannot be a key.
    """
    if type(value) is str and not _blank(value):  # nearly every call
        return _text(value)
    return _encode(value, depth=0)


def _blank(text: str) -> bool:
    """Tell whether a text shows nothing: control and zero-width characters included."""
    if text.isprintable():
        return not text.strip()
    return not any(char.isprintable() and not char.isspace() for char in text)


def _text(text: str) -> str:
    return f"s{len(text)}:{text}"


def _encode(value: object, *, depth: int) -> str:
    if depth > _MAX_DEPTH:
        raise _unsupported("is nested too deeply")
    if value is None:
        raise _missing("the scope, or a part of it, is None")
    if callable(getattr(type(value), "scope_key", None)):  # isinstance with a protocol is slow
        return _encode_own_key(value)
    if isinstance(value, Enum):
        return _encode_enum(value)
    if isinstance(value, str):
        if _blank(value):
            raise _missing("the scope, or a part of it, is empty or blank")
        return _text(str.__str__(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"i{int(value)};"
    if isinstance(value, UUID):
        return f"u{value.hex}"
    parts = _parts(value)
    if parts is None:
        raise _unsupported(f"is a {describe_type(value)}")
    encoded = [
        f"{'' if name is None else _text(name)}{_encode(part, depth=depth + 1)}"
        for name, part in parts
    ]
    if not encoded:
        raise _missing(f"the scope, or a part of it, is an empty {describe_type(value)}")
    head = "" if type(value) is tuple else _text(describe_type(value))
    return f"t{head}{len(encoded)}({''.join(encoded)})"


def _encode_own_key(value: Any) -> str:  # any class with a method scope_key
    key = value.scope_key()
    if not isinstance(key, str):
        raise _unsupported(f"has a scope_key() that returned a {describe_type(key)}")
    if _blank(key):
        raise _missing("scope_key() returned an empty or blank text")
    return f"k{_text(key)}"


def _encode_enum(value: Enum) -> str:
    inner = value.value
    if inner is None or (isinstance(inner, str) and _blank(inner)):
        raise _missing("the scope, or a part of it, is an enum member with a blank value")
    if not isinstance(value.name, str):  # a Flag without a bit has no name
        raise _unsupported(f"is a {describe_type(value)} without a name")
    return f"e{_text(describe_type(value))}{_text(value.name)}"


def _parts(value: object) -> Iterator[tuple[str | None, object]] | None:
    """Return the named parts that make up a value's equality; None if it is no such value."""
    if isinstance(value, tuple):
        names = getattr(type(value), "_fields", None) or (None,) * len(value)
        return iter(zip(names, value, strict=True))
    for read in (_attrs_parts, _pydantic_parts, _dataclass_parts):
        parts = read(value)
        if parts is not None:
            return parts
    return None


def _attrs_parts(value: object) -> Iterator[tuple[str, object]] | None:
    cls = type(value)
    if not attrs.has(cls):
        return None
    properties = attrs.inspect(cls)
    if not properties.is_frozen:
        raise _unsupported(f"is a {describe_type(value)}, an attrs class that is not frozen")
    if not properties.added_eq:
        raise _unsupported(f"is a {describe_type(value)}, which is compared by its own rule")
    return (
        (field.name, _compared(getattr(value, field.name), field.eq_key))
        for field in attrs.fields(cls)
        if field.eq
    )


def _compared(part: object, eq_key: Callable[[Any], Any] | None) -> object:
    return part if eq_key is None else eq_key(part)


def _dataclass_parts(value: object) -> Iterator[tuple[str, object]] | None:
    if not dataclasses.is_dataclass(value):
        return None
    cls: Any = type(value)  # __dataclass_params__ is documented nowhere, and typed nowhere
    if not cls.__dataclass_params__.frozen:
        raise _unsupported(f"is a {describe_type(value)}, a dataclass that is not frozen")
    if not cls.__dataclass_params__.eq:
        raise _unsupported(f"is a {describe_type(value)}, which is compared by its own rule")
    return (
        (field.name, getattr(value, field.name))
        for field in dataclasses.fields(value)
        if field.compare
    )


def _pydantic_parts(value: object) -> Iterator[tuple[str, object]] | None:
    cls: Any = type(value)  # pydantic is not a dependency of this module
    fields = getattr(cls, "__pydantic_fields__", None)
    if not isinstance(fields, dict) or dataclasses.is_dataclass(value):
        return None
    if not cls.model_config.get("frozen"):
        raise _unsupported(f"is a {describe_type(value)}, a pydantic model that is not frozen")
    if getattr(value, "__pydantic_private__", None):
        raise _unsupported(f"is a {describe_type(value)}, a model with private attributes")
    extra: dict[str, object] = getattr(value, "__pydantic_extra__", None) or {}
    names = [*fields, *sorted(extra)]
    return ((name, getattr(value, name)) for name in names)


def _missing(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.SCOPE_MISSING,
        problem,
        instead="return the authenticated principal, or raise HTTPException(401)",
    )


def _unsupported(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.SCOPE_TYPE_UNSUPPORTED,
        f"the scope, or a part of it, {problem}",
        instead="return a str, int, UUID, enum member, tuple or frozen class of these, "
        "or an object with scope_key() -> str",
    )
