"""Scope values of every shape, at places that keep their names: keys hold them."""

from __future__ import annotations

import dataclasses
import enum
from typing import NamedTuple
from uuid import UUID

import attrs
import pydantic


class Role(enum.Enum):
    ADMIN = 1
    GUEST = 2


class Tenant(enum.StrEnum):
    ACME = "acme"
    BLANK = " "


class Pair(NamedTuple):
    tenant: str
    user: str


@attrs.frozen
class AttrsUser:
    tenant: str
    user: object
    token: str = attrs.field(default="", eq=False)


@attrs.frozen
class AttrsFolded:
    name: str = attrs.field(eq=str.casefold)


@dataclasses.dataclass(frozen=True)
class DataclassUser:
    tenant: str
    user: object
    token: str = dataclasses.field(default="", compare=False)


class ModelUser(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    tenant: str
    user: str | int | None


class Keyed:
    def __init__(self, key: object) -> None:
        self._key = key

    def scope_key(self) -> object:
        return self._key


SAMPLES: dict[str, object] = {
    "str": "alice",
    "str-unicode": "Zoë \U0001f600",
    "int": 42,
    "zero": 0,
    "negative": -7,
    "uuid": UUID("12345678-1234-5678-1234-567812345678"),
    "enum": Role.ADMIN,
    "str-enum": Tenant.ACME,
    "tuple": ("acme", 7),
    "nested": (("a", "b"), ("c",)),
    "named-tuple": Pair("acme", "alice"),
    "attrs": AttrsUser("acme", "alice", token="t1"),
    "dataclass": DataclassUser("acme", 7, token="t1"),
    "pydantic": ModelUser(tenant="acme", user="alice"),
    "scope_key": Keyed("acme/alice"),
}
