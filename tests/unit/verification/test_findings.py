"""What two products share is found, and its path can be read (promise P9)."""

from __future__ import annotations

import asyncio
import collections
import contextvars
import dataclasses
import functools
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, ClassVar

import attrs
import pydantic
import pytest

from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import Shared, compare, survey
from tests.unit.verification.support import Box, found, paths


class Memory:
    def __init__(self) -> None:
        self.turns: list[str] = []

    def add(self, turn: str) -> None:
        self.turns.append(turn)


class Slotted:
    __slots__ = ("empty", "memory")

    def __init__(self, memory: object) -> None:
        self.memory = memory


@attrs.define
class AttrsChat:
    memory: object


@attrs.frozen
class FrozenChat:
    memory: object


@dataclasses.dataclass(frozen=True)
class FrozenDataclass:
    memory: object


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)

    memory: Memory
    _seen: list[Memory] = pydantic.PrivateAttr(default_factory=list[Memory])


class FrozenModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True, frozen=True, extra="allow")

    memory: Memory


class ListOfOwn(list[object]):
    pass


MEMORY = Memory()
VARIABLE: contextvars.ContextVar[object] = contextvars.ContextVar("turns")


def listener(memory: object) -> Callable[[], object]:
    def listen() -> object:
        return memory

    return listen


def defaulted(memory: object) -> Callable[[], object]:
    def listen(name: str = "", held: object = memory, *, more: object = None) -> object:
        return (name, held, more)

    return listen


def keyword_only(memory: object) -> Callable[[], object]:
    def listen(*, held: object = memory) -> object:
        return held

    return listen


def in_context(memory: object) -> contextvars.Context:
    context = contextvars.copy_context()
    context.run(VARIABLE.set, memory)
    return context


def generator(memory: object) -> Generator[object]:
    held = memory
    yield held
    yield held


def started(memory: object) -> Generator[object]:
    begun = generator(memory)
    next(begun)
    return begun


async def agenerator(memory: object) -> AsyncGenerator[object]:
    yield memory


def model(memory: Memory) -> Model:
    made = Model.model_construct(memory=Memory())
    made._seen.append(memory)  # pyright: ignore[reportPrivateUsage]  # a private attribute of pydantic
    return made


class OwnPartial(functools.partial[object]):
    memory: object


def attributed(memory: object) -> OwnPartial:
    made = OwnPartial(listener(None))
    made.memory = memory
    return made


def itself(memory: Memory) -> list[object]:
    made: list[object] = [memory]
    made.append(made)
    return made


CASES: dict[str, tuple[Callable[[Any], object], str]] = {
    "attribute": (lambda it: Box(memory=it), "box.memory"),
    "two levels": (lambda it: Box(inner=Box(memory=it)), "box.inner.memory"),
    "the product itself": (lambda it: it, "memory"),
    "slot": (Slotted, "slotted.memory"),
    "attrs": (AttrsChat, "attrs_chat.memory"),
    "frozen attrs": (FrozenChat, "frozen_chat.memory"),
    "frozen dataclass": (FrozenDataclass, "frozen_dataclass.memory"),
    "pydantic": (lambda it: Model.model_construct(memory=it), "model.memory"),
    "pydantic, private": (model, 'model.__pydantic_private__["_seen"][0]'),
    "pydantic, frozen": (lambda it: FrozenModel(memory=it), "frozen_model.memory"),
    "pydantic, extra": (
        lambda it: FrozenModel.model_construct(memory=Memory(), more=it),
        "frozen_model[...]",
    ),
    "list": (lambda it: Box(all=[0, it]), "box.all[1]"),
    "list of an own class": (lambda it: ListOfOwn([it]), "list_of_own[0]"),
    "tuple": (lambda it: Box(all=(0, (it,))), "box.all[1][0]"),
    "deque": (lambda it: Box(all=collections.deque([it])), "box.all[0]"),
    "set": (lambda it: Box(all={it}), "box.all{...}"),
    "frozenset": (lambda it: Box(all=frozenset([it])), "box.all{...}"),
    "mapping": (lambda it: Box(all={"a": {"b": it}}), "box.all[...][...]"),
    "mapping, number": (lambda it: {7: it}, "dict[...]"),
    "mapping, other key": (lambda it: {("a",): it, "b": 1}, "dict[...]"),
    "mapping, as key": (lambda it: {it: 1}, "dict.<key>"),
    "defaultdict": (
        lambda it: Box(all=collections.defaultdict(list, a=it)),
        "box.all[...]",
    ),
    "ordered": (lambda it: collections.OrderedDict[str, object](a=it), "ordered_dict[...]"),
    "closure": (lambda it: Box(listen=listener(it)), "box.listen.<closure memory>"),
    "default": (lambda it: Box(listen=defaulted(it)), "box.listen.<default held>"),
    "keyword default": (lambda it: Box(listen=keyword_only(it)), "box.listen.<default held>"),
    "bound method": (lambda it: Box(add=it.add), "box.add.__self__"),
    "bound builtin": (lambda it: Box(add=[it].append), "box.add.__self__[0]"),
    "partial, argument": (lambda it: functools.partial(print, it), "partial.args[0]"),
    "partial, keyword": (
        lambda it: functools.partial(print, end=it),
        "partial.keywords.end",
    ),
    "partial, function": (
        lambda it: functools.partial(listener(it)),
        "partial.func.<closure memory>",
    ),
    "partial of an own class": (attributed, "own_partial.memory"),
    "cached function": (
        lambda it: Box(get=functools.lru_cache(listener(it))),
        "box.get.__wrapped__.<closure memory>",
    ),
    "context": (lambda it: Box(context=in_context(it)), "box.context[<turns>]"),
    "generator": (lambda it: Box(run=started(it)), "box.run.<local memory>"),
    "asynchronous generator": (
        lambda it: Box(run=agenerator(it)),
        "box.run.<local memory>",
    ),
    "exception": (lambda it: Box(error=ValueError(it)), "box.error.args[0]"),
    "a cycle": (itself, "list[0]"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_shared_object_is_found_wherever_it_is_held(case: str) -> None:
    hold, path = CASES[case]
    assert found(lambda: hold(MEMORY)) == (Shared(path, path, f"{Memory.__module__}.Memory"),)


@pytest.mark.parametrize("case", CASES)
def test_one_of_its_own_in_each_product_is_no_finding(case: str) -> None:
    hold, _ = CASES[case]
    assert not found(lambda: hold(Memory()))


@pytest.mark.parametrize(
    "make",
    [
        list,
        dict,
        set,
        bytearray,
        collections.deque,
        asyncio.Lock,
        asyncio.Event,
        asyncio.Queue,
        threading.Lock,
        threading.local,
        contextvars.Context,
        lambda: iter([1]),
        lambda: Box(a=1),
        lambda: started(1),
        lambda: memoryview(bytearray(b"a")),
    ],
)
def test_every_mutable_kind_counts(make: Callable[[], object]) -> None:
    shared = make()
    assert paths(lambda: Box(held=shared)) == ["box.held"]
    assert not paths(lambda: Box(held=make()))


def test_parts_that_a_cached_function_returns_are_found() -> None:
    @functools.lru_cache
    def memory_of(thread: str) -> Memory:
        return Memory()

    assert paths(lambda: Box(memory=memory_of("t"))) == ["box.memory"]


def test_a_default_argument_of_the_factory_is_found() -> None:
    def make(turns: list[str] = []) -> Box:  # noqa: B006  # the mistake under test
        return Box(turns=turns)

    assert paths(make) == ["box.turns"]


def test_a_class_attribute_counts_once_an_instance_has_it() -> None:
    class Chat:
        turns: ClassVar[list[str]] = []

    class Assigning(Chat):
        def __init__(self) -> None:
            self.own = self.turns

    assert not paths(Chat)
    assert paths(Assigning) == ["assigning.own"]


def test_one_dict_as_the_attributes_of_two_objects_is_found() -> None:
    attributes: dict[str, object] = {"a": 1}

    class Borg:
        def __init__(self) -> None:
            self.__dict__ = attributes

    assert paths(Borg) == ["borg.__dict__"]


def test_a_variable_that_both_rebind_is_found() -> None:
    def counter() -> Callable[[], int]:
        count = 0

        def bump() -> int:
            nonlocal count
            count += 1
            return count

        return bump

    def nested() -> Callable[[], Callable[[], None]]:
        name = ""

        def outer() -> Callable[[], None]:
            def inner() -> None:
                nonlocal name
                name = "a"

            return inner

        return outer

    shared, deeper = counter(), nested()
    assert paths(lambda: Box(bump=shared)) == ["box.bump.<closure count>"]
    assert paths(lambda: Box(bump=deeper)) == ["box.bump.<closure name>"]
    assert not paths(lambda: Box(bump=counter()))


def test_a_variable_that_both_rebind_is_found_where_another_function_led_to_it_before() -> None:
    def setter_and_getter() -> tuple[Callable[[str], None], Callable[[], str]]:
        text = ""

        def set_text(new: str) -> None:
            nonlocal text
            text = new

        return set_text, lambda: text

    setter, getter = setter_and_getter()
    assert paths(lambda: Box(get=getter, set=setter)) == ["box.get.<closure text>"]
    assert not paths(lambda: Box(get=getter))


def test_paths_differ_where_the_products_do() -> None:
    memory = Memory()
    permitted = Permitted()
    first, second = Box(a=[memory]), Box(b={"c": memory})
    (shared,) = compare(survey(first, permitted), survey(second, permitted), hidden=())
    assert (shared.path_first, shared.path_second) == ("box.a[0]", "box.b[...]")


def test_what_the_first_product_has_let_go_is_still_found() -> None:
    memory = Memory()
    permitted = Permitted()
    first = Box(inner=Box(memory=memory))
    witness = survey(first, permitted)
    del first.__dict__["inner"].__dict__["memory"]
    (shared,) = compare(witness, survey(Box(memory=memory), permitted), hidden=())
    assert (shared.path_first, shared.path_second) == ("box.inner.<...>", "box.memory")
