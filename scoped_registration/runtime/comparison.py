"""Every product of a factory is compared with others before it is served (promise P9).

The products that it is compared with are live, and a few; what is remembered of them are the
identities of their objects. An identity may be used again when an object is gone, so where
one is found twice, the live product is looked at again before anything is refused.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, zip_longest
from typing import Any, Final

from scoped_registration.errors import caller
from scoped_registration.keys import scope_leaves
from scoped_registration.runtime.nearest import Nearest
from scoped_registration.runtime.refusals import reuse_refusal
from scoped_registration.runtime.report import log
from scoped_registration.runtime.slot import Key, Slot, State
from scoped_registration.scope import share_text
from scoped_registration.verification.constants import installed_as
from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import (
    Shared,
    Survey,
    compare,
    may_share,
    survey,
)

# Any: products of any type are compared alike.

__all__ = ["Comparison"]

MOST_COMPARED: Final = 16
"""Live products with which a new one is compared."""

MOST_REMEMBERED: Final = 64
"""Products of which the identities of their objects are remembered."""


class Comparison:
    """Compares the products of one registration.

    Args:
        registration: Its name, for errors and logs.
        shares: Objects and types that its products share on purpose.
        shareable: Tells of a class whether a framework makes its instances to be shared.
    """

    def __init__(
        self,
        registration: str,
        shares: Iterable[object] = (),
        *,
        shareable: Callable[[type], bool] | None = None,
    ) -> None:
        self._registration = registration
        # Whoever declares the registration is the application, also where it is installed.
        place, _, _ = caller().rpartition(":")
        own = {package for package in (installed_as(place),) if package is not None}
        self._permitted = Permitted(shares, shareable=shareable, own=own)
        # The first product. It is kept, closed or not, until a comparison with it has passed:
        # the second one may be built when no other is alive.
        self._witness: tuple[Key, Survey] | None = None
        self._is_first = True
        # Which object each product was, and what it reached; the last built stand last.
        self._remembered: OrderedDict[Key, tuple[int, array[int]]] = OrderedDict()
        self._nearest = Nearest()
        self._has_warned = False

    def reset(self) -> None:
        """Forget everything: all instances have ended."""
        self._witness, self._is_first = None, True
        self._remembered.clear()
        self._nearest.clear()

    def check(self, built: object, key: Key, slots: Mapping[Key, Slot[Any]]) -> None:
        """Refuse a product that reaches what another key's product reaches.

        Args:
            built: What is to be served, before anybody has used it.
            key: The key that it is for. It is not compared with an earlier one of the same.
            slots: The keys of the registration, under its mutex.

        Raises:
            RegistrationError: ``factory_reuses_state``.
        """
        product = survey(built, self._permitted)
        if not product.complete:
            self._warn()
        witness = self._witness
        if witness is not None and witness[0] != key:
            self._compare(*witness, product, key)
        harmless: set[frozenset[int]] = set()  # what was found to be permitted; often the same
        for slot in self._likeliest(key, slots).values():
            common = product.graph.counted.keys() & self._identities(slot)
            if not common or (what := frozenset(common)) in harmless:
                continue
            if may_share(product, what):
                self._compare(slot.key, self._remember(slot), product, key)
            else:
                harmless.add(what)
        if self._is_first:
            self._is_first, self._witness = False, (key, product)
        elif witness is not None and witness[0] != key:
            self._witness = None
        self._keep(key, product)
        self._nearest.add(key, slots)

    def _likeliest(self, key: Key, slots: Mapping[Key, Slot[Any]]) -> dict[Key, Slot[Any]]:
        """Return the live products of other keys that are the likeliest to share with a new one.

        A factory may keep a cache by the thread id, by any part of the scope, or by several of
        them. So the keys are taken in turn from those that have each of these in common with
        the new one, and from the last built; then come any others.
        """
        groups = self._nearest.groups(key)
        in_turn = zip_longest(*groups, reversed(self._remembered), fillvalue=key)
        chosen: dict[Key, Slot[Any]] = {}
        for other in chain(chain.from_iterable(in_turn), slots):
            slot = slots.get(other)
            if slot is not None and slot.state in _HELD and other != key:
                chosen[other] = slot
                if len(chosen) == MOST_COMPARED:
                    break
        return chosen

    def _compare(self, other_key: Key, other: Survey, product: Survey, key: Key) -> None:
        hidden = [
            text
            for share, thread in (other_key, key)
            for text in (*scope_leaves(share_text(share)), thread)
        ]
        found = compare(other, product, hidden=hidden)
        if found:
            error = reuse_refusal(self._registration, [_told(shared) for shared in found])
            # Whoever waited may be gone: then nobody else would say it.
            log.error("an instance was refused: %s", error)
            raise error

    def _warn(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.warning(
                "registration %r: an instance is too large to be compared as a whole: "
                "what it shares beyond the limit is not found",
                self._registration,
            )

    def _identities(self, slot: Slot[Any]) -> array[int]:
        product, identities = self._remembered.get(slot.key, (0, _NONE))
        if product == id(slot.target):
            return identities
        self._remember(slot)
        return self._remembered[slot.key][1]

    def _remember(self, slot: Slot[Any]) -> Survey:
        found = survey(slot.target, self._permitted)
        self._keep(slot.key, found)
        return found

    def _keep(self, key: Key, product: Survey) -> None:
        self._remembered[key] = id(product.root), array("Q", product.graph.counted)
        self._remembered.move_to_end(key)
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)


def _told(shared: Shared) -> str:
    told = f"{shared.path_second} ({shared.type_name})"
    return told if shared.path_first == shared.path_second else f"{told}, as {shared.path_first}"


_NONE = array("Q")
_HELD = (State.READY, State.CLOSING)  # what is being closed may still be written to
