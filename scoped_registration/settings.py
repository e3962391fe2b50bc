"""What a builder has collected, and the pool that is made of it."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs

from scoped_registration.manifest import Json
from scoped_registration.runtime.options import Bounds, Policy

if TYPE_CHECKING:
    from scoped_registration.runtime.life import Life
    from scoped_registration.runtime.pool import Pool
    from scoped_registration.runtime.single_flight import Factory

# Any: what a factory returns is unwrapped on the way to the target, so a life's own product
# type is not the registration's.

__all__ = ["UNSET", "Settings", "Unset", "given", "made", "pool_of"]


class _Absent(enum.Enum):
    UNSET = "unset"


UNSET: Final = _Absent.UNSET
"""Not given: `None` would be a missing user, who must never stand for everybody."""

Unset: TypeAlias = Literal[_Absent.UNSET]


@attrs.frozen(kw_only=True)
class Settings:
    """What the stages of a builder have collected."""

    name: str
    declared_at: str
    path: str | None = None
    bounds: Bounds = attrs.field(factory=Bounds)
    policy: Policy | None = attrs.field(factory=Policy)

    def options(self, *, bounded: bool) -> dict[str, Json]:
        """Return the options in force; bounds only where instances are built."""
        options: dict[str, Json] = dict(attrs.asdict(self.bounds)) if bounded else {}
        if self.policy is not None:
            options |= {
                "concurrency": self.policy.mode,
                "max_waiting": self.policy.max_waiting,
                "wait_timeout": self.policy.wait_timeout,
            }
        return options


# The runtime brings asyncio, which costs more to import than all the rest of the package. It
# is imported when the first registration is built.


def pool_of(settings: Settings, life: Life[Any]) -> Pool[Any]:
    """Return the empty pool of a registration."""
    from scoped_registration.runtime.pool import Pool  # noqa: PLC0415

    return Pool(settings.name, life, bounds=settings.bounds, policy=settings.policy)


def given(target: object) -> Life[Any]:
    """Return the life of an instance that the user made and closes."""
    from scoped_registration.runtime.life import Given  # noqa: PLC0415

    return Given(target)


def made(factory: Factory) -> Life[Any]:
    """Return the life of instances that a factory makes and the pool closes."""
    from scoped_registration.runtime.life import Made  # noqa: PLC0415

    return Made(factory)
