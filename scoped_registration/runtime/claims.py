"""One object is one key's, whichever registration in the process the key belongs to (P9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from weakref import WeakSet

from scoped_registration.runtime.life import Life
from scoped_registration.runtime.slot import Slot

__all__ = ["announce", "is_taken"]


class Holder(Protocol):
    """What has instances: the keeper of a pool."""

    @property
    def slots(self) -> Mapping[Any, Slot[Any]]:
        """Its keys."""
        ...

    @property
    def life(self) -> Life[Any]:
        """How its instances come to be."""
        ...


_holders: WeakSet[Any] = WeakSet()  # of holders; a protocol cannot say that it has weak references


def announce(holder: Holder) -> None:
    """Let the products of all registrations be compared with those of this one."""
    _holders.add(holder)


def is_taken(product: object, slot: Slot[Any], holder: Holder) -> bool:
    """Tell whether another key has a product, or what keeps the product's state.

    Args:
        product: What came out of a factory.
        slot: The key that it was made for.
        holder: Whose key that is.
    """
    core = holder.life.core(product)
    others: list[Holder] = list(_holders)
    return any(
        other is not slot and (other.holds(product) or keeper.life.core(other.target) is core)
        for keeper in others
        for other in list(keeper.slots.values())
    )
