"""Which functions and classes of a file an expression stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import attrs

from scoped_registration.audit.expressions import (
    DEEPEST,
    argument,
    begins_with,
    own_nodes,
    peel,
)
from scoped_registration.audit.names import Binding, Function, Index, Scope, self_of
from scoped_registration.audit.symbols import symbol

__all__ = ["STEPS", "Callee", "FunctionReader", "symbol_of_decorator"]

STEPS = 3000  # for one question: a file that is made to be slow gets no answer


@attrs.frozen(eq=False)
class Callee:
    """A function that an expression stands for.

    Attributes:
        node: Its definition; None where it is known only to be cached.
        scope: The scope of its body.
        bound: What a `functools.partial` gives for its parameters.
        cached: Whether it, or a wrapper around it, keeps what it returned.
        is_method: Whether its first parameter is its object.
    """

    node: Function | None
    scope: Scope
    bound: dict[str, tuple[ast.expr, Scope]] = attrs.field(
        factory=dict[str, tuple[ast.expr, Scope]]
    )
    cached: bool = False
    is_method: bool = False

    @property
    def parameters(self) -> list[ast.arg]:
        """The parameters that a caller may give by position."""
        if self.node is None:
            return []
        given = self.node.args
        return [*given.posonlyargs, *given.args][1 if self.is_method else 0 :]

    def default(self, name: str) -> ast.expr | None:
        """Return the default of a parameter."""
        if self.node is None:
            return None
        given = self.node.args
        positional = [*given.posonlyargs, *given.args]
        pairs = [
            *zip(reversed(positional), reversed(given.defaults), strict=False),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        return next((value for arg, value in pairs if arg.arg == name), None)


class FunctionReader:
    """Answers questions about the functions and classes of one module."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._steps = 0
        self._calls: dict[Scope, list[ast.Call]] | None = None

    def functions(self, expr: ast.expr, scope: Scope) -> list[Callee]:
        """Return the functions that an expression may stand for."""
        self._steps = STEPS
        return list(self._functions(expr, scope, DEEPEST))

    def _spent(self, deepest: int) -> bool:
        self._steps -= 1
        return self._steps < 0 or deepest < 0

    def _functions(self, expr: ast.expr, scope: Scope, deepest: int) -> Iterator[Callee]:
        if self._spent(deepest):
            return
        for one in peel(expr, scope):
            match one:
                case ast.Lambda():
                    yield Callee(one, self.index.scopes[one])
                case ast.Name():
                    lives = scope.find(one.id)
                    yield from self._bound_functions(lives[1] if lives else (), deepest)
                case ast.Attribute():
                    yield from self._bound_functions(self.members(one, scope), deepest)
                case ast.Call():
                    yield from self._functions_of_call(one, scope, deepest)
                case _:
                    pass

    def _bound_functions(self, bindings: Iterable[Binding], deepest: int) -> Iterator[Callee]:
        bindings = list(bindings)
        if len(bindings) != 1:
            return
        node, scope = bindings[0].node, bindings[0].scope
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from self._defined(node, scope)
        elif isinstance(node, ast.expr):
            yield from self._functions(node, scope, deepest - 1)

    def _defined(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
    ) -> Iterator[Callee]:
        names = [symbol_of_decorator(one, scope) for one in node.decorator_list]
        cached = "cache" in names
        is_method = isinstance(scope.node, ast.ClassDef) and "staticmethod" not in names
        if all(name in _KEEPS_THE_BODY for name in names):
            yield Callee(node, self.index.scopes[node], cached=cached, is_method=is_method)
        elif cached:  # whatever the other decorators make of it
            yield Callee(None, scope, cached=True)

    def _functions_of_call(self, call: ast.Call, scope: Scope, deepest: int) -> Iterator[Callee]:
        called = symbol(call.func, scope)
        first = argument(call, 0, "func")
        if isinstance(call.func, ast.Call) and symbol(call.func.func, scope) == "cache":
            called = "cache"  # lru_cache(maxsize=None)(build)
        elif called == "cache" and (not call.args or isinstance(first, ast.Constant)):
            return  # a decorator that is given no function yet
        if called == "cache":
            yield Callee(None, scope, cached=True)
        elif called in ("contextmanager", "asynccontextmanager") and first is not None:
            yield from self._functions(first, scope, deepest - 1)
        elif called == "partial" and first is not None:
            for callee in self._functions(first, scope, deepest - 1):
                names = [parameter.arg for parameter in callee.parameters]
                bound = dict(zip(names, ((one, scope) for one in call.args[1:]), strict=False))
                bound |= {it.arg: (it.value, scope) for it in call.keywords if it.arg}
                yield attrs.evolve(callee, bound=callee.bound | bound)
        elif (made := self.class_of(call.func, scope)) is not None:
            for binding in made.names.get("__call__", ()):
                yield from self._bound_functions([binding], deepest)
        else:
            for callee in self._functions(call.func, scope, deepest - 1):
                for product, at in self.products(callee):
                    yield from self._functions(product, at, deepest - 1)

    def products(
        self, callee: Callee, *, is_dependency: bool = False
    ) -> Iterator[tuple[ast.expr, Scope]]:
        """Yield what a function returns, and what a context manager or a dependency yields."""
        if callee.node is None:
            return
        if isinstance(callee.node, ast.Lambda):
            yield callee.node.body, callee.scope
            return
        around = callee.scope.parent or callee.scope
        names = [symbol_of_decorator(one, around) for one in callee.node.decorator_list]
        yields = "contextmanager" in names or "asynccontextmanager" in names
        own = list(own_nodes(callee.node))
        yields = yields or (is_dependency and any(isinstance(node, ast.Yield) for node in own))
        wanted = ast.Yield if yields else ast.Return
        for node in own:
            if isinstance(node, wanted) and node.value is not None:
                yield node.value, callee.scope

    def chain(self, call: ast.Call, scope: Scope) -> tuple[list[tuple[str, ast.Call]], ast.expr]:
        """Return the methods that are called one on the other, the last first, and on what.

        A method of a class of this file ends the chain: it is followed as a function is.
        """
        methods: list[tuple[str, ast.Call]] = []
        inner: ast.expr = call
        while (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Attribute)
            and symbol(inner.func, scope) is None
            and not self.members(inner.func, scope)
        ):
            methods.append((inner.func.attr, inner))
            inner = inner.func.value
        return methods, inner

    def calls_in(self, scope: Scope) -> list[ast.Call]:
        """Return the calls that stand in a scope, without those of scopes inside it."""
        if self._calls is None:
            self._calls = {}
            for call, at in self.index.calls:
                self._calls.setdefault(at, []).append(call)
        return self._calls.get(scope, [])

    def calls_on(self, name: str, scope: Scope) -> list[ast.Call]:
        """Return the calls of methods of what a name of a scope is bound to."""
        return [call for call in self.calls_in(scope) if begins_with(call, name)]

    # Classes of this file, and their members.

    def instance_of(self, expr: ast.expr, scope: Scope) -> Scope | None:
        """Return the class of this file whose instance an expression is."""
        if isinstance(expr, ast.Call):
            return self.class_of(expr.func, scope)
        if isinstance(expr, ast.Name):
            owner = self_of(expr, scope)
            lives = scope.find(expr.id)
            if owner is None and lives and len(lives[1]) == 1:
                node = lives[1][0].node
                if isinstance(node, ast.Call):
                    return self.class_of(node.func, lives[1][0].scope)
            return owner
        return None

    def members(self, expr: ast.Attribute, scope: Scope) -> list[Binding]:
        """Return the bindings of an attribute of a class of this file or its instance."""
        made = self.instance_of(expr.value, scope)
        owner = made or self.class_of(expr.value, scope)
        if owner is None:
            return []
        of_instance = owner.attributes.get(expr.attr, []) if made else []
        return [*owner.names.get(expr.attr, []), *of_instance]

    def property_of(self, expr: ast.Attribute, scope: Scope) -> Callee | None:
        """Return the function of this file that an attribute calls; cached if it keeps."""
        bindings = self.members(expr, scope)
        node = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(node, ast.FunctionDef):
            return None
        names = [symbol_of_decorator(one, bindings[0].scope) for one in node.decorator_list]
        if not names or not all(name in _PROPERTIES for name in names):
            return None
        cached = bool({"cache", "cached_property"} & set(names))
        return Callee(node, self.index.scopes[node], cached=cached, is_method=True)

    def class_of(self, expr: ast.expr, scope: Scope) -> Scope | None:
        """Return the class of this file that an expression is."""
        lives = scope.find(expr.id) if isinstance(expr, ast.Name) else None
        if not lives or len(lives[1]) != 1:
            return None
        node, at = lives[1][0].node, lives[1][0].scope
        if isinstance(node, ast.Name) and node.id != getattr(expr, "id", None):
            lives = at.find(node.id)
            node = lives[1][0].node if lives and len(lives[1]) == 1 else None
        return self.index.scopes[node] if isinstance(node, ast.ClassDef) else None


_BUILT_IN = {"classmethod", "property", "staticmethod"}
_PROPERTIES = {"cache", "cached_property", "override", "property"}
_KEEPS_THE_BODY = {
    "classmethod",
    "staticmethod",
    "cache",
    "contextmanager",
    "asynccontextmanager",
    "override",
}


def symbol_of_decorator(decorator: ast.expr, scope: Scope) -> str | None:
    """Return the known name of a decorator, called or not; or that of a built-in one."""
    plain = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(plain, ast.Name) and plain.id in _BUILT_IN and scope.find(plain.id) is None:
        return plain.id
    return symbol(plain, scope)
