"""Whether a factory makes something new: the rules SR102, SR103, SR104, SR108 and SR109."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scoped_registration.audit.captures import Captures
from scoped_registration.audit.expressions import peel, through
from scoped_registration.audit.faults import Fault, Place
from scoped_registration.audit.names import Scope
from scoped_registration.audit.rules import (
    CACHED_FACTORY,
    INSTANCE_AS_FACTORY,
    SHARED_BUILDER,
    Rule,
)
from scoped_registration.audit.values import BUILDERS, INSTANCES, Kinds, Reader

__all__ = ["check_factory", "is_builder", "is_instance"]


def check_factory(reader: Reader, factory: ast.expr, scope: Scope, place: Place) -> Iterator[Fault]:
    """Yield the faults of what is given as a factory, one for each rule."""
    found: dict[Rule, str] = {}
    for given in peel(factory, scope):
        for rule, message in _faults(reader, given, scope, place):
            found.setdefault(rule, message)
    yield from found.items()


def is_builder(reader: Reader, given: ast.expr, scope: Scope) -> Kinds:
    """Return the kinds of builder that an expression, or the object of its `build`, is."""
    expr, at = through(given, scope)
    if isinstance(expr, ast.Attribute) and expr.attr == "build":
        expr = expr.value
    return reader.kinds(expr, at) & BUILDERS


def is_instance(reader: Reader, given: ast.expr, scope: Scope) -> bool:
    """Say whether an expression is an object that nobody can call to get another one."""
    if reader.kinds(given, scope) & INSTANCES:
        return True
    expr, at = through(given, scope)
    made = reader.class_of(expr.func, at) if isinstance(expr, ast.Call) else None
    return (
        made is not None
        and isinstance(made.node, ast.ClassDef)
        and not (made.node.bases or made.node.keywords or made.node.decorator_list)
        and "__call__" not in made.names
    )


def _faults(reader: Reader, given: ast.expr, scope: Scope, place: Place) -> Iterator[Fault]:
    where = place.where
    if is_builder(reader, given, scope):
        yield SHARED_BUILDER, f"{where} is given a builder: all that it builds shares its parts"
        return
    if is_instance(reader, given, scope):
        yield INSTANCE_AS_FACTORY, f"{where} wants a factory, and is given an instance"
        return
    for callee in reader.functions(given, scope):
        if callee.cached:
            yield CACHED_FACTORY, f"the factory of {where} is cached: several keys get one object"
        else:
            yield from Captures(reader, place).of(callee)
    made = reader.class_of(given, scope)
    if made is not None:
        yield from Captures(reader, place).of_class(made)
