"""Expressions that have one value, whoever asks."""

from __future__ import annotations

import ast

from scoped_registration.audit.expressions import through
from scoped_registration.audit.names import Scope
from scoped_registration.audit.values import Reader

__all__ = ["SAME_WORDS", "constant", "holds_its_arguments"]

# What they return is still what they were given.
SAME_WORDS = {"str", "int", "UUID"}


def constant(reader: Reader, expr: ast.expr, scope: Scope) -> str | None:
    """Return a text that is equal for equal constants; None for what is no constant."""
    value, at = through(expr, scope)
    match value:
        case ast.Constant():
            # None is no scope, and is answered 401.
            return None if value.value is None else repr(value.value)
        case ast.Tuple():
            parts = value.elts
        case ast.JoinedStr():
            parts = value.values
        case ast.FormattedValue():
            parts = [value.value]
        case ast.BinOp():
            parts = [value.left, value.right]
        case ast.Attribute():
            return _member(reader, value, at)
        case ast.Call() if holds_its_arguments(reader, value, at):
            parts = [*value.args, *(keyword.value for keyword in value.keywords)]
        case _:
            return None
    texts = [constant(reader, one, at) for one in parts]
    return None if None in texts else f"{type(value).__name__}{texts}"


def _member(reader: Reader, expr: ast.Attribute, scope: Scope) -> str | None:
    """Return the constant that a class of this file has under a name, such as of an enum."""
    bindings = reader.members(expr, scope)
    node = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(node, ast.expr) or not isinstance(bindings[0].scope.node, ast.ClassDef):
        return None
    return constant(reader, node, bindings[0].scope)


def holds_its_arguments(reader: Reader, call: ast.Call, scope: Scope) -> bool:
    """Say whether a call makes a value of its arguments and of nothing else."""
    if not (call.args or call.keywords):
        return False
    if isinstance(call.func, ast.Name) and call.func.id in SAME_WORDS:
        return True
    made = reader.class_of(call.func, scope)
    return made is not None and not {"__init__", "__new__", "scope_key"} & set(made.names)
