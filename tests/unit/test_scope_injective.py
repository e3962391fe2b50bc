"""Promise P2: two distinct keys never have one text.

The proof is a reader: it gets the shape of a value back from its text, knowing nothing
of the value. A text that can be read in one way only stands for one value only.
"""

# these tests try what no type admits

from __future__ import annotations

import itertools
import random
from typing import Any, cast
from uuid import UUID

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from scoped_registration.keys import is_blank, scope_leaves
from scoped_registration.scope import scope_digest, scope_text, storage_key
from tests.unit.samples import AttrsUser, DataclassUser, Keyed, ModelUser, Pair, Role


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def whole(self) -> object:
        shape = self._value()
        assert self._at == len(self._text)
        return shape

    def _value(self) -> object:
        kind = self._take(1)
        if kind == "s":
            return "str", self._sized()
        if kind == "i":
            return "int", int(self._until(";"))
        if kind == "u":
            return "uuid", UUID(self._take(32))
        if kind == "k":
            return "scope_key", self._string()
        if kind == "e":
            return "enum", self._string(), self._string()
        assert kind == "t"
        name = self._string() if self._text[self._at] == "s" else ""
        count = int(self._until("("))
        parts = tuple((self._string(), self._value()) for _ in range(count))
        assert self._take(1) == ")"
        return "parts", name, parts

    def _string(self) -> str:
        assert self._take(1) == "s"
        return self._sized()

    def _sized(self) -> str:
        return self._take(int(self._until(":")))

    def _until(self, end: str) -> str:
        stop = self._text.index(end, self._at)
        found = self._take(stop - self._at)
        self._at += 1
        return found

    def _take(self, count: int) -> str:
        found = self._text[self._at : self._at + count]
        self._at += count
        assert len(found) == count
        return found


def _shape(value: Any) -> object:  # noqa: PLR0911  # one for each shape
    """Return what a value is, in terms of equality."""
    cls = cast("type[object]", type(value))
    name = f"{cls.__module__}:{cls.__qualname__}"
    match value:
        case Role():
            return "enum", name, value.name
        case Keyed():
            return "scope_key", value.scope_key()
        case str() | int():
            return cls.__name__, value
        case UUID():
            return "uuid", value
        case Pair():
            return "parts", name, tuple(("", _shape(part)) for part in value)
        case tuple():
            parts = cast("tuple[object, ...]", value)
            return "parts", "", tuple(("", _shape(part)) for part in parts)
        case _:
            fields = ("tenant", "user")
            extra = sorted(getattr(value, "__pydantic_extra__", None) or {})
            return (
                "parts",
                name,
                tuple((field, _shape(getattr(value, field))) for field in (*fields, *extra)),
            )


def _visible(text: str) -> bool:
    return not is_blank(text)


_alphabet = st.sampled_from("0123456789:;()stuieks,-/\\ a\u0301e\x00\u200b\ud800\udc00\U00010000")
_text = (st.text(_alphabet, min_size=1, max_size=12) | st.text(min_size=1)).filter(_visible)
_leaf: st.SearchStrategy[Any] = (
    _text | st.integers() | st.uuids() | st.sampled_from(Role) | st.builds(Keyed, _text)
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(tuple),
        st.builds(Pair, _text, _text),
        st.builds(AttrsUser, _text, inner),
        st.builds(DataclassUser, _text, inner),
        st.builds(ModelUser, tenant=_text, user=_text | st.integers()),
        st.builds(ModelUser, tenant=_text, user=_text, more=_text),
        inner.map(scope_text),  # a text that looks like the key of a value
    )


_scope: st.SearchStrategy[Any] = st.recursive(_leaf, _containers, max_leaves=12)


@given(_scope)
@settings(max_examples=500, deadline=None)
def test_p2_a_scope_can_be_read_back_from_its_text(value: Any) -> None:
    assert _Reader(scope_text(value)).whole() == _shape(value)


def _leaves(shape: Any) -> list[str]:
    """Return what names a principal in what a reader got back."""
    match shape:
        case ("uuid", UUID() as value):
            return [value.hex, str(value)]
        case ("enum", _, name):
            return [name]
        case ("parts", _, parts):
            return [leaf for _, part in parts for leaf in _leaves(part)]
        case (_, value):
            return [str(value)]
        case _:
            raise AssertionError


@given(_scope)
@settings(max_examples=500, deadline=None)
def test_the_leaves_of_a_scope_are_read_from_its_text(value: Any) -> None:
    assert scope_leaves(scope_text(value)) == _leaves(_shape(value))


_triple = st.tuples(
    st.text(_alphabet, max_size=6), st.text(_alphabet, max_size=6), st.text(_alphabet, max_size=6)
)


@given(st.lists(_triple, min_size=2, max_size=12, unique=True))
@settings(max_examples=300, deadline=None)
def test_p2_distinct_triples_have_distinct_storage_keys(
    triples: list[tuple[str, str, str]],
) -> None:
    assert len({storage_key(*triple) for triple in triples}) == len(triples)


@given(_text, _text, _text)
def test_p2_moving_a_boundary_between_the_parts_moves_the_key(
    one: str, two: str, rest: str
) -> None:
    joined = one + two + rest
    keys = {
        storage_key(joined[:a], joined[a:b], joined[b:])
        for a, b in itertools.combinations_with_replacement(range(len(joined) + 1), 2)
    }
    length = len(joined) + 1
    assert len(keys) == length * (length + 1) // 2


def test_p2_a_scope_digest_is_no_storage_key() -> None:
    text = scope_text("alice")
    assert scope_digest("chat", text) not in {
        storage_key("chat", text, it) for it in ("", "t", text)
    }


@attrs.frozen
class One:
    user: object


@attrs.frozen
class Other:
    user: object


class Inherits(One):
    """Not decorated itself; equality still tells it from its base."""


def _named(module: str, qualname: str) -> object:
    cls = attrs.make_class("C", ["user"], frozen=True)
    cls.__module__, cls.__qualname__ = module, qualname
    return cls("alice")


class Lying(tuple[str, ...]):
    __slots__ = ()

    @override
    def __iter__(self) -> Any:
        return iter(("everybody",))

    @override
    def __len__(self) -> int:
        return 1


class LyingText(str):
    __slots__ = ()

    @override
    def __str__(self) -> str:
        return "everybody"

    @override
    def __format__(self, spec: str) -> str:
        return "everybody"

    @override
    def __len__(self) -> int:
        return 1


class LyingNumber(int):
    @override
    def __int__(self) -> int:
        return 1

    @override
    def __str__(self) -> str:
        return "1"

    @override
    def __repr__(self) -> str:
        return "1"

    @override
    def __format__(self, spec: str) -> str:
        return "1"


class LyingUUID(UUID):
    @property
    @override
    def hex(self) -> str:
        return "0" * 32


PAIRS: dict[str, tuple[object, object]] = {
    "int-and-text": (1, "1"),
    "enum-and-value": (Role.ADMIN, 1),
    "enum-members": (Role.ADMIN, Role.GUEST),
    "uuid-and-hex": (UUID(int=1), UUID(int=1).hex),
    "text-and-tuple": ("a", ("a",)),
    "nesting": (("a", ("b", "c")), (("a", "b"), "c")),
    "flat-and-nested": (("a", "b"), (("a", "b"),)),
    "moved-comma": (("a,b", "c"), ("a", "b,c")),
    "tuple-and-class": (("acme", "alice"), Pair("acme", "alice")),
    "classes": (One("alice"), Other("alice")),
    "subclass": (One("alice"), Inherits("alice")),
    "class-libraries": (AttrsUser("a", "b"), DataclassUser("a", "b")),
    "scope-key-and-text": (Keyed("alice"), "alice"),
    "scope-key-and-encoding": (Keyed("alice"), "ks5:alice"),
    "dotted-names": (_named("pkg", "mod.C"), _named("pkg.mod", "C")),
    "composition": ("\u00e9", "e\u0301"),
    "surrogate-pair": ("x\ud800\udc00", "x\U00010000"),
    "case": ("Alice", "alice"),
    "trailing-space": ("alice", "alice "),
    "zero-width": ("alice", "ali\u200bce"),
    "extra-field": (
        ModelUser(tenant="a", user="b"),
        ModelUser.model_validate({"tenant": "a", "user": "b", "copy": "c"}),
    ),
    "extra-value": (
        ModelUser.model_validate({"tenant": "a", "user": "b", "copy": "c"}),
        ModelUser.model_validate({"tenant": "a", "user": "b", "copy": "d"}),
    ),
    "lying-tuple": (Lying(("alice",)), Lying(("bob",))),
    "lying-text": (LyingText("alice"), LyingText("bob")),
    "lying-number": (LyingNumber(5), LyingNumber(6)),
    "lying-uuid": (LyingUUID(int=5), LyingUUID(int=6)),
    "lying-scope-key": (Keyed(LyingText("alice")), Keyed(LyingText("bob"))),
}


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_p2_look_alikes_never_meet(one: object, other: object) -> None:
    assert scope_text(one) != scope_text(other)
    assert storage_key("chat", scope_text(one), "t") != storage_key("chat", scope_text(other), "t")


def test_p2_an_enum_is_told_by_its_name_even_where_a_property_hides_it() -> None:
    import enum

    class Hidden(enum.Enum):
        ALICE = 1
        BOB = 2

        @property
        @override
        def name(self) -> str:
            return "user"

    assert scope_text(Hidden.ALICE) != scope_text(Hidden.BOB)


def test_p2_a_driver_s_uuid_is_the_same_principal() -> None:
    class DriverUUID(UUID):
        pass

    assert scope_text(DriverUUID(int=7)) == scope_text(UUID(int=7))


def test_p2_ten_thousand_principals_have_ten_thousand_keys() -> None:
    chooser = random.Random(7)  # noqa: S311  # a fixed sample, no secret
    scopes = {
        (chooser.choice(("acme", "acm", "e")), str(chooser.randrange(10**6)), n)
        for n in range(10_000)
    }
    assert len({scope_text(scope) for scope in scopes}) == len(scopes)
