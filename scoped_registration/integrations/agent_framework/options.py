"""The options of an AG-UI endpoint, checked where they are declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
from fastapi.params import Depends
from pydantic import BaseModel

from scoped_registration.manifest import Json
from scoped_registration.runtime.options import invalid_option, limit, optional_seconds, seconds

# Any: state and its schema are JSON, or a pydantic model, as the framework takes them.

__all__ = ["AgentOptions", "Detached", "EndpointOptions"]


def _count(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise invalid_option(attribute.name, "a positive int")


@attrs.frozen(kw_only=True)
class EndpointOptions:
    """What the framework's endpoint takes beside its target."""

    default_state: dict[str, Any] | None = None
    keepalive: float | None = attrs.field(default=15.0, validator=optional_seconds)
    tags: Sequence[str] | None = None
    dependencies: Sequence[Depends] = ()

    def __attrs_post_init__(self) -> None:
        if self.default_state is not None and not _is_object(self.default_state):
            raise invalid_option("default_state", "a dict with keys of type str")
        # The framework takes an empty list for none given, and sets its own tag.
        if self.tags is not None and not (self.tags and _holds(self.tags, str)):
            raise invalid_option("tags", "a list of str, with at least one")
        if not _holds(self.dependencies, Depends):
            raise invalid_option("dependencies", "a list of Depends(...)")


@attrs.frozen(kw_only=True)
class AgentOptions:
    """What the framework's runner for agents takes beside the agent."""

    state_schema: Any = None
    predict_state_config: dict[str, dict[str, str]] | None = None
    a2ui: dict[str, Any] | None = None

    def __attrs_post_init__(self) -> None:
        # The framework takes anything else for no schema, without a word.
        if self.state_schema is not None and not _is_schema(self.state_schema):
            raise invalid_option("state_schema", "a dict with str keys, or a pydantic model")
        for name in ("predict_state_config", "a2ui"):
            value = getattr(self, name)
            if value is not None and not _is_object(value):
                raise invalid_option(name, "a dict with keys of type str")

    @property
    def given(self) -> bool:
        """Whether any of them was declared."""
        return self != AgentOptions()


@attrs.frozen(kw_only=True)
class Detached:
    """How many runs may go on without their client, and for how long."""

    max_runs: int = attrs.field(default=32, validator=_count)
    max_runs_per_scope: int | None = attrs.field(default=None, validator=limit)
    timeout: float = attrs.field(default=3600.0, validator=seconds)

    def describe(self) -> dict[str, Json]:
        """Return the option for the manifest."""
        return {
            "detached": True,
            "max_runs": self.max_runs,
            "max_runs_per_scope": self.max_runs_per_scope,
            "detached_timeout": self.timeout,
        }


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)  # pyright: ignore[reportUnknownVariableType]


def _is_schema(value: object) -> bool:
    cls = value if isinstance(value, type) else type(value)
    return issubclass(cls, BaseModel) or _is_object(value)


def _holds(values: object, cls: type) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, cls) for value in values)  # pyright: ignore[reportUnknownVariableType]
