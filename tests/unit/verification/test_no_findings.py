"""What products may have in common is no finding; each case has one beside it that is."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import ipaddress
import logging
import os
import pathlib
import re
import sys
import types
import typing
import uuid
import weakref
import zoneinfo
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs
import httpx
import pydantic
import pytest

from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import compare, survey
from tests.unit.verification.support import Box, found, paths

T = TypeVar("T")


class Role(enum.Enum):
    ADMIN = "admin"


class Heavy(enum.Enum):
    HELD = ["a list"]  # noqa: RUF012  # a value of an enum is a constant


class Marker: ...


class SlottedMarker:
    __slots__ = ()


def exported_marker() -> Marker:
    """Return a sentinel as a library has it that rewrites the modules of all it exports."""
    marker = Marker()
    marker.__module__ = "library"
    return marker


class Client(Generic[T]):
    def __init__(self) -> None:
        self.pool: list[T] = []


class Derived(Client[str]): ...


class Port(ABC):
    @abstractmethod
    def send(self) -> None: ...


class Sent:
    def __init__(self) -> None:
        self.log: list[str] = []

    def send(self) -> None: ...


Port.register(Sent)


@attrs.frozen
class Frozen:
    name: str
    tags: tuple[str, ...] = ()


@attrs.frozen(slots=False)
class FrozenWithDict:
    name: str
    tags: object = ()


@dataclasses.dataclass(frozen=True)
class FrozenDataclass:
    name: str
    tags: object = ()


class FrozenModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    name: str
    tags: object = ()


class FieldHolder(pydantic.BaseModel):
    turns: list[str] = pydantic.Field(default_factory=list)


VARIABLE: contextvars.ContextVar[list[str]] = contextvars.ContextVar("turns")


def annotated(name: int) -> None: ...


@functools.singledispatch
def dispatched(value: object) -> None: ...


@functools.lru_cache
def remembered() -> Marker:
    return Marker()


def declares(**declared: object) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Write onto a function, as the decorator of a framework does."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        function.__dict__["declared"] = declared
        return function

    return decorate


class Handling:
    """Reads what a decorator declared into each instance."""

    def __init__(self) -> None:
        self.specs = dict(self.handle.__dict__["declared"])
        self.handlers = {str: self.handle}

    @declares(types=["str", "int"])
    def handle(self) -> None: ...


class Wrapper:
    def __init__(self, function: Callable[..., None]) -> None:
        copied: Any = functools.update_wrapper  # typeshed wants a function
        copied(self, function)


IMMUTABLE: dict[str, object] = {
    "none": None,
    "text": "a text",
    "number": 10**30,
    "bytes": b"abc",
    "ellipsis": ...,
    "tuple": (1, ("a", 2.5), frozenset([3])),
    "range": range(3),
    "slice": slice(1, 2),
    "enum": Role.ADMIN,
    "enum of a list": Heavy.HELD,
    "date": datetime.datetime.now(datetime.UTC),
    "decimal": decimal.Decimal("1.5"),
    "uuid": uuid.uuid4(),
    "path": pathlib.Path("a") / "b",
    "address": ipaddress.ip_address("127.0.0.1"),
    "network": ipaddress.ip_network("127.0.0.0/8"),
    "zone": zoneinfo.ZoneInfo("UTC"),
    "pattern": re.compile("a+"),
    "frozen attrs": Frozen("a", ("b",)),
    "frozen attrs with a dict": FrozenWithDict("a"),
    "frozen dataclass": FrozenDataclass("a"),
    "frozen pydantic": FrozenModel.model_validate({"name": "a", "more": "b"}),
}
NOT_STATE: dict[str, object] = {
    "class": Client,
    "generic alias": list[int],
    "typing alias": typing.Optional[typing.Any],  # noqa: UP045  # an object of typing's own
    "type variable": T,
    "module": os,
    "function": annotated,
    "builtin function": print,
    "lambda": lambda: None,
    "method of a class": dict.fromkeys,
    "single dispatch": dispatched,
    "cached function": remembered,
    "partial": functools.partial(annotated, name=1),
    "logger": logging.getLogger("a"),
    "context variable": VARIABLE,
    "weak reference": weakref.ref(Client),
    "environment": os.environ,
    "standard output": sys.stdout,
    "loaded modules": sys.modules,
    "signature": inspect.signature(annotated),
    "field of attrs": attrs.fields(Frozen)[0],
    "field of a dataclass": dataclasses.fields(FrozenDataclass)[0],
    "field of pydantic": FieldHolder.model_fields["turns"],
    "validator of pydantic": FieldHolder.__pydantic_validator__,
    "view of a dict": types.MappingProxyType({"a": 1}),
    "sentinel": object(),
    "marker": Marker(),
    "marker with slots": SlottedMarker(),
    "marker that is exported": exported_marker(),
}


@pytest.mark.parametrize("case", [*IMMUTABLE, *NOT_STATE])
def test_what_carries_nothing_does_not_count(case: str) -> None:
    held = {**IMMUTABLE, **NOT_STATE}[case]
    mutable = Client[str]()
    assert not found(lambda: Box(held=held, all=[held]))
    assert paths(lambda: Box(held=held, client=mutable)) == ["box.client"]


PARTS: dict[str, Callable[[Any], object]] = {
    "tuple": lambda it: (1, (it,)),
    "frozenset": lambda it: frozenset([(it,)]),
    "frozen attrs": lambda it: Frozen("a", it),
    "frozen attrs with a dict": lambda it: FrozenWithDict("a", it),
    "frozen dataclass": lambda it: FrozenDataclass("a", it),
    "frozen pydantic": lambda it: FrozenModel(name="a", tags=it),
    "frozen pydantic, extra": lambda it: FrozenModel.model_validate({"name": "a", "more": it}),
    "slice": lambda it: slice(it, None),
    "partial": lambda it: functools.partial(print, it),
    "view": lambda it: types.MappingProxyType({"a": it}),
    "values": lambda it: {"a": it}.values(),
}


@pytest.mark.parametrize("case", PARTS)
def test_the_parts_of_what_does_not_change_do_count(case: str) -> None:
    shared = PARTS[case](Client[str]())
    (finding,) = found(lambda: Box(held=shared))
    assert finding.type_name.endswith(".Client")
    assert finding.path_second.startswith("box.held")


def test_a_marker_counts_once_it_has_an_attribute() -> None:
    marker = Marker()
    permitted = Permitted()
    first, second = survey(Box(held=marker), permitted), survey(Box(held=marker), permitted)
    assert not compare(first, second, hidden=())
    marker.__dict__["turns"] = []
    (shared,) = compare(first, second, hidden=())
    assert shared.path_second == "box.held"


def test_event_loops_and_executors_do_not_count() -> None:
    loop = asyncio.new_event_loop()
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        assert not found(lambda: Box(loop=loop, executor=executor))
    loop.close()


def test_what_is_behind_a_weak_reference_is_not_followed() -> None:
    client = Client[str]()
    registry: weakref.WeakValueDictionary[str, Client[str]] = weakref.WeakValueDictionary()
    registry["a"] = client

    def make() -> Box:
        own = weakref.WeakValueDictionary(registry)
        return Box(one=weakref.ref(client), all=own, proxy=weakref.proxy(client))

    assert not found(make)
    assert paths(lambda: Box(registry=registry)) == ["box.registry"]


def test_a_method_does_not_lead_to_what_its_class_holds() -> None:
    turns: list[str] = []

    def turns_of(_: object) -> list[str]:
        return turns

    class Chat:
        def __init__(self) -> None:
            self.on_turn = self.add
            self.other_name = self.remove
            self.make = self.of

        def add(self) -> list[str]:
            return turns

        remove = turns_of

        @classmethod
        def of(cls) -> list[str]:
            return turns

    assert not found(Chat)
    assert paths(lambda: Box(add=types.MethodType(turns_of, Marker()))) == [
        "box.add.__func__.<closure turns>"
    ]


def test_what_a_decorator_wrote_onto_a_method_does_not_count() -> None:
    assert not found(Handling)
    assert not found(lambda: Box(handling=[Handling()]))
    assert not found(lambda: Wrapper(annotated))
    plain: list[str] = ["str", "int"]
    assert paths(lambda: Box(handling=Handling(), types=plain)) == ["box.types"]


def test_what_a_wrapped_method_closes_over_counts() -> None:
    turns: list[str] = ["a"]

    class Chat:
        def __init__(self) -> None:
            self.turns = turns

        @functools.wraps(lambda: turns)
        def add(self) -> None: ...

    assert paths(Chat) == ["chat.turns"]


SHARES: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "object": (Client[str], lambda it: it),
    "type": (Client[str], lambda it: Client),
    "base": (Derived, lambda it: Client),
    "parametrized type": (Client[str], lambda it: Client[str]),
    "virtual base": (Sent, lambda it: Port),
    "http client": (httpx.AsyncClient, lambda it: it),
    "type of http client": (httpx.AsyncClient, lambda it: httpx.AsyncClient),
}


@pytest.mark.parametrize("case", SHARES)
def test_what_is_declared_does_not_count_nor_what_is_below_it(case: str) -> None:
    make_client, declare = SHARES[case]
    client = make_client()
    assert found(lambda: Box(client=client))
    assert not found(lambda: Box(client=client, all={"a": client}), shares=(declare(client),))


def test_another_way_to_what_a_declared_object_holds_counts() -> None:
    client = Client[str]()
    assert paths(lambda: Box(client=client, pool=client.pool), shares=[client]) == ["box.pool"]


def test_a_shareable_kind_is_excused_as_one_object_and_walked_as_two() -> None:
    def shareable(cls: type) -> bool:
        return issubclass(cls, Client | FrozenWithDict)

    one = Client[str]()
    pool: list[str] = []

    def two() -> Box:
        client = Client[str]()
        client.pool = pool
        return Box(client=client)

    assert found(lambda: Box(client=one))
    assert not found(lambda: Box(client=one), shareable=shareable)
    assert not found(lambda: one, shareable=shareable)
    (shared,) = found(two, shareable=shareable)
    assert shared.path_second == "box.client.pool"
    frozen = FrozenWithDict("a", pool)
    assert found(lambda: Box(client=frozen))
    assert not found(lambda: Box(client=frozen), shareable=shareable)
    (beside,) = found(lambda: Box(client=one, pool=one.pool), shareable=shareable)
    assert beside.path_second == "box.pool"


@pytest.mark.parametrize(
    "make", [FieldHolder, lambda: Frozen("a"), httpx.AsyncClient, httpx.Client]
)
def test_products_of_their_own_share_nothing(make: Callable[[], object]) -> None:
    assert not found(make)
