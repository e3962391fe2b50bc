"""What exists outside a factory, and is thus one object for every key."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from scoped_registration.audit.caches import Caches
from scoped_registration.audit.expressions import DEEPEST, peel, through
from scoped_registration.audit.frames import Frame
from scoped_registration.audit.functions import STEPS
from scoped_registration.audit.names import Binding, Scope
from scoped_registration.audit.symbols import symbol
from scoped_registration.audit.values import Kind, Kinds, Reader

__all__ = ["Outside", "elements", "is_none"]

# A call of one of these is no instance that a factory would return.
_NO_INSTANCE = {"partial", "cache", "contextmanager", "asynccontextmanager"}
_MAPPINGS = {"dict", "OrderedDict", "WeakValueDictionary", "TTLCache", "LRUCache"}
_NO_OBJECT = {"Callable", "type", "Type", "str", "int", "bool", "float"}


class Outside:
    """Answers questions about the objects that the functions of one module find made."""

    def __init__(self, reader: Reader, parts: Kinds) -> None:
        self._reader = reader
        self._parts = parts  # what two products must not have in common
        self._steps = STEPS

    def is_attribute(self, expr: ast.Attribute, scope: Scope, frame: Frame) -> bool:
        """Say whether an attribute of an object outside is set outside too."""
        bindings = self._reader.members(expr, scope)
        return not frame.sets(bindings) and self._is_shared(expr, bindings, scope, frame)

    def is_filled(self, expr: ast.Attribute, scope: Scope, frame: Frame) -> bool:
        """Say whether an attribute of an object outside is set by the first call alone."""
        bindings = self._reader.members(expr, scope)
        return (
            frame.sets(bindings)
            and self._is_shared(expr, bindings, scope, frame)
            and Caches.is_lazy(expr, frame)
        )

    def _is_shared(
        self, expr: ast.Attribute, bindings: list[Binding], scope: Scope, frame: Frame
    ) -> bool:
        lives = scope.find(expr.value.id) if isinstance(expr.value, ast.Name) else None
        if lives is None:
            return False
        owner = frame.owner(lives[0])
        # self, bound once for all; or an object that was made on the way.
        is_own = owner is not None and isinstance(lives[1][0].node, ast.arg) and not owner.is_new
        of_class = all(isinstance(one.scope.node, ast.ClassDef) for one in bindings)
        return (owner is None or is_own or of_class) and self.are_objects(bindings)

    def are_objects(self, bindings: Iterable[Binding], deepest: int = DEEPEST) -> bool:
        """Say whether every binding gives the name one object, and none a class or a number."""
        bindings = [one for one in bindings if not is_none(one.node)]
        return bool(bindings) and all(
            one.imported is None and self._is_bound_object(one, deepest) for one in bindings
        )

    def is_object(self, expr: ast.expr, scope: Scope, deepest: int = DEEPEST) -> bool:
        """Say whether an expression, evaluated outside, may be an object that is made once."""
        self._steps -= 1
        if self._steps < 0 or deepest < 0:
            return False
        for one in peel(expr, scope):
            match one:
                case ast.Call():
                    if symbol(one.func, scope) not in _NO_INSTANCE:
                        return True
                case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp():
                    return True
                case ast.Name():
                    lives = scope.find(one.id)
                    if lives and self.are_objects(lives[1], deepest):
                        return True
                case _:
                    pass
        return False

    def is_display(self, expr: ast.expr, scope: Scope) -> bool:
        """Say whether an expression is a dict or a list: an item is what was put there."""
        if isinstance(expr, ast.Attribute):
            bindings = self._reader.members(expr, scope)
            if len(bindings) != 1 or not isinstance(bindings[0].node, ast.expr):
                return False
            expr, scope = bindings[0].node, bindings[0].scope
        held, _ = through(expr, scope)
        called = ast.unparse(held.func) if isinstance(held, ast.Call) else ""
        return called.rpartition(".")[2] in _MAPPINGS or isinstance(
            held, ast.Dict | ast.DictComp | ast.List | ast.ListComp | ast.Tuple
        )

    def is_part(self, expr: ast.expr, scope: Scope, deepest: int = DEEPEST) -> bool:
        """Say whether an expression, evaluated outside, is a part or holds one."""
        self._steps -= 1
        if self._steps < 0 or deepest < 0:
            return False
        if self._reader.kinds(expr, scope) & self._parts:
            return True
        held, at = through(expr, scope)
        if isinstance(held, ast.Subscript):  # one of them: each has to be a part
            whole, at = through(held.value, at)
            each = list(elements(self._reader, whole, at))
            return bool(each) and all(self.is_part(one, inner, deepest - 1) for one, inner in each)
        return any(
            self.is_part(one, inner, deepest - 1) for one, inner in elements(self._reader, held, at)
        )

    def is_builder_of_parts(self, builder: ast.expr, scope: Scope) -> bool:
        """Say whether a builder that exists outside was given a part."""
        expr, at = through(builder, scope)
        while isinstance(expr, ast.Call):
            given = (*expr.args, *(keyword.value for keyword in expr.keywords))
            if any(self.is_part(one, at) for one in given):
                return True
            if not isinstance(expr.func, ast.Attribute):
                return False
            expr = expr.func.value
        return False

    def _is_bound_object(self, binding: Binding, deepest: int) -> bool:
        node, annotation = binding.node, binding.annotation
        if isinstance(node, ast.arg):  # of a function around the factory
            mentioned = ast.walk(annotation) if annotation else ()
            named = {one.id for one in mentioned if isinstance(one, ast.Name)}
            return not named & _NO_OBJECT
        if isinstance(node, ast.expr):
            return self.is_object(node, binding.scope, deepest - 1)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kinds = self._reader.kinds(ast.Name(node.name, ast.Load()), binding.scope)
            return Kind.PLAIN_EXECUTOR in kinds  # what a decorator makes of a function
        # A loop's variable, or what a `with` statement opens; an annotation alone is nothing.
        return node is None and annotation is None and binding.imported is None


def elements(reader: Reader, expr: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, Scope]]:
    """Yield what a display of a list, a tuple, a set or a dict puts together."""
    match expr:
        case ast.List() | ast.Tuple() | ast.Set():
            yield from ((one, scope) for one in expr.elts)
        case ast.Dict():
            yield from ((one, scope) for one in expr.values)
        case ast.Starred():
            yield expr.value, scope
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            yield expr.elt, reader.index.scopes[expr]
        case ast.DictComp():
            yield expr.value, reader.index.scopes[expr]
        case _:
            pass


def is_none(node: ast.AST | None) -> bool:
    """Say whether a binding gives a name nothing yet."""
    return isinstance(node, ast.Constant) and node.value is None
