"""What is registered with the builder, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import attrs

from scoped_registration import ReasonCode

# Any: a subject is whatever a mode is given.

__all__ = ["Build", "Keeps", "Subject"]

Build = Callable[[Any], Any]
"""What a factory captures stands before it: given a client, returns the factory."""


class Keeps(Enum):
    """Where the conversation is, if no store is given."""

    ITSELF = "on the instance"
    BY_CALLER = "on the instance, which tells callers and threads apart itself"
    BY_THREAD = "elsewhere, under the thread's id"
    ELSEWHERE = "elsewhere, under an id that the factory chose"
    NOTHING = "nowhere"


@attrs.frozen(kw_only=True)
class Subject:
    """A target, or a factory that captures something.

    Attributes:
        make: Returns a new target, given a client and an id which is the registration's,
            or the key's where a factory builds. None for a capturing factory.
        capturing: Returns a factory, given a client. None for a target.
        keeps: Where its conversation is.
        reuses: What is wrong with a capturing factory whose products share what they keep.
        by_thread: They do so on equal thread ids alone.
        hidden: Given once, or captured, it shares what the framework makes to be shared, such
            as a provider, or an id, which no comparison of objects sees.
    """

    make: Callable[[Any, str], Any] | None = None
    capturing: Callable[[Any], Build] | None = None
    keeps: Keeps = Keeps.ITSELF
    reuses: ReasonCode | None = None
    by_thread: bool = False
    hidden: bool = False

    def target(self, client: Any) -> Any:
        """Return a target that was built once."""
        assert self.make is not None
        return self.make(client, "the-only-one")

    def factory(self, client: Any) -> Build:
        """Return a factory, which builds all of it or captures something."""
        if self.capturing is not None:
            return self.capturing(client)
        make = self.make
        assert make is not None
        return lambda context: make(client, context.storage_key)
