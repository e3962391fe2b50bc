"""What is said about a factory whose products are shared, or share a part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

import attrs

from scoped_registration.audit.caches import Caches, Varies
from scoped_registration.audit.expressions import through
from scoped_registration.audit.frames import Frame
from scoped_registration.audit.names import Scope
from scoped_registration.audit.outside import Outside
from scoped_registration.audit.rules import (
    CACHED_FACTORY,
    CAPTURED_PRODUCT,
    SHARED_BUILDER,
    SHARED_PART,
    Rule,
)
from scoped_registration.audit.values import STATEFUL, Kind, Kinds, Reader

__all__ = ["Fault", "Faults", "Place"]

Fault: TypeAlias = tuple[Rule, str]


@attrs.frozen(eq=False)
class Place:
    """Where a factory is given.

    Attributes:
        where: What it is given to, for the message.
        shares: What products may have in common on purpose, where that can be said.
    """

    where: str
    shares: ast.expr | None = None

    @property
    def parts(self) -> Kinds:
        """What two products must not have in common."""
        # The pool compares what is built for two keys, and refuses any executor in both.
        plain = {Kind.PLAIN_EXECUTOR} if self.where == "ScopedFactory" else set[Kind]()
        return STATEFUL | plain


class Faults:
    """Makes the faults of one factory."""

    def __init__(self, reader: Reader, place: Place) -> None:
        self._reader = reader
        self._place = place
        self._factory = f"the factory of {place.where}"
        self._caches = Caches.of(place.where)
        self.outside: Outside = Outside(reader, place.parts)

    def found(self, expr: ast.expr, scope: Scope, *, part: bool) -> Iterator[Fault]:
        """Yield the fault of holding an object outside, or of being one."""
        yield from self.given(ast.unparse(expr), expr, scope, part=part)

    def given(self, name: str, expr: ast.expr, scope: Scope, *, part: bool) -> Iterator[Fault]:
        """Yield the same, where the object goes by another name inside."""
        if not part:
            message = f"returns '{name}', which exists outside it: every key gets the same object"
            yield CAPTURED_PRODUCT, f"{self._factory} {message}"
        elif self.outside.is_part(expr, scope) and not self._is_declared(name, expr, scope):
            yield self.part(f"holds '{name}', which exists outside it")

    def part(self, how: str) -> Fault:
        """Return the fault of a part that several products have."""
        return SHARED_PART, f"what {self._factory} makes {how}: every key gets that part"

    def builder(self, builder: ast.expr, scope: Scope, kinds: Kinds) -> Iterator[Fault]:
        """Yield the fault of building with a builder that exists outside."""
        name = ast.unparse(builder)
        if Kind.BUILDER in kinds:
            message = f"builds with '{name}', which exists outside it"
            yield SHARED_BUILDER, f"{self._factory} {message}: all that it builds shares its parts"
        elif self.outside.is_builder_of_parts(builder, scope):
            yield self.part(f"holds the parts of '{name}', which exists outside it")

    def kept(
        self, keeper: ast.expr, value: ast.expr, scope: Scope, varies: Varies | None, *, part: bool
    ) -> Iterator[Fault]:
        """Yield the fault of returning or holding a value that is kept under equal keys."""
        by_thread = varies is Varies.BY_THREAD
        if varies is None or (by_thread and self._caches.tells_by is None):
            return
        name = ast.unparse(keeper)
        if not part:
            message = f"returns what '{name}' keeps: {varies.value} gets the same object"
            yield CACHED_FACTORY, f"{self._factory} {message}"
        elif self.outside.is_part(value, scope):
            yield self.part(f"holds what '{name}' keeps")

    def used(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame
    ) -> Iterator[Fault]:
        """Yield the parts outside that a function of the product runs, or runs something with."""
        scope = self._reader.index.scopes[function]
        for call in self._reader.calls_in(scope):
            runs = isinstance(call.func, ast.Attribute) and call.func.attr == "run"
            used = [keyword.value for keyword in call.keywords if keyword.arg == "session"]
            if isinstance(call.func, ast.Attribute) and runs:
                used.append(call.func.value)
            for one in used:
                lives = scope.find(one.id) if isinstance(one, ast.Name) else None
                if (
                    lives is not None
                    and not lives[0].inside(scope)
                    and frame.owner(lives[0]) is None
                    and self.outside.are_objects(lives[1])
                ):
                    yield from self.found(one, scope, part=True)

    def _is_declared(self, name: str, expr: ast.expr, scope: Scope) -> bool:
        """Say whether `shares=` names a part or its class, or may: it may come from elsewhere."""
        shares = self._place.shares
        if shares is None:
            return False
        if not isinstance(shares, ast.List | ast.Tuple | ast.Set):
            return True
        made, _ = through(expr, scope)
        names = {name, ast.unparse(made.func)} if isinstance(made, ast.Call) else {name}
        return any(ast.unparse(one) in names for one in shares.elts)
