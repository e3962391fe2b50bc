"""Whether a factory makes something new: the rules SR102, SR103, SR104 and SR108."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from scoped_registration.audit.functions import DEEPEST, STEPS, Callee, argument, peel, through
from scoped_registration.audit.names import Binding, Scope
from scoped_registration.audit.rules import (
    CACHED_FACTORY,
    CAPTURED_PRODUCT,
    INSTANCE_AS_FACTORY,
    SHARED_BUILDER,
    Rule,
)
from scoped_registration.audit.symbols import symbol
from scoped_registration.audit.values import Kind, Reader

__all__ = ["check_factory", "is_builder"]

_BUILDERS = {Kind.BUILDER, Kind.ORCHESTRATION}
_INSTANCES = {
    *(Kind.WORKFLOW, Kind.WORKFLOW_AGENT, Kind.WORKFLOW_RUNNER, Kind.AGENT_RUNNER),
    *(Kind.AGENT, Kind.FUNCTIONAL),
}
_STATEFUL = _INSTANCES - {Kind.AGENT}
# A call of one of these is no instance that a factory would return.
_NO_INSTANCE = {"partial", "cache", "contextmanager", "asynccontextmanager"}
_Fault = tuple[Rule, str]


def check_factory(
    reader: Reader, factory: ast.expr, scope: Scope, where: str
) -> Iterator[tuple[Rule, str]]:
    """Yield the faults of what is given as a factory, one for each rule."""
    found: dict[Rule, str] = {}
    for given in peel(factory, scope):
        for rule, message in _faults(reader, given, scope, where):
            found.setdefault(rule, message)
    yield from found.items()


def is_builder(reader: Reader, given: ast.expr, scope: Scope) -> frozenset[Kind]:
    """Return the kinds of builder that an expression, or the object of its `build`, is."""
    expr, at = through(given, scope)
    if isinstance(expr, ast.Attribute) and expr.attr == "build":
        expr = expr.value
    return reader.kinds(expr, at) & _BUILDERS


def _faults(reader: Reader, given: ast.expr, scope: Scope, where: str) -> Iterator[_Fault]:
    if is_builder(reader, given, scope):
        yield SHARED_BUILDER, f"{where} is given a builder: all that it builds shares its parts"
        return
    if reader.kinds(given, scope) & _INSTANCES or _is_plain_instance(reader, given, scope):
        yield INSTANCE_AS_FACTORY, f"{where} wants a factory, and is given an instance"
        return
    for callee in reader.functions(given, scope):
        if callee.cached:
            yield CACHED_FACTORY, f"the factory of {where} is cached: several keys get one object"
            continue
        captures = _Captures(reader, where)
        for product, at in reader.products(callee):
            yield from captures.of(product, at, (callee,))


def _is_plain_instance(reader: Reader, given: ast.expr, scope: Scope) -> bool:
    """Say whether this is an object of a class of this file that nobody can call."""
    expr, at = through(given, scope)
    made = reader.class_of(expr.func, at) if isinstance(expr, ast.Call) else None
    return (
        made is not None
        and isinstance(made.node, ast.ClassDef)
        and not (made.node.bases or made.node.keywords or made.node.decorator_list)
        and "__call__" not in made.names
    )


class _Captures:
    """Looks for what a product takes from outside the factory."""

    def __init__(self, reader: Reader, where: str) -> None:
        self._reader = reader
        self._where = where
        self._steps = STEPS

    def of(self, product: ast.expr, scope: Scope, inside: tuple[Callee, ...]) -> Iterator[_Fault]:
        """Yield how an expression, evaluated in the innermost callee, is shared."""
        self._steps -= 1
        if len(inside) > DEEPEST or self._steps < 0:
            return
        for one in peel(product, scope):
            match one:
                case ast.Name():
                    yield from self._of_name(one, scope, inside)
                case ast.Attribute():
                    if self._is_captured_attribute(one, scope, inside):
                        yield self._captured(ast.unparse(one))
                case ast.Call():
                    yield from self._of_call(one, scope, inside)
                case _:
                    pass

    def _captured(self, name: str) -> _Fault:
        return CAPTURED_PRODUCT, (
            f"the factory of {self._where} returns '{name}', which exists outside it: "
            "every key gets the same object"
        )

    def _of_name(
        self, name: ast.Name, scope: Scope, inside: tuple[Callee, ...]
    ) -> Iterator[_Fault]:
        lives = scope.find(name.id)
        if lives is None:
            return
        home, bindings = lives
        callee = inside[-1]
        if not home.inside(callee.scope):
            # By the factory, for a function inside it; or a global that the factory sets.
            made_inside = any(
                binding.scope.inside(around.scope) for binding in bindings for around in inside
            )
            if not made_inside and self._are_objects(bindings):
                yield self._captured(name.id)
            return
        if len(bindings) != 1:
            return
        node = bindings[0].node
        if isinstance(node, ast.arg):
            bound = callee.bound.get(name.id)
            first = callee.parameters[:1]
            default = None if [it.arg for it in first] == [name.id] else callee.default(name.id)
            outer = callee.scope.parent or callee.scope
            given = bound or ((default, outer) if default is not None else None)
            if given is not None and self._is_object(*given):
                yield self._captured(name.id)
        elif isinstance(node, ast.expr):
            yield from self.of(node, bindings[0].scope, (*inside, callee))

    def _of_call(
        self, call: ast.Call, scope: Scope, inside: tuple[Callee, ...]
    ) -> Iterator[_Fault]:
        reader = self._reader
        wrapped = _wrapped(call, scope)
        if wrapped is not None:
            if reader.kinds(wrapped, scope) & _STATEFUL:
                yield from self.of(wrapped, scope, (*inside, inside[-1]))
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr == "build":
            builder = call.func.value
            is_outside = any(self.of(builder, scope, (*inside, inside[-1])))
            if Kind.BUILDER in reader.kinds(builder, scope) and is_outside:
                yield (
                    SHARED_BUILDER,
                    (
                        f"the factory of {self._where} builds with '{ast.unparse(builder)}', which "
                        "exists outside it: all that it builds shares its parts"
                    ),
                )
                return
        for helper in reader.functions(call.func, scope):
            if helper.cached:
                if not _uses_local_names(call, scope, inside):
                    yield (
                        CACHED_FACTORY,
                        (
                            f"the factory of {self._where} returns what the cached "
                            f"'{ast.unparse(call.func)}' keeps: every key gets the same object"
                        ),
                    )
                continue
            for product, at in reader.products(helper):
                yield from self.of(product, at, (*inside, helper))

    def _is_captured_attribute(
        self, expr: ast.Attribute, scope: Scope, inside: tuple[Callee, ...]
    ) -> bool:
        """Say whether an attribute of an object outside is set outside too."""
        lives = scope.find(expr.value.id) if isinstance(expr.value, ast.Name) else None
        if lives is None:
            return False
        bindings = self._reader.members(expr, scope)
        if any(one.scope.inside(around.scope) for one in bindings for around in inside):
            return False
        is_local = any(lives[0].inside(around.scope) for around in inside)
        is_own = is_local and isinstance(lives[1][0].node, ast.arg)  # self, bound once for all
        of_class = all(isinstance(one.scope.node, ast.ClassDef) for one in bindings)
        return (not is_local or is_own or of_class) and self._are_objects(bindings)

    def _are_objects(self, bindings: Iterable[Binding], deepest: int = DEEPEST) -> bool:
        """Say whether every binding gives the name one object, and none a class or a number."""
        bindings = [one for one in bindings if not _is_none(one.node)]
        return bool(bindings) and all(
            one.imported is None and self._is_bound_object(one, deepest) for one in bindings
        )

    def _is_bound_object(self, binding: Binding, deepest: int) -> bool:
        node, annotation = binding.node, binding.annotation
        if isinstance(node, ast.arg):  # of a function around the factory
            mentioned = ast.walk(annotation) if annotation else ()
            named = {one.id for one in mentioned if isinstance(one, ast.Name)}
            return not named & {"Callable", "type", "Type", "str", "int", "bool", "float"}
        if isinstance(node, ast.expr):
            return self._is_object(node, binding.scope, deepest - 1)
        # A loop's variable, or what a `with` statement opens; an annotation alone is nothing.
        return node is None and annotation is None and binding.imported is None

    def _is_object(self, expr: ast.expr, scope: Scope, deepest: int = DEEPEST) -> bool:
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
                    if lives and self._are_objects(lives[1], deepest):
                        return True
                case _:
                    pass
        return False


def _wrapped(call: ast.Call, scope: Scope) -> ast.expr | None:
    """Return what a new wrapper is put around."""
    called = symbol(call.func, scope)
    if called in ("AgentFrameworkWorkflow", "WorkflowAgent"):
        return argument(call, 0, "workflow")
    if called == "AgentFrameworkAgent":
        return argument(call, 0, "agent")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "as_agent":
        return call.func.value
    return None


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _uses_local_names(call: ast.Call, scope: Scope, inside: tuple[Callee, ...]) -> bool:
    """Say whether the arguments of a call may differ between two runs of the factory."""
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        for one in ast.walk(given):
            if isinstance(one, ast.Call | ast.Await | ast.Lambda):
                return True
            lives = scope.find(one.id) if isinstance(one, ast.Name) else None
            if lives and any(lives[0].inside(around.scope) for around in inside):
                return True
    return False
