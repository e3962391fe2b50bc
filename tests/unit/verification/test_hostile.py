"""No code of a product's classes is run, whatever they define; nothing there breaks a survey."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import attrs
import pytest

from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import compare, survey
from tests.unit.verification.support import Box, found, paths

CALLED: list[str] = []


def _refuse(name: str) -> Callable[..., NoReturn]:
    def called(*args: object, **kwargs: object) -> NoReturn:
        CALLED.append(name)
        raise RuntimeError(name)

    return called


_METHODS = {
    f"__{name}__": _refuse(name)
    for name in (
        "bool", "call", "contains", "delattr", "dir", "eq", "format", "get", "getattr",
        "getattribute", "getitem", "hash", "index", "instancecheck", "int", "iter", "len", "lt",
        "missing", "ne", "next", "reduce", "reduce_ex", "repr", "reversed", "setattr", "sizeof",
        "str", "subclasscheck",
    )
}  # fmt: skip
_PROPERTIES = {
    name: property(_refuse(name)) for name in ("__class__", "__dict__", "__doc__", "secret")
}


def hostile(*bases: type, **slots: object) -> type[Any]:
    """Return a class that calls out whatever is asked of an instance."""
    return type("Hostile", bases or (object,), {**_METHODS, **_PROPERTIES, **slots})


class Meta(type):
    """A metaclass that calls out whatever is asked of its classes."""


for _name in ("eq", "hash", "getattribute", "instancecheck", "subclasscheck", "repr", "len"):
    setattr(Meta, f"__{_name}__", _refuse(f"metaclass {_name}"))
Meta.__module__ = "metas"

OfMeta: Any = type.__call__(Meta, "OfMeta", (), {})


def put(target: object, value: object) -> object:
    """Give a hostile object an attribute, past its own methods."""
    dict_of: Any = vars(Plain)["__dict__"]
    dict_of.__get__(target)["memory"] = value
    return target


class Plain: ...


class Held:
    def __init__(self) -> None:
        self.turns = ["a"]


def in_plain(value: object) -> object:
    return put(_new(hostile(Plain)), value)


def in_list(value: object) -> object:
    made: Any = _new(hostile(list))
    list[object].append(made, value)
    return made


def in_dict(value: object) -> object:
    made: Any = _new(hostile(dict))
    dict[str, object].__setitem__(made, "memory", value)
    return made


def in_set(value: object) -> object:
    made: Any = _new(hostile(set))
    set[object].add(made, value)
    return made


def in_tuple(value: object) -> object:
    return tuple[object].__new__(hostile(tuple), (value,))


def in_slot(value: object) -> object:
    cls = hostile(__slots__=("memory",))
    made = _new(cls)
    vars(cls)["memory"].__set__(made, value)
    return made


def in_attrs(value: object) -> object:
    @attrs.frozen(eq=False, slots=False, repr=False)
    class Base(Plain):
        memory: object = None

    return put(_new(hostile(Base)), value)


def of_a_metaclass(value: object) -> object:
    made = object.__new__(OfMeta)
    dict_of: Any = type.__getattribute__(OfMeta, "__dict__")["__dict__"]
    dict_of.__get__(made)["memory"] = value
    return made


def _new(cls: type[Any]) -> object:
    base: Any = next(each for each in cls.__mro__[1:] if each.__module__ == "builtins")
    return base.__new__(cls)


HOLDERS: dict[str, tuple[Callable[[object], object], str]] = {
    "plain": (in_plain, "box.held.memory"),
    "list": (in_list, "box.held[0]"),
    "dict": (in_dict, "box.held[...]"),
    "set": (in_set, "box.held{...}"),
    "tuple": (in_tuple, "box.held[0]"),
    "slot": (in_slot, "box.held.memory"),
    "frozen attrs": (in_attrs, "box.held.memory"),
    "metaclass": (of_a_metaclass, "box.held.memory"),
}


@pytest.mark.parametrize("case", HOLDERS)
def test_no_method_of_a_product_is_called(case: str) -> None:
    hold, path = HOLDERS[case]
    plain = Held()
    CALLED.clear()
    assert paths(lambda: Box(held=hold(plain))) == [path]
    assert not found(lambda: Box(held=hold(Held())))
    held = hold(Held())
    permitted = Permitted([held], shareable=lambda cls: False)
    first, second = (survey(Box(held=held, all=[plain]), permitted) for _ in range(2))
    (shared,) = compare(first, second, hidden=["a principal"])
    assert shared.path_second == "box.all[0]"
    assert not CALLED


@pytest.mark.parametrize("case", HOLDERS)
def test_a_hostile_object_is_itself_a_finding(case: str) -> None:
    hold, path = HOLDERS[case]
    held = hold(Held())
    CALLED.clear()
    (shared,) = found(lambda: Box(held=held))
    frozen = case in ("tuple", "frozen attrs")
    assert shared.path_second == (path if frozen else "box.held")
    assert not CALLED


def test_the_hostile_classes_of_these_tests_do_call_out() -> None:
    CALLED.clear()
    with pytest.raises(RuntimeError):
        len(in_list(1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(RuntimeError):
        hash(OfMeta)
    assert CALLED == ["len", "metaclass hash"]


def test_a_type_whose_subclass_hook_raises_declares_nothing() -> None:
    class Raising(type):
        def __subclasscheck__(cls, subclass: type) -> bool:
            raise RuntimeError

    declared = Raising("Declared", (), {})
    plain: list[int] = []

    def make() -> Box:
        return Box(held=plain)

    assert paths(make, shares=[declared]) == ["box.held"]
    (shared,) = found(make, shareable=lambda cls: issubclass(cls, declared))
    assert shared.path_second == "box.held"


def test_a_frozen_class_whose_metaclass_raises_is_a_mutable_one() -> None:
    refused: set[str] = set()

    class Refusing(type):
        def __getattribute__(cls, name: str) -> object:
            if name in refused:
                raise RuntimeError
            return super().__getattribute__(name)

    @attrs.frozen
    class Made(metaclass=Refusing):
        memory: list[int]

    held = Made([])
    assert paths(lambda: Box(held=held)) == ["box.held.memory"]
    refused.add("__dict__")
    assert paths(lambda: Box(held=held)) == ["box.held"]


def test_objects_written_in_c_are_survived() -> None:
    with (
        contextlib.closing(sqlite3.connect(":memory:")) as one,
        contextlib.closing(sqlite3.connect(":memory:")) as other,
    ):
        cursor = one.cursor()
        each = iter([one, other])
        assert not found(lambda: Box(held=next(each), limit=threading.Semaphore()))
        assert paths(lambda: Box(held=one)) == ["box.held"]
        (shared,) = found(lambda: Box(held=[cursor]))
        assert shared.type_name == "sqlite3.Cursor"


def test_a_deep_graph_needs_no_recursion() -> None:
    def nested(inner: list[object]) -> list[object]:
        for _ in range(20_000):
            inner = [inner]
        return inner

    shared: list[object] = []
    (finding,) = found(lambda: nested(shared))
    assert finding.path_second == "list" + "[0]" * 20 + ".<19960 steps>" + "[0]" * 20
    assert not found(lambda: nested([]))
