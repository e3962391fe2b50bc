"""One object is one key's, whichever registration in the process the key belongs to (P9)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol
from weakref import WeakSet

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.runtime.single_flight import ATOMS
from scoped_registration.runtime.slot import Slot
from scoped_registration.runtime.tasks import Owner

__all__ = ["Holder", "announce", "claim", "disclaim"]


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

    @property
    def given(self) -> object:
        """The instance that it was given, if it makes none."""
        ...

    def core(self, product: object, /) -> object:
        """Return what keeps the state of a product."""
        ...

    def refusal(self, code: ReasonCode) -> RegistrationError:
        """Return a refusal."""
        ...


_holders: WeakSet[Any] = WeakSet()  # of holders; a protocol cannot say that it has weak references
_keys: dict[int, Slot[Any]] = {}  # by the identity of what came out of a factory
_lock = threading.Lock()


def announce(holder: Holder) -> None:
    """Let the products of all registrations be compared with what this one was given."""
    with _lock:
        _holders.add(holder)


def claim(product: object, slot: Slot[Any], owner: Owner, holder: Holder) -> None:
    """Note what came out of a factory for a key.

    Args:
        product: An instance, or a context manager around one.
        slot: The key.
        owner: The task of the factory. When it was given up, its product is nobody's.
        holder: Whose key that is.

    Raises:
        RegistrationError: ``factory_returned_shared_instance``: another key has the product, or
            what keeps the product's state.
    """
    if isinstance(product, ATOMS):
        return
    core = holder.core(product)
    with holder.mutex, _lock:
        if slot.owner is not owner:
            return
        for own in (product, core):
            other = _keys.get(id(own))
            if other is not None and other is not slot and _has(other, own, holder):
                raise holder.refusal(ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE)
        others: list[Holder] = list(_holders)
        if any(each.core(each.given) is core for each in others if each.given is not None):
            raise holder.refusal(ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE)
        owner.products += (product,)
        _keys[id(product)] = _keys[id(core)] = slot


def disclaim(slot: Slot[Any], holder: Holder) -> None:
    """Forget what came out of a factory for a key, whose instance has ended."""
    products = slot.owner.products if slot.owner is not None else ()
    with _lock:
        for product in (slot.target, *products):
            for own in (product, holder.core(product)):
                if _keys.get(id(own)) is slot:
                    del _keys[id(own)]


def _has(slot: Slot[Any], own: object, holder: Holder) -> bool:
    """Tell whether a key still has an object: an identity alone may be that of an older one."""
    return slot.holds(own) or holder.core(slot.target) is own
