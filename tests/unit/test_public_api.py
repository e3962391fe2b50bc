"""The names of the first line of user code: fixed, sorted, documented, typed."""

from __future__ import annotations

import enum
import inspect
from importlib.resources import files

import pytest

import scoped_registration

NAMES = [
    "Acknowledgement",
    "PersistentShared",
    "ReasonCode",
    "Registration",
    "RegistrationBuilder",
    "RegistrationError",
    "Risk",
    "ScopeContext",
    "ScopedFactory",
    "SingleUser",
]


def test_the_public_names() -> None:
    assert scoped_registration.__all__ == NAMES
    assert sorted(NAMES) == NAMES


def test_a_star_import_gives_exactly_these_names() -> None:
    namespace: dict[str, object] = {}
    exec("from scoped_registration import *", namespace)  # noqa: S102  # nothing else says it
    assert sorted(set(namespace) - {"__builtins__"}) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_documented(name: str) -> None:
    cls: type = getattr(scoped_registration, name)
    assert inspect.isclass(cls)
    assert vars(cls).get("__doc__")
    for attribute, value in vars(cls).items():
        member = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if not attribute.startswith("_") and inspect.isfunction(member):
            inherited = any(hasattr(base, attribute) for base in cls.__mro__[1:])
            assert member.__doc__ or (issubclass(cls, enum.Enum) and inherited), attribute


def test_the_package_is_typed_and_says_what_it_is() -> None:
    assert files(scoped_registration).joinpath("py.typed").is_file()
    assert scoped_registration.__doc__
