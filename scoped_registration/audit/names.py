"""The names of one file: which scope binds them, and to what.

One pass over the tree, written for speed: for most files it is all that a scan does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

import attrs

__all__ = ["Binding", "Function", "Index", "Scope", "self_of"]

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@attrs.frozen(eq=False)
class Binding:
    """One place that binds a name or an attribute.

    Attributes:
        scope: Where the binding is carried out, and where its node is to be read.
        node: What is bound: an expression, a function, a class or a parameter; None for what
            cannot be read off, as the variable of a loop.
        imported: The dotted name, for an import.
        annotation: The annotation that stands beside, if any.
    """

    scope: Scope
    node: ast.AST | None = None
    imported: str | None = None
    annotation: ast.expr | None = None


class Scope:
    """A module, a class, a function or a comprehension, and the names that live in it."""

    __slots__ = ("attributes", "elsewhere", "known", "names", "node", "parent", "stars")

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node: ast.AST = node
        self.parent: Scope | None = parent
        self.names: dict[str, list[Binding]] = {}
        self.attributes: dict[str, list[Binding]] = {}  # of a class: those that methods set
        self.elsewhere: dict[str, Scope] = {}  # global and nonlocal names
        self.known: dict[str, str | None] = {}  # dotted names that were asked for
        self.stars: list[str] = []  # modules imported as a whole

    def bind(self, name: str, binding: Binding) -> None:
        """Add a binding, where the name lives."""
        self.elsewhere.get(name, self).names.setdefault(name, []).append(binding)

    def find(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """Return the scope that a name lives in, as seen from here, and its bindings."""
        for scope in self.chain():
            # The names of a class are not seen by the functions inside it.
            if name in scope.names and (scope is self or not isinstance(scope.node, ast.ClassDef)):
                return scope, scope.names[name]
        return None

    def chain(self) -> Iterator[Scope]:
        """Yield this scope and those around it, from the inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def inside(self, other: Scope) -> bool:
        """Say whether this is that scope or one inside it."""
        return any(scope is other for scope in self.chain())


_Stack: TypeAlias = list[tuple[ast.AST, Scope]]


class Index:
    """The scopes and the calls of one module, in the order of the source."""

    def __init__(self, tree: ast.Module) -> None:
        self.module: Scope = Scope(tree, None)
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self.calls: list[tuple[ast.Call, Scope]] = []
        stack: _Stack = [(tree, self.module)]
        pop, push = stack.pop, stack.append
        fields_of, special, leaves, calls = _FIELDS, _SPECIAL, _LEAVES, self.calls
        while stack:
            node, scope = pop()
            cls = node.__class__
            if isinstance(node, ast.Call):
                calls.append((node, scope))
            elif cls in special and self._see(node, scope, stack):
                continue
            for field in fields_of[cls]:
                value = getattr(node, field)
                if value.__class__ is list:
                    for one in reversed(value):
                        if one is not None and one.__class__ not in leaves:
                            push((one, scope))
                elif value is not None and value.__class__ not in leaves:
                    push((value, scope))

    def _see(self, node: ast.AST, scope: Scope, stack: _Stack) -> bool:
        """Note what a node binds; return whether its children are seen to."""
        match node:
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                _read_assignment(node, scope)
            case ast.Import() | ast.ImportFrom():
                _import(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._enter_function(node, scope, stack)
                return True
            case ast.ClassDef():
                scope.bind(node.name, Binding(scope, node))
                inner = self._enter(node, scope)
                outside = (*node.bases, *node.keywords, *node.decorator_list)
                stack.extend((one, inner) for one in reversed(node.body))
                stack.extend((one, scope) for one in outside)
                return True
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                inner = self._enter(node, scope)
                stack.extend((one, inner) for one in ast.iter_child_nodes(node))
                return True
            case ast.Global() | ast.Nonlocal():
                self._declare(node, scope)
            case _:
                for name in _bound_unread(node):
                    scope.bind(name, Binding(scope))
        return False

    def _declare(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            if isinstance(node, ast.Global):
                scope.elsewhere[name] = self.module
            elif scope.parent is not None and (found := scope.parent.find(name)):
                scope.elsewhere[name] = found[0]

    def _enter(self, node: ast.AST, parent: Scope) -> Scope:
        scope = self.scopes[node] = Scope(node, parent)
        return scope

    def _enter_function(self, node: Function, scope: Scope, stack: _Stack) -> None:
        inner = self._enter(node, scope)
        given = node.args
        for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if arg is not None:
                inner.bind(arg.arg, Binding(inner, arg, annotation=arg.annotation))
        if isinstance(node, ast.Lambda):
            stack.append((node.body, inner))
        else:
            scope.bind(node.name, Binding(scope, node))
            stack.extend((one, inner) for one in reversed(node.body))
            stack.extend((one, scope) for one in node.decorator_list)
        defaults = (*given.defaults, *given.kw_defaults)
        stack.extend((one, scope) for one in defaults if one is not None)


# The fields that may hold calls or bindings, the last one first: a stack turns them round.
_SKIPPED = {
    *("annotation", "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind"),
    *("kwd_attrs", "level", "module", "name", "names", "op", "ops", "rest", "returns", "simple"),
    *("type_comment", "type_ignores", "type_params"),
}
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    cls: tuple(field for field in reversed(cls._fields) if field not in _SKIPPED)
    for cls in vars(ast).values()
    if isinstance(cls, type) and issubclass(cls, ast.AST)
}
for _constant in (ast.Constant, ast.MatchSingleton):
    _FIELDS[_constant] = ()  # their value is no node
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SPECIAL = {
    *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Import, ast.ImportFrom),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, *_COMPREHENSIONS),
    *(ast.Global, ast.Nonlocal, ast.For, ast.AsyncFor, ast.AugAssign, ast.comprehension),
    *(ast.withitem, ast.Delete, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
}
_LEAVES = {cls for cls, fields in _FIELDS.items() if not fields and cls not in _SPECIAL}


def _targets(target: ast.expr) -> Iterator[str]:
    """Yield the names that a target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _targets(one)
    elif isinstance(target, ast.Starred):
        yield from _targets(target.value)


def _read_assignment(node: ast.Assign | ast.AnnAssign | ast.NamedExpr, scope: Scope) -> None:
    match node:
        case ast.Assign():
            for target in node.targets:
                _assign(target, node.value, scope)
        case ast.AnnAssign():
            _assign(node.target, node.value, scope, node.annotation)
        case ast.NamedExpr():
            _assign(node.target, node.value, _outside_comprehensions(scope))


def _assign(
    target: ast.expr, value: ast.expr | None, scope: Scope, annotation: ast.expr | None = None
) -> None:
    if isinstance(target, ast.Name):
        scope.bind(target.id, Binding(scope, value, annotation=annotation))
    elif isinstance(target, ast.Attribute):
        owner = self_of(target.value, scope)
        if owner is not None:
            binding = Binding(scope, value, annotation=annotation)
            owner.attributes.setdefault(target.attr, []).append(binding)
    elif (
        isinstance(target, ast.Tuple | ast.List)
        and isinstance(value, ast.Tuple | ast.List)
        and len(target.elts) == len(value.elts)
        and not any(isinstance(one, ast.Starred) for one in (*target.elts, *value.elts))
    ):
        for left, right in zip(target.elts, value.elts, strict=True):
            _assign(left, right, scope)
    else:
        for name in _targets(target):
            scope.bind(name, Binding(scope))


def self_of(name: ast.expr, scope: Scope) -> Scope | None:
    """Return the class whose object a name is, as the first parameter of a method."""
    lives = scope.find(name.id) if isinstance(name, ast.Name) else None
    if lives is None or lives[0].parent is None:
        return None
    node, parent = lives[0].node, lives[0].parent
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    first = [*node.args.posonlyargs, *node.args.args][:1]
    is_first = bool(first) and [one.node for one in lives[1]] == first
    return parent if is_first and isinstance(parent.node, ast.ClassDef) else None


def _outside_comprehensions(scope: Scope) -> Scope:
    while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    return scope


def _import(node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.partition(".")[0]
            imported = alias.name if alias.asname else root
            scope.bind(alias.asname or root, Binding(scope, imported=imported))
        return
    # A relative module is another one of the same program: its names stay unknown.
    module = "." if node.level else f"{node.module}."
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append(module)
        else:
            scope.bind(alias.asname or alias.name, Binding(scope, imported=f"{module}{alias.name}"))


def _bound_unread(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds to what cannot be read off."""
    match node:
        case ast.For() | ast.AsyncFor() | ast.AugAssign() | ast.comprehension():
            yield from _targets(node.target)
        case ast.withitem(optional_vars=ast.expr() as target):
            yield from _targets(target)
        case ast.Delete():
            for target in node.targets:
                yield from _targets(target)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            pass
