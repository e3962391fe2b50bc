"""Whether a resolver says who calls: the rules SR106 and SR107."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scoped_registration.audit.body import Body
from scoped_registration.audit.constants import constant
from scoped_registration.audit.expressions import peel
from scoped_registration.audit.functions import Callee
from scoped_registration.audit.names import Scope
from scoped_registration.audit.rules import CONSTANT_SCOPE, SCOPE_FROM_BODY, Rule
from scoped_registration.audit.values import Reader

__all__ = ["check_resolver"]


def check_resolver(
    reader: Reader, resolver: ast.expr, scope: Scope, where: str, *, takes_body: bool = False
) -> Iterator[tuple[Rule, str]]:
    """Yield the faults of a resolver.

    Args:
        reader: Of the module.
        resolver: The expression that is given.
        scope: Where it stands.
        where: What it is given as, for the message.
        takes_body: Whether its first parameter is the body of the request.
    """
    for callee in reader.functions(resolver, scope):
        if _isconstant(reader, callee):
            yield CONSTANT_SCOPE, f"{where} returns a constant: all callers are one principal"
            return
        if Body(reader, callee, takes_body=takes_body).is_returned():
            message = f"{where} returns what the request's body says: any caller can name any other"
            yield SCOPE_FROM_BODY, message
            return


def _isconstant(reader: Reader, callee: Callee) -> bool:
    """Say whether a function returns one constant, wherever it returns."""
    returned: set[str] = set()
    for product, at in reader.products(callee, is_dependency=True):
        for one in peel(product, at):
            value = constant(reader, one, at)
            if value is None:
                return False
            returned.add(value)
    return len(returned) == 1
