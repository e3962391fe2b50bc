"""Shared-state verification: two products of a factory have no mutable object in common.

`survey` each product once, when it is built and before anybody uses it, and keep the survey
as long as it is to be compared; `compare` intersects two of them by identity, and computes
paths only when there is something to name (promise P9).

A survey keeps the mutable objects of its product alive: no identity is used twice, and a
product that was closed still bears witness.

Mutable is what can carry something from one principal to another: a list, a plain object, a
task, also a lock or a semaphore, by which one principal makes another wait. What is shared
on purpose stands in ``shares``.

What this cannot see:

* state that neither product holds: globals of modules, attributes of classes, and of
  functions also where an instance has copied them, what an `lru_cache` remembers, a file, a
  database, a server;
* state that is equal and not identical: two sessions with one id, two paths to one file;
* what a product fetches after its survey, and what is behind a weak reference, an event loop,
  an executor, a logger, a frame or a traceback, or an object of this library;
* what an object written in C does not show to the garbage collector;
* what two products share *below* an object or type in ``shares``, or below one object of a
  kind that the framework makes to be shared, as a context provider that keeps messages;
* a variable in a closure, unless a function that the product holds rebinds it: then it counts;
* an object that has no attribute yet when the two are compared, of a class that shows none: no
  slot, no default, no method that sets one;
* what the methods of a class have in their closures, also of a class that is made for one
  product, and the attributes of functions;
* globals of the standard library, such as the shared generator of `random`; timeouts and
  limits of httpx; loggers of structlog and loguru, and adapters, with what is bound to them;
* what somebody changes in a constant of a library; see `constants`;
* a value that the factory sets in a context variable of its own task, and that is read in a
  task of the product: the context of the build has it, as it has those of the application;
* what lies beyond the limit of a survey; `Survey.complete` says whether anything does.

What it names although no principal may ever notice: mutable objects that a third-party library
shares between its own and that are no constants, and a lock. They belong into ``shares``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from scoped_registration.verification.naming import Naming
from scoped_registration.verification.object_graph import Graph, walk
from scoped_registration.verification.paths import path_to, type_name
from scoped_registration.verification.permitted import Permitted

__all__ = ["Permitted", "Shared", "Survey", "compare", "may_share", "survey"]

LIMIT = 1_000_000
"""References that a survey looks at: half a second, and hardly any product has as many."""

MOST = 4
"""Findings that a comparison names."""

_LOOKED_AT = 100
"""Findings, the nearest ones, among which the topmost are looked for: there may be very many."""

_LOOKED_THROUGH = 100_000
"""References to look at for that, below each of them."""


@attrs.frozen
class Shared:
    """A mutable object that two products have in common.

    Args:
        path_first: The way to it in the first product: ``workflow.executors["support"]``.
        path_second: The way to it in the second product.
        type_name: The qualified name of its class.
    """

    path_first: str
    path_second: str
    type_name: str


@attrs.frozen(eq=False)
class Survey:
    """The mutable objects of one product, kept alive.

    Args:
        root: The product.
        graph: What it reaches.
        permitted: What it may have in common with another one.
        limit: The most references that were looked at.
    """

    root: object
    graph: Graph
    permitted: Permitted
    limit: int

    @property
    def complete(self) -> bool:
        """Whether all was seen: False if the product reaches more than the limit."""
        return self.graph.complete

    @property
    def size(self) -> int:
        """How many mutable objects were met."""
        return len(self.graph.counted)

    def again(self, barrier: Collection[int]) -> Graph:
        """Walk the product as it is now, without following some of its objects."""
        return _walk(self.root, self.permitted, self.limit, barrier)


def survey(root: object, permitted: Permitted, *, limit: int = LIMIT) -> Survey:
    """Meet the mutable objects of a product. No code of its classes is run.

    Args:
        root: The product. It is walked even where it is itself permitted.
        permitted: What products may have in common.
        limit: The most references to look at.
    """
    return Survey(root, _walk(root, permitted, limit), permitted, limit)


def compare(
    first: Survey, second: Survey, *, hidden: Iterable[str], name: str | None = None
) -> tuple[Shared, ...]:
    """Name the mutable objects that two products have in common.

    Only the topmost: what is below one of them is not named again. The nearest to the second
    product comes first, and no more than `MOST` are named.

    Args:
        first: A product surveyed earlier. It may have changed since.
        second: The product that was just built.
        hidden: Texts that no path may show: the parts of both scopes and both thread ids.
            See `Naming`.
        name: What to call the products; by default their class, spelt as a variable.
    """
    common = first.graph.counted.keys() & second.graph.counted.keys()
    if not common:
        return ()
    now = second.again(common)
    found = _refused(second, common, now)[:_LOOKED_AT]
    if not found:
        return ()
    found = _topmost(found, second)
    naming = Naming(hidden)
    then = first.again(common)
    return tuple(
        Shared(
            path_to(
                value,
                (then if id(value) in then.counted else first.graph).parents,
                first.root,
                name,
                naming,
            ),
            path_to(value, now.parents, second.root, name, naming),
            type_name(value, naming),
        )
        for value in found[:MOST]
    )


def may_share(product: Survey, common: Collection[int]) -> bool:
    """Tell whether a product could not be served beside one that has certain objects too.

    It costs no walk of the other one, so identities remembered from an earlier survey will do.
    They may have been used again since: only `compare` of two surveys tells for certain.

    Args:
        product: The product that was just built.
        common: The identities, of mutable objects that it reaches.
    """
    return bool(_refused(product, common, product.again(common)))


def _refused(product: Survey, common: Collection[int], now: Graph) -> list[object]:
    met = [value for identity, value in now.counted.items() if identity in common]
    return product.permitted.refused(met, now)


def _walk(
    root: object, permitted: Permitted, limit: int, barrier: Collection[int] = frozenset()
) -> Graph:
    parents = dict(permitted.objects)
    return walk(root, permitted.kinds, limit=limit, parents=parents, barrier=barrier)


def _topmost(found: list[object], product: Survey) -> list[object]:
    """Leave out what is below another one; of some that are below each other, keep the first."""
    for _ in range(2):  # forwards: what an earlier one reaches; backwards: what a later one does
        covered: dict[int, object] = {}
        kept: list[object] = []
        for value in found:
            if id(value) not in covered:
                kept.append(value)
                if len(covered) < _LOOKED_THROUGH:
                    limit = min(product.limit, _LOOKED_THROUGH)
                    walk(value, product.permitted.kinds, limit=limit, parents=covered)
        found = kept[::-1]
    return found
