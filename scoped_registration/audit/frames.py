"""The calls of functions that are followed, one inside the other, with what each was given."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import attrs

from scoped_registration.audit.functions import Callee
from scoped_registration.audit.names import Binding, Scope

__all__ = ["Frame"]


@attrs.frozen(eq=False)
class Frame:
    """One call, on the way from a factory to what it returns.

    Attributes:
        callee: What is called.
        caller: The call that this one stands in; None for the factory itself.
        given: The arguments, by the names of the parameters.
        at: Where the arguments stand.
        is_new: Whether the object of a method is made on this way, and not once for all.
    """

    callee: Callee
    caller: Frame | None = None
    given: dict[str, ast.expr] = attrs.field(factory=dict[str, ast.expr])
    at: Scope | None = None
    is_new: bool = False

    def enter(
        self, callee: Callee, call: ast.Call | None, at: Scope, *, is_new: bool = False
    ) -> Frame:
        """Return the frame of a call that stands in this one."""
        given: dict[str, ast.expr] = {}
        if call is not None:
            names = (it.arg for it in callee.parameters if it.arg not in callee.bound)
            for name, one in zip(names, call.args, strict=False):
                if isinstance(one, ast.Starred):
                    break
                given[name] = one
            given |= {it.arg: it.value for it in call.keywords if it.arg is not None}
        return Frame(callee, self, given, at, is_new)

    def chain(self) -> Iterator[Frame]:
        """Yield this frame and those around it, from the inside out."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller

    def owner(self, home: Scope) -> Frame | None:
        """Return the call that makes the names of a scope; None if they exist outside."""
        return next((it for it in self.chain() if home.inside(it.callee.scope)), None)

    def sets(self, bindings: Iterable[Binding]) -> bool:
        """Say whether one of the calls sets a name that lives outside them."""
        return any(self.owner(binding.scope) is not None for binding in bindings)
