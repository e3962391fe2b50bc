"""One object is one key's, whichever registration in the process the key belongs to (P9)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol
from weakref import WeakSet

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.single_flight import ATOMS
from scoped_registration.runtime.slot import Slot

__all__ = ["Holder", "announce", "claim"]


class Holder(Protocol):
    """What has instances: the keeper of a pool."""

    @property
    def mutex(self) -> threading.RLock:
        """What guards its keys."""
        ...

    @property
    def slots(self) -> Mapping[Any, Slot[Any]]:
        """Its keys."""
        ...

    def core(self, product: object) -> object:
        """Return what keeps the state of a product."""
        ...

    def refusal(self, code: ReasonCode) -> RegistrationError:
        """Return a refusal."""
        ...


_holders: WeakSet[Any] = WeakSet()  # of holders; a protocol cannot say that it has weak references


def announce(holder: Holder) -> None:
    """Let the products of all registrations be compared with those of this one."""
    _holders.add(holder)


def claim(product: object, slot: Slot[Any], holder: Holder) -> None:
    """Note what came out of a factory for a key.

    Args:
        product: An instance, or a context manager around one.
        slot: The key.
        holder: Whose key that is.

    Raises:
        RegistrationError: ``factory_returned_shared_instance``: another key has the product, or
            what keeps the product's state.
    """
    if isinstance(product, ATOMS):
        return
    core = holder.core(product)
    with holder.mutex:
        others: list[Holder] = list(_holders)
        for keeper in others:
            for other in list(keeper.slots.values()):
                if other is not slot and (
                    other.holds(product) or keeper.core(other.target) is core
                ):
                    raise holder.refusal(ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE)
        if slot.owner is not None:
            slot.owner.products += (product,)
