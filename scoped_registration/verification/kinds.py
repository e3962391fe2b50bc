"""Which objects can carry state, by their class alone.

No code of a product runs here: a class is read through the descriptors of `type`, never with
`getattr`, and is remembered by its identity, since a metaclass may have a hash of its own.
The one exception: whether a class is of a declared or shareable type, or a frozen one of
attrs, may run a hook of a metaclass, once for each class; one that fails says no.
"""

from __future__ import annotations

import contextvars
import datetime
import functools
import logging
import re
import sys
import types
import uuid
import weakref
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from scoped_registration.verification.classes import (
    asked,
    can_gain_state,
    class_name,
    has_dict,
    has_hidden_state,
    is_frozen,
    is_one,
    mro_of,
)

__all__ = [
    "COUNTED",
    "HOLLOW",
    "OPEN",
    "SHAREABLE",
    "SPECIAL",
    "TOOLS",
    "VIEWS",
    "Kinds",
    "LruCache",
]

OPEN = 1
"""Walked through. A kind of 0 is not: an atom, a class, a module, a weak reference."""
COUNTED = 2
"""Mutable: a finding where two products have it."""
SPECIAL = 4
"""Its parts are not simply what it refers to; see `object_graph.parts_of`."""
SHAREABLE = 8
"""The framework makes it to be shared: no finding, and what is below it is none either."""
HOLLOW = 16
"""A class whose methods set no attribute: an instance without any is a mere marker."""

LruCache: type = type(functools.lru_cache(len))

# Without state, and nothing below them belongs to a product.
_STOPS: tuple[Any, ...] = (  # Any: pyright has no one type for all of these
    type,
    types.ModuleType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
    types.GenericAlias,
    types.UnionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    property,
    Enum,
    logging.Logger,
    logging.LoggerAdapter,
    re.Pattern,
    weakref.ReferenceType,
    weakref.ProxyType,
    weakref.CallableProxyType,
    contextvars.ContextVar,
    contextvars.Token,
)
# The same, known by name: they are not imported for this.
_STOP_NAMES = frozenset(
    {
        "_abc._abc_data",
        "_csv.Dialect",
        "_regex.Pattern",
        "asyncio.events.AbstractEventLoop",
        "builtins.PyCapsule",
        "concurrent.futures._base.Executor",
        "decimal.Context",  # of a thread or task, and so in every copy of its context
        "ipaddress._IPAddressBase",
        "loguru._logger.Logger",
        "numpy.dtype",
        "opentelemetry.metrics.Instrument",
        "opentelemetry.metrics.Meter",
        "opentelemetry.metrics.MeterProvider",
        "opentelemetry.trace.Tracer",
        "opentelemetry.trace.TracerProvider",
        "pydantic_settings.main.BaseSettings",
        "sqlalchemy.event.base._Dispatch",  # of a class, which each instance refers to
        "sqlalchemy.orm.instrumentation.ClassManager",
        "structlog._base.BoundLoggerBase",
        "structlog._config.BoundLoggerLazyProxy",
    }
)
# Settings that clients made for each product share, as constants of their library. Looked up
# where they are loaded: libraries that export them, as openai does, rewrite their names.
_SETTINGS = (
    *((module, name) for module in ("httpx", "httpx2") for name in ("Timeout", "Limits")),
    *(("pydantic.types", name) for name in ("SecretBytes", "SecretStr")),
    ("json.decoder", "JSONDecoder"),
    ("json.encoder", "JSONEncoder"),
    ("ssl", "SSLContext"),
    ("string", "Template"),
    ("textwrap", "TextWrapper"),
)
# Each is implemented in Python or in C, under varying names.
_IMMUTABLE_MAPPINGS = (("frozendict", "frozendict"), ("sqlalchemy.util", "immutabledict"))
# A task that a factory starts holds, in its context, the lease that it is built for.
_OURS = f"{__name__.partition('.')[0]}."
# Modules whose classes describe types and fields: typing's singletons, class machinery.
_MACHINERY = frozenset(
    {
        "annotated_types",
        "attr._make",
        "dataclasses",
        "inspect",
        "pydantic.fields",
        "pydantic.type_adapter",
        "pydantic_core",
        "pydantic_core._pydantic_core",
        "typing",
        "typing_extensions",
    }
)
# An instance of one of these has nothing below it; one of a subclass may have attributes.
_ATOMS: tuple[type[Any], ...] = (
    int,
    float,
    complex,
    str,
    bytes,
    range,
    types.NoneType,
    types.EllipsisType,
    types.NotImplementedType,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
    uuid.UUID,
)
_ATOM_NAMES = frozenset(
    {
        "decimal.Decimal",
        "fractions.Fraction",
        "pathlib.PurePath",
        "pathlib._local.PurePath",
        "zoneinfo.ZoneInfo",
        "_struct.Struct",
    }
)
# Not mutable themselves, whatever they hold.
_IMMUTABLES: tuple[type[Any], ...] = (
    tuple,
    frozenset,
    slice,
    super,
    staticmethod,
    classmethod,
    types.CellType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    re.Match,
)
_IMMUTABLE_NAMES = frozenset(
    {
        "operator.attrgetter",
        "operator.itemgetter",
        "operator.methodcaller",
        *(f"rpds.{name}" for name in ("HashTrieMap", "HashTrieSet", "List", "Queue", "Stack")),
    }
)
# A function that stands as a tool is that function. Each class, itself and not one derived from
# it, has attributes in which it keeps what it has read off the function.
TOOLS: dict[str, tuple[str, ...]] = {
    "agent_framework._tools.FunctionTool": (
        "_cached_parameters",
        "_input_schema_cached",
        "_invocation_duration_histogram",
        "additional_properties",
    ),
    "langchain_core.tools.structured.StructuredTool": (),
}
_EMPTY: dict[str, str] = {}
VIEWS: tuple[type[Any], ...] = (
    types.MappingProxyType,
    *(type(view) for view in (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items())),
)
"""Through these a dict can be read only: it is not one more thing that is held."""
_WITH_PARTS: tuple[type[Any], ...] = (
    types.FunctionType,
    types.MethodType,
    functools.partial,
    LruCache,
    *VIEWS,
)


class Kinds:
    """Remembers the kind of each class that a walk has met.

    Args:
        stops: Whether instances of a class, and what is below them, may be shared.
        shareable: Whether the very same instance may be in two products.
    """

    def __init__(
        self, stops: Callable[[type], bool], shareable: Callable[[type], bool] | None
    ) -> None:
        self.known: dict[int, int] = {}
        self._stops = stops
        self._shareable = shareable
        self._alive: dict[int, weakref.ref[type]] = {}

    def of(self, cls: type) -> int:
        """Return the kind of a class."""
        kind = self.known.get(id(cls))
        return self._learn(cls) if kind is None else kind

    def _learn(self, cls: type) -> int:
        identity = id(cls)

        def forget(_: object) -> None:  # before another class can have the same identity
            self.known.pop(identity, None)
            self._alive.pop(identity, None)

        kind = 0 if self._stops(cls) else kind_of(cls)
        if kind and self._shareable is not None and asked(self._shareable, cls):
            kind |= SHAREABLE | COUNTED  # so that a comparison sees it and stops there
        self._alive[identity] = weakref.ref(cls, forget)
        self.known[identity] = kind
        return kind


def kind_of(cls: type) -> int:  # noqa: PLR0911  # a list of rules, the first that fits
    """Return what instances of a class are to a walk."""
    names = {".".join(class_name(base)) for base in mro_of(cls)}
    module = class_name(cls)[0]
    if is_one(cls, _STOPS) or names & _STOP_NAMES or module in _MACHINERY:
        return 0
    if module.startswith(_OURS) or _are_settings(cls):
        return 0
    if is_one(cls, _ATOMS) or names & _ATOM_NAMES:
        return OPEN if has_dict(cls) else 0
    if is_one(cls, _IMMUTABLES) or names & _IMMUTABLE_NAMES or _is_immutable_mapping(cls):
        return OPEN
    if is_one(cls, _WITH_PARTS) or ".".join(class_name(cls)) in TOOLS:
        return OPEN | SPECIAL
    if cls is contextvars.Context:
        return OPEN | SPECIAL | COUNTED
    if has_hidden_state(cls):
        return OPEN | COUNTED
    if is_frozen(cls):
        return OPEN | SPECIAL if has_dict(cls) else OPEN
    return OPEN | COUNTED if can_gain_state(cls) else OPEN | COUNTED | HOLLOW


def _are_settings(cls: type) -> bool:
    return _is_exported(cls, _SETTINGS)


def _is_immutable_mapping(cls: type) -> bool:
    return _is_exported(cls, _IMMUTABLE_MAPPINGS)


def _is_exported(cls: type, exports: Iterable[tuple[str, str]]) -> bool:
    return any(
        vars(sys.modules[module]).get(name) is cls
        for module, name in exports
        if module in sys.modules
    )
