"""What an expression may be, and what stands in it, in a word or two each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scoped_registration.audit.names import Scope
from scoped_registration.audit.symbols import symbol

__all__ = ["DEEPEST", "argument", "begins_with", "own_nodes", "peel", "through"]

DEEPEST = 12
_OTHER_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def argument(call: ast.Call, position: int | None, name: str) -> ast.expr | None:
    """Return an argument of a call; None where it is not given or hidden by a star."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    given = call.args[: (position or 0) + 1]
    if position is None or len(given) <= position:
        return None
    return None if any(isinstance(one, ast.Starred) for one in given) else given[position]


def peel(expr: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """Yield the expressions whose value an expression may have."""
    stack = [expr]
    while stack:
        one = stack.pop()
        match one:
            case ast.Await() | ast.NamedExpr():
                stack.append(one.value)
            case ast.IfExp():
                stack.extend((one.orelse, one.body))
            case ast.BoolOp():
                stack.extend(reversed(one.values))
            case ast.Call() if symbol(one.func, scope) == "cast" and len(one.args) > 1:
                stack.append(one.args[1])
            case _:
                yield one


def through(expr: ast.expr, scope: Scope) -> tuple[ast.expr, Scope]:
    """Follow a name that is bound once to the expression that it stands for."""
    for _ in range(DEEPEST):
        lives = scope.find(expr.id) if isinstance(expr, ast.Name) else None
        if lives is None or len(lives[1]) != 1:
            break
        node = lives[1][0].node
        if not isinstance(node, ast.expr):
            break
        expr, scope = node, lives[1][0].scope
    return expr, scope


def begins_with(expr: ast.AST | None, name: str) -> bool:
    """Say whether an expression is a chain of calls of methods on a name."""
    if not isinstance(expr, ast.Call):
        return False
    while isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute):
        expr = expr.func.value
    return isinstance(expr, ast.Name) and expr.id == name


def own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Yield what stands in the body of a function, without the functions and classes in it."""
    stack: list[ast.AST] = list(reversed(function.body))
    while stack:
        node = stack.pop()
        if not isinstance(node, _OTHER_BODIES):
            yield node
            stack.extend(reversed(list(ast.iter_child_nodes(node))))
