"""What an application registers, as the manifest that a team commits and reviews."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scoped_registration.audit.places import place_at, place_of
from scoped_registration.audit.registered import Registered
from scoped_registration.errors import describe_callable, source_of
from scoped_registration.integrations.fastapi import resolver_of
from scoped_registration.manifest import Json
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    ScopedRegistration,
    SharedRegistration,
)

# Any: registrations of targets of any type.

__all__ = ["difference", "entry_of", "written"]


def entry_of(it: Registered, root: Path) -> dict[str, Json]:
    """Return a registration as it stands in the manifest; files are named relative to a root."""
    registration, data = it.registration, it.description.as_dict()
    place = place_at(registration.declared_at, root)
    entry: dict[str, Json] = {
        key: data[key] for key in ("name", "mode", "meaning", "path") if key in data
    }
    factory = _factory_of(registration)
    # `per_run` describes an agent, and its factory is the library's own.
    if factory is not None and data["target"] == source_of(factory):
        entry["factory"] = _callable(factory, root)
    else:
        entry["target"] = data["target"]
    resolver = resolver_of(registration)
    if resolver is not None:
        entry[_role_of(registration)] = _callable(resolver, root)
    known = {*entry, "target", "scope", "declared_at"}
    entry |= {key: value for key, value in data.items() if key not in known}
    entry["declared_at"] = f"{place.path.as_posix()}:{place.line}"
    return entry


def written(data: dict[str, Json]) -> str:
    """Return a manifest as it stands in its file."""
    return json.dumps(data, indent=2) + "\n"


def difference(file: Path, data: dict[str, Json]) -> str | None:
    """Return how a manifest differs from what a file says, as a unified diff; None if it does not.

    That a line of the source has moved is no difference: any edit above it would be one.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no JSON.
    """
    before = _without_lines(json.loads(file.read_bytes()))
    after = _without_lines(data)
    if before == after:
        return None
    return "\n".join(
        difflib.unified_diff(
            json.dumps(before, indent=2).splitlines(),
            json.dumps(after, indent=2).splitlines(),
            file.as_posix(),
            "the application",
            lineterm="",
        )
    )


def _callable(function: Callable[..., object], root: Path) -> Json:
    data: dict[str, Json] = {"name": describe_callable(function)}
    place = place_of(function, root)
    return data if place is None else data | {"at": place}


def _factory_of(registration: Registration[Any]) -> Callable[..., object] | None:
    if isinstance(registration, ScopedRegistration | PerThreadRegistration):
        return registration.mode.factory
    return None


def _role_of(registration: Registration[Any]) -> str:
    match registration:
        case ScopedRegistration():
            return "scope"
        case SharedRegistration():
            return "access"
        case _:
            return "owner"


def _without_lines(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_lines(one) for one in value]
    if isinstance(value, dict):
        return {
            key: inner.rpartition(":")[0]
            if key in ("at", "declared_at") and isinstance(inner, str)
            else _without_lines(inner)
            for key, inner in value.items()
        }
    return value
