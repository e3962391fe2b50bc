"""What cannot be a scope: the rule of each leaf, and no principal in a text about it."""

# these tests try what no type admits

from __future__ import annotations

import dataclasses
import enum
import traceback
from collections import UserString
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import attrs
import pydantic
import pytest
from typing_extensions import override

from scoped_registration import ReasonCode, RegistrationError
from scoped_registration.scope import scope_text
from tests.unit.samples import (
    SAMPLES,
    AttrsFolded,
    AttrsUser,
    DataclassUser,
    Keyed,
    ModelUser,
    Pair,
    Role,
    Tenant,
)

_CANARY = "canary-principal-7f3a"


class Unset(enum.Enum):
    NONE = None
    EMPTY = ""


class Permission(enum.Flag):
    READ = 1
    WRITE = 2


@attrs.frozen
class Empty:
    pass


@dataclasses.dataclass(frozen=True)
class NothingCompared:
    user: str = dataclasses.field(default="alice", compare=False)


@attrs.define
class AttrsMutable:
    user: str


@attrs.frozen(eq=False)
class AttrsIdentity:
    user: str


@attrs.frozen
class AttrsOwnRule:
    user: str

    @override
    def __eq__(self, other: object) -> bool:
        return True

    @override
    def __hash__(self) -> int:
        return 0


class AttrsSubclassOwnRule(AttrsUser):
    @override
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


@dataclasses.dataclass
class DataclassMutable:
    user: str


@dataclasses.dataclass(frozen=True, eq=False)
class DataclassIdentity:
    user: str


@dataclasses.dataclass(frozen=True)
class DataclassOwnRule:
    """Two of these differ by a field that the generated rule would leave out."""

    user: str
    tenant: str = dataclasses.field(compare=False)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataclassOwnRule) and vars(self) == vars(other)

    @override
    def __hash__(self) -> int:
        return hash(self.user)


class ModelMutable(pydantic.BaseModel):
    user: str


class ModelPrivate(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)
    user: str
    _secret: str = pydantic.PrivateAttr(default="x")


class ModelOwnRule(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)
    user: str

    @override
    def __eq__(self, other: object) -> bool:
        return self is other

    @override
    def __hash__(self) -> int:
        return 0


class Plain:
    """Hashed by identity: two logins of one person are two scopes."""

    def __init__(self, user: str = _CANARY) -> None:
        self.user = user

    @override
    def __repr__(self) -> str:
        return f"Plain({self.user})"


class TextOwnRule(str):
    __slots__ = ("tenant",)

    @override
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = str.__hash__


class NumberOwnRule(int):
    @override
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class TupleOwnRule(tuple[str, ...]):
    __slots__ = ()

    @override
    def __eq__(self, other: object) -> bool:
        return True

    @override
    def __hash__(self) -> int:
        return 0


class UUIDOwnRule(UUID):
    @override
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = UUID.__hash__


def _proxy(target: object) -> object:
    """Return what a lazy object looks like: every attribute is its target's."""

    class Proxy:
        @override
        def __getattribute__(self, name: str) -> Any:
            return getattr(target, name)

    return Proxy()


def _nest(depth: int) -> object:
    value: object = "alice"
    for _ in range(depth):
        value = (value,)
    return value


class Raising:
    def scope_key(self) -> str:
        raise ValueError(f"no tenant for {_CANARY}")


class AsyncKeyed:
    async def scope_key(self) -> str:
        return "alice"


def _refuse(name: str) -> str:
    raise ValueError(f"cannot fold {name}")


@attrs.frozen
class RaisingRule:
    name: str = attrs.field(eq=_refuse)


async def _coroutine() -> str:
    return _CANARY


MISSING = {
    "none": None,
    "empty": "",
    "blank": "  ",
    "whitespace": "\t\r\n\u00a0\u2003",
    "control": "\x00\x1f\x7f",
    "zero-width": "\u200b\u200d\u2060\ufeff",
    "directions": "\u202e\u2066",
    "hangul-filler": "\u3164\u115f",
    "braille-blank": "\u2800 ",
    "variation-selector": "\ufe0f",
    "lone-surrogate": "\ud800",
    "empty-tuple": (),
    "none-in-tuple": ("acme", None),
    "blank-in-tuple": ("acme", ""),
    "deep": ("acme", ("eu", ("", 1))),
    "named-tuple": Pair("acme", " "),
    "attrs-blank": AttrsUser("acme", ""),
    "attrs-none": AttrsUser("acme", None),
    "attrs-nested": AttrsUser("acme", AttrsUser("\u200b", 1)),
    "attrs-eq-key": AttrsFolded(" "),
    "attrs-empty": Empty(),
    "dataclass-blank": DataclassUser(" ", 1),
    "dataclass-none": DataclassUser("acme", None),
    "nothing-compared": NothingCompared(),
    "pydantic-blank": ModelUser(tenant="", user=1),
    "pydantic-none": ModelUser(tenant="acme", user=None),
    "enum-none": Unset.NONE,
    "enum-empty": Unset.EMPTY,
    "enum-blank": Tenant.BLANK,
    "enum-in-tuple": ("acme", Unset.NONE),
    "scope-key-empty": Keyed(""),
    "scope-key-blank": Keyed("\u200b "),
    "scope-key-in-tuple": ("acme", Keyed("")),
}

UNSUPPORTED: dict[str, object] = {
    "true": True,
    "false": False,
    "float": 7.0,
    "complex": 1j,
    "bytes": _CANARY.encode(),
    "bytearray": bytearray(b"x"),
    "list": [_CANARY],
    "dict": {"user": _CANARY},
    "set": {_CANARY},
    "frozenset": frozenset({_CANARY}),
    "namespace": SimpleNamespace(user=_CANARY),
    "user-string": UserString(_CANARY),
    "identity": Plain(),
    "object": object(),
    "class": Plain,
    "attrs-class": AttrsUser,
    "dataclass-class": DataclassUser,
    "pydantic-class": ModelUser,
    "enum-class": Role,
    "function": _nest,
    "lambda": lambda: _CANARY,
    "module": dataclasses,
    "exception": ValueError(_CANARY),
    "bool-in-tuple": ("acme", True),
    "float-in-dataclass": DataclassUser("acme", 1.5),
    "list-in-attrs": AttrsUser("acme", [_CANARY]),
    "mutable-in-tuple": ("acme", AttrsMutable(_CANARY)),
    "attrs-mutable": AttrsMutable(_CANARY),
    "attrs-eq-false": AttrsIdentity(_CANARY),
    "attrs-own-rule": AttrsOwnRule(_CANARY),
    "attrs-subclass-own-rule": AttrsSubclassOwnRule("acme", _CANARY),
    "dataclass-mutable": DataclassMutable(_CANARY),
    "dataclass-eq-false": DataclassIdentity(_CANARY),
    "dataclass-own-rule": DataclassOwnRule(_CANARY, "acme"),
    "pydantic-mutable": ModelMutable(user=_CANARY),
    "pydantic-private": ModelPrivate(user=_CANARY),
    "pydantic-own-rule": ModelOwnRule(user=_CANARY),
    "str-own-rule": TextOwnRule(_CANARY),
    "int-own-rule": NumberOwnRule(1),
    "tuple-own-rule": TupleOwnRule((_CANARY,)),
    "uuid-own-rule": UUIDOwnRule(int=1),
    "proxy-of-str": _proxy(_CANARY),
    "proxy-of-int": _proxy(7),
    "proxy-of-attrs": _proxy(AttrsUser("acme", _CANARY)),
    "too-deep": _nest(40),
    "too-long-number": 10**5000,
    "flag-without-a-bit": Permission(0),
    "scope-key-bytes": Keyed(b"alice"),
    "scope-key-none": Keyed(None),
    "scope-key-number": Keyed(7),
    "scope-key-raises": Raising(),
    "eq-key-raises": RaisingRule(_CANARY),
}


def _refused(value: object, code: ReasonCode) -> RegistrationError:
    with pytest.raises(RegistrationError) as caught:
        scope_text(value)
    assert caught.value.code is code
    assert caught.value.instead
    shown = "".join(traceback.format_exception(caught.value))
    source = "".join(line for line in shown.splitlines(keepends=True) if "_CANARY" not in line)
    assert _CANARY not in source
    return caught.value


@pytest.mark.parametrize("value", MISSING.values(), ids=MISSING)
def test_nobody_is_no_scope(value: object) -> None:
    _refused(value, ReasonCode.SCOPE_MISSING)


@pytest.mark.parametrize("value", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_what_has_no_stable_identity_is_no_scope(value: object) -> None:
    _refused(value, ReasonCode.SCOPE_TYPE_UNSUPPORTED)


@pytest.mark.parametrize("value", [_coroutine, AsyncKeyed], ids=["coroutine", "async-scope-key"])
def test_a_coroutine_is_refused_and_leaves_no_warning(value: Any) -> None:
    given = value()
    _refused(given, ReasonCode.SCOPE_TYPE_UNSUPPORTED)


def test_a_scope_key_that_raises_is_named_by_class_and_place_without_its_text() -> None:
    error = _refused(Raising(), ReasonCode.SCOPE_TYPE_UNSUPPORTED)
    assert "Raising that raised a ValueError" in error.problem
    assert "(test_scope_refusals.py:" in error.problem


@pytest.mark.parametrize("name", SAMPLES)
def test_every_supported_shape_is_accepted_in_a_tuple(name: str) -> None:
    assert scope_text(("acme", SAMPLES[name]))


def test_zero_is_a_scope() -> None:
    assert scope_text(0) == "i0;"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (AttrsUser("acme", 1, token="a"), AttrsUser("acme", 1, token="b")),
        (DataclassUser("acme", 1, token="a"), DataclassUser("acme", 1, token="")),
        (AttrsFolded("Alice"), AttrsFolded("aLICE")),
        (Keyed("alice"), Keyed("alice")),
    ],
    ids=["attrs-eq-false-field", "dataclass-compare-false", "attrs-eq-key", "scope-key"],
)
def test_p2_what_takes_no_part_in_equality_takes_none_in_the_key(
    one: object, other: object
) -> None:
    assert scope_text(one) == scope_text(other)


def test_scope_key_wins_over_every_other_shape() -> None:
    class Named(NamedTuple):
        tenant: str
        user: str

        def scope_key(self) -> str:
            return self.tenant

    assert scope_text(Named("acme", "alice")) == scope_text(Keyed("acme"))
