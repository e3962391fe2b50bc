"""Scopes: which values name a principal, who resolves them, and what a factory is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from enum import Enum
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, runtime_checkable
from uuid import UUID

from typing_extensions import TypeVar, override

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.keys import check_thread_id, scope_digest, scope_text, storage_key

__all__ = [
    "Current",
    "ScopeContext",
    "ScopeResolver",
    "ScopeValue",
    "Share",
    "SupportsScopeKey",
    "check_thread_id",
    "scope_digest",
    "scope_text",
    "share_of",
    "share_text",
    "storage_key",
]


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
# Two levels: a recursive alias takes the argument's name out of mypy's messages.
ScopeValue: TypeAlias = _ScopePart | tuple[_ScopePart | tuple[_ScopePart, ...], ...]
"""The shapes a scope may have. A checker sees them; the rest is checked per request.

`bool` is told from `int` at run time only, and a frozen class from a mutable one where a
checker does not model hashing.
"""

Share: TypeAlias = str | tuple[str]
"""A scope in a key: a `str` as it is, anything else as its canonical text in a tuple.

A `str` is nearly every scope, and so no text is made for it each time. A tuple equals no `str`.
"""


def share_of(scope: object) -> Share:
    """Return what stands for a scope in a key; equal for one principal and no other.

    Raises:
        RegistrationError: As `scope_text`.
    """
    text = scope_text(scope)
    if isinstance(scope, str) and text.startswith("s"):  # an enum member has a text of its own
        return str.__str__(scope)
    return (text,)


def share_text(share: Share) -> str:
    """Return the canonical text of the scope that stands in a key."""
    return scope_text(share) if isinstance(share, str) else share[0]


S_co = TypeVar("S_co", bound=ScopeValue, covariant=True)


class _Yielded(Protocol[S_co]):
    """What a dependency that yields returns: an iterator, told by its own method.

    A string and a tuple have `Iterator`'s other method as well, and zuban takes them apart.
    """

    def __next__(self) -> S_co: ...


class ScopeResolver(Protocol[S_co]):
    """A FastAPI dependency that says who calls.

    It is a protocol and no `Callable`, because mypy solves a protocol first: the scope's
    type is known when it looks at a lambda factory.
    """

    # A dependency declares parameters of its own, which FastAPI fills.
    def __call__(
        self, *args: Any, **kwargs: Any
    ) -> Awaitable[S_co] | _Yielded[S_co] | AsyncIterator[S_co] | S_co:
        """Return who calls, or yield it."""
        ...


class Current:
    """The scope of the lease now running, of one instance; None outside a lease."""

    __slots__ = ("scope",)

    def __init__(self) -> None:
        self.scope: Any = None  # of a context of any scope


class ScopeContext(Generic[S_co]):
    """What a factory receives: for whom, and for which thread, it builds.

    Example:
        ```python
        def build_chat(context: ScopeContext[str]) -> Chat:
            return Chat(history_file=f"{context.storage_key}.json")
        ```
    """

    __slots__ = ("_current", "_registration", "_scope", "_scope_text", "_thread_id")

    def __init__(
        self,
        registration: str,
        scope: S_co,
        thread_id: str,
        scope_text: str,
        current: Current | None = None,
    ) -> None:
        self._registration = registration
        self._scope = scope
        self._thread_id = thread_id
        self._scope_text = scope_text
        self._current = current or Current()

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
        # The pool has checked that the value has the same key.
        current: S_co | None = self._current.scope
        if current is None:
            raise RegistrationError(
                ReasonCode.NO_CURRENT_LEASE,
                "ScopeContext.current was read while no lease of this instance is running",
                instead="read it inside a run, or use ScopeContext.scope",
                registration=self._registration,
            )
        return current

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
