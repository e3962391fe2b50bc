"""What the signature and the annotations of a callable say, read without calling it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import typing
from collections import abc
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import typing_extensions

__all__ = [
    "hints_of",
    "is_plain",
    "is_subclass",
    "members",
    "results_of",
    "returned_by",
    "signature_of",
    "without_partial",
]

AnyCallable: TypeAlias = Callable[..., object]

# A dependency may be asynchronous or a generator: what it yields or resolves to counts.
_FIRST = (abc.Iterator, abc.Iterable, abc.Generator, abc.AsyncIterator, abc.AsyncIterable)
_WRAPPERS = {
    **dict.fromkeys((*_FIRST, abc.AsyncGenerator), 0),
    abc.Awaitable: -1,
    abc.Coroutine: -1,
}


def signature_of(function: object) -> inspect.Signature | None:
    """Return the signature of a callable; some builtins have none."""
    try:
        return inspect.signature(typing.cast(AnyCallable, function))
    except (TypeError, ValueError):
        return None


def hints_of(function: object) -> dict[str, Any]:
    """Return those annotations of a callable that can be resolved."""
    function = without_partial(function)
    if isinstance(function, type):
        function = getattr(function, "__init__", None)
    try:
        function = inspect.unwrap(typing.cast(AnyCallable, _called(function)))
        annotations: dict[str, object] = function.__annotations__
    except Exception:  # no function, or annotations that raise when they are read
        return {}
    scope: dict[str, Any] = getattr(function, "__globals__", {})
    found: dict[str, Any] = {}
    for name, annotation in annotations.items():
        alone: Any = types.SimpleNamespace(__annotations__={name: annotation})
        try:  # one by one: a name under TYPE_CHECKING hides only its own annotation
            found |= typing.get_type_hints(alone, scope)
        except Exception:  # noqa: S112  # what cannot be read is not judged
            continue
    return found


def returned_by(resolver: object) -> Any:  # an annotation, of whatever kind
    """Return the annotated result of a resolver; of a class, the class."""
    resolver = without_partial(resolver)
    return resolver if isinstance(resolver, type) else hints_of(resolver).get("return", Any)


def results_of(resolver: object) -> Iterator[Any]:  # annotations, of whatever kind
    """Yield the annotated result of a resolver and those of its overloads."""
    yield returned_by(resolver)
    function = _called(inspect.unwrap(typing.cast(AnyCallable, without_partial(resolver))))
    with contextlib.suppress(AttributeError):  # a builtin is not overloaded
        overloads = typing.get_overloads(typing.cast(AnyCallable, function))
        yield from map(returned_by, overloads)


def members(annotation: object) -> Iterator[Any]:
    """Yield the alternatives of an annotation, behind aliases, new types and awaitables."""
    if isinstance(annotation, typing_extensions.TypeAliasType):
        annotation = annotation.__value__
    if isinstance(annotation, typing.NewType):
        annotation = annotation.__supertype__
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        for argument in arguments:
            yield from members(argument)
    elif origin in _WRAPPERS and arguments:
        yield from members(arguments[_WRAPPERS[origin]])
    else:
        yield annotation


def _called(function: object) -> object:
    """Return the function that runs when an object is called."""
    if inspect.isroutine(function):
        return function
    called: object = getattr(type(function), "__call__", function)  # noqa: B004  # to read it
    return called


def without_partial(function: object) -> object:
    """Return the callable behind partial applications."""
    while isinstance(function, functools.partial):
        function = typing.cast("functools.partial[object]", function).func
    return function


def is_plain(annotation: object) -> bool:
    """Tell whether an annotation is a class, and nothing more."""
    # `Any` is a class at run time.
    return (
        isinstance(annotation, type)
        and annotation is not Any
        and typing.get_origin(annotation) is None
    )


def is_subclass(cls: type, wanted: type) -> bool:
    """Tell whether a class is a kind of another, or cannot be asked."""
    try:
        return issubclass(cls, wanted)
    except TypeError:  # a protocol that is not made for it
        return True
