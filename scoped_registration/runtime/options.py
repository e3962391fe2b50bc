"""What a pool may be told: its bounds, and what a busy key answers."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError, caller

__all__ = ["Bounds", "Policy", "invalid_option", "limit", "optional_seconds", "seconds"]


def limit(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no bound: a validator."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise invalid_option(attribute.name, "a positive int, or None for no bound")


def optional_seconds(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no time, and not None either: a validator."""
    if value is not None and not _is_seconds(value):
        raise invalid_option(attribute.name, "a positive number of seconds, or None for never")


def seconds(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no time: a validator."""
    if not _is_seconds(value):
        raise invalid_option(attribute.name, "a positive number of seconds")


def _is_seconds(value: object) -> bool:
    """Tell whether a value is a positive, finite number of seconds."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value > 0
    )


def invalid_option(name: str, wanted: str) -> RegistrationError:
    """Return the refusal of an option's value."""
    return RegistrationError(
        ReasonCode.OPTION_INVALID,
        f"{name} must be {wanted}",
        instead=f"{name}= with such a value, or leave it out",
        declared_at=caller(),
    )


@attrs.frozen(kw_only=True)
class Bounds:
    """How many instances live, and for how long (promise P7)."""

    max_instances: int | None = attrs.field(default=1000, validator=limit)
    max_per_scope: int | None = attrs.field(default=100, validator=limit)
    idle_ttl: float | None = attrs.field(default=3600.0, validator=optional_seconds)
    max_age: float | None = attrs.field(default=None, validator=optional_seconds)
    pin_ttl: float = attrs.field(default=86400.0, validator=seconds)
    close_timeout: float = attrs.field(default=10.0, validator=seconds)


@attrs.frozen(kw_only=True)
class Policy:
    """What happens to a second run of a key that is busy (promise P6)."""

    mode: Literal["queue", "reject"] = "queue"
    max_waiting: int = 16
    wait_timeout: float = 30.0

    def __attrs_post_init__(self) -> None:
        if self.mode not in ("queue", "reject"):
            raise RegistrationError(
                ReasonCode.OPTION_INVALID,
                'the concurrency policy must be "queue" or "reject"',
                instead='.concurrency("queue") or .concurrency("reject")',
                declared_at=caller(),
            )
        if not _is_count(self.max_waiting):
            raise invalid_option("max_waiting", "an int, zero or more")
        if not _is_seconds(self.wait_timeout):
            raise invalid_option("wait_timeout", "a positive number of seconds")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
