"""How what a factory returns is shared: it is made outside, or a part of it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scoped_registration.audit.caches import Caches, Varies
from scoped_registration.audit.expressions import DEEPEST, argument, begins_with, peel
from scoped_registration.audit.faults import Fault, Faults, Place
from scoped_registration.audit.frames import Frame
from scoped_registration.audit.functions import STEPS, Callee
from scoped_registration.audit.names import Binding, Scope
from scoped_registration.audit.outside import elements, is_none
from scoped_registration.audit.rules import CACHED_FACTORY, CAPTURED_PRODUCT
from scoped_registration.audit.symbols import symbol
from scoped_registration.audit.values import (
    BUILDERS,
    STATEFUL,
    Kind,
    Kinds,
    Reader,
    is_super_init,
)

__all__ = ["Captures"]

_NONE: Kinds = frozenset()
# Objects that hold what they are given.
_HOLDERS = {
    *("Agent", "RawAgent"),
    *("AgentExecutor", "WorkflowExecutor", "WorkflowAgent", "Case", "Default"),
    *("WorkflowBuilder", "SequentialBuilder", "ConcurrentBuilder", "HandoffBuilder"),
    *("GroupChatBuilder", "MagenticBuilder", "AgentFrameworkWorkflow", "AgentFrameworkAgent"),
}
_AS = ("as_agent", "as_tool")
_WRAPPERS = {
    "AgentFrameworkWorkflow": "workflow",
    "WorkflowAgent": "workflow",
    "AgentFrameworkAgent": "agent",
}


class Captures:
    """Follows what one factory returns to what it is made of."""

    def __init__(self, reader: Reader, place: Place) -> None:
        self._reader = reader
        self._caches = Caches.of(place.where)
        self._faults = Faults(reader, place)
        self._outside = self._faults.outside
        self._steps = STEPS

    def of(self, callee: Callee) -> Iterator[Fault]:
        """Yield the faults of a factory."""
        for product, at in self._reader.products(callee):
            yield from self._walk(product, at, Frame(callee), DEEPEST, part=False)

    def of_class(self, made: Scope) -> Iterator[Fault]:
        """Yield the faults of a class that is the factory."""
        yield from self._instance(made, None, made, Frame(Callee(None, made)), DEEPEST)

    def _walk(
        self, expr: ast.expr, scope: Scope, frame: Frame, deepest: int, *, part: bool
    ) -> Iterator[Fault]:
        """Yield how an expression is shared.

        Args:
            expr: It is evaluated in the frame.
            scope: Where it stands.
            frame: The innermost call.
            deepest: How much deeper to follow.
            part: It becomes a part of something new: only what keeps state matters.
        """
        self._steps -= 1
        if deepest < 0 or self._steps < 0:
            return
        for one in peel(expr, scope):
            match one:
                case ast.Name():
                    yield from self._name(one, scope, frame, deepest - 1, part=part)
                case ast.Attribute():
                    yield from self._attribute(one, scope, frame, deepest - 1, part=part)
                case ast.Call():
                    yield from self._call(one, scope, frame, deepest - 1, part=part)
                case ast.Subscript():
                    if self._is_kept(one.value, scope, frame, deepest - 1):
                        yield from self._item(one, scope, frame, part=part)
                case _ if part:
                    for inner, at in elements(self._reader, one, scope):
                        yield from self._walk(inner, at, frame, deepest - 1, part=True)
                case _:
                    pass

    def _name(
        self, name: ast.Name, scope: Scope, frame: Frame, deepest: int, *, part: bool
    ) -> Iterator[Fault]:
        lives = scope.find(name.id)
        if lives is None:
            return
        home, bindings = lives
        owner = frame.owner(home)
        if owner is None:
            if frame.sets(bindings):  # by the factory: a global
                if Caches.is_lazy(name, frame):
                    yield from self._faults.kept(name, name, scope, Varies.NEVER, part=part)
            elif self._outside.are_objects(bindings):
                yield from self._faults.found(name, scope, part=part)
            return
        bindings = [
            one for one in bindings if not is_none(one.node) and not begins_with(one.node, name.id)
        ]
        faults = [list(self._bound(name, it, owner, deepest, part=part)) for it in bindings]
        # One value of several may be new; one that is kept is what the next key gets.
        kept = [it for it in faults if any(rule is CACHED_FACTORY for rule, _ in it)]
        for found in (faults if all(faults) else kept)[:1]:
            yield from found
        if self._reader.kinds(name, scope) & BUILDERS:
            for call in self._reader.calls_on(name.id, home):
                yield from self._arguments(call, home, owner, deepest)

    def _attribute(
        self, expr: ast.Attribute, scope: Scope, frame: Frame, deepest: int, *, part: bool
    ) -> Iterator[Fault]:
        if self._outside.is_attribute(expr, scope, frame):
            yield from self._faults.found(expr, scope, part=part)
        elif self._outside.is_filled(expr, scope, frame):
            yield from self._faults.kept(expr, expr, scope, Varies.NEVER, part=part)
        getter = self._reader.property_of(expr, scope)
        if getter is None:
            return
        is_new = self._is_new(expr.value, scope, frame)
        if getter.cached and not is_new:
            yield from self._faults.kept(expr, expr, scope, Varies.NEVER, part=part)
            return
        inner = Frame(getter, frame, is_new=is_new)
        for product, at in self._reader.products(getter):
            yield from self._walk(product, at, inner, deepest, part=part)

    def _bound(
        self, name: ast.Name, binding: Binding, frame: Frame, deepest: int, *, part: bool
    ) -> Iterator[Fault]:
        node, callee = binding.node, frame.callee
        if isinstance(node, ast.expr):
            yield from self._walk(node, binding.scope, frame, deepest, part=part)
        elif isinstance(node, ast.arg):
            given = frame.given.get(name.id)
            if given is not None and frame.caller is not None and frame.at is not None:
                yield from self._walk(given, frame.at, frame.caller, deepest, part=part)
                return
            first = callee.parameters[:1] if frame.caller is None else []
            default = None if [it.arg for it in first] == [name.id] else callee.default(name.id)
            around = callee.scope.parent or callee.scope
            once = callee.bound.get(name.id) or (None if default is None else (default, around))
            if once is not None and self._outside.is_object(*once):
                yield from self._faults.given(name.id, *once, part=part)

    def _call(
        self, call: ast.Call, scope: Scope, frame: Frame, deepest: int, *, part: bool
    ) -> Iterator[Fault]:
        reader = self._reader
        called = symbol(call.func, scope)
        if called in _HOLDERS:
            wrapped = argument(call, 0, _WRAPPERS[called]) if called in _WRAPPERS else None
            if wrapped is not None and reader.kinds(wrapped, scope) & STATEFUL:
                yield from self._walk(wrapped, scope, frame, deepest, part=part)
            else:
                yield from self._arguments(call, scope, frame, deepest)
            return
        methods, root = reader.chain(call, scope)
        kinds = reader.kinds(root, scope) if methods else _NONE
        if kinds & BUILDERS:
            yield from self._built([it for _, it in methods], root, scope, frame, deepest)
            return
        if Kind.DEFINITION in kinds:
            yield from self._definition(root, scope, frame)
            return
        if kinds & STATEFUL and any(name in _AS for name, _ in methods):
            yield from self._walk(root, scope, frame, deepest, part=part)
            return
        if [name for name, _ in methods] in (["setdefault"], ["get"]):
            if self._is_kept(root, scope, frame, deepest):
                varies = self._caches.varies(call.args[:1], scope, frame)
                yield from self._faults.kept(root, root, scope, varies, part=part)
            return
        for helper in reader.functions(call.func, scope):
            if helper.cached:
                given = (*call.args, *(keyword.value for keyword in call.keywords))
                varies = self._caches.varies(given, scope, frame)
                yield from self._faults.kept(call.func, call, scope, varies, part=part)
                continue
            on = call.func.value if isinstance(call.func, ast.Attribute) else None
            is_new = on is not None and self._is_new(on, scope, frame)
            inner = frame.enter(helper, call, scope, is_new=is_new)
            for product, at in reader.products(helper):
                yield from self._walk(product, at, inner, deepest, part=part)
        made = reader.class_of(call.func, scope)
        if made is not None:
            yield from self._instance(made, call, scope, frame, deepest)

    def _arguments(
        self, call: ast.Call, scope: Scope, frame: Frame, deepest: int
    ) -> Iterator[Fault]:
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            yield from self._walk(given, scope, frame, deepest, part=True)

    def _built(
        self,
        methods: list[ast.Call],
        root: ast.expr,
        scope: Scope,
        frame: Frame,
        deepest: int,
    ) -> Iterator[Fault]:
        """Yield how what a builder builds is shared."""
        faults = list(self._walk(root, scope, frame, deepest, part=False))
        if any(rule in (CAPTURED_PRODUCT, CACHED_FACTORY) for rule, _ in faults):
            yield from self._faults.builder(root, scope, self._reader.kinds(root, scope))
        else:
            yield from faults
        for call in methods:
            yield from self._arguments(call, scope, frame, deepest)

    def _item(
        self, item: ast.Subscript, scope: Scope, frame: Frame, *, part: bool
    ) -> Iterator[Fault]:
        """Yield how an item of something outside is shared."""
        varies = self._caches.varies([item.slice], scope, frame)
        if part or varies is Varies.NEVER:
            yield from self._faults.found(item, scope, part=part)
        else:
            yield from self._faults.kept(item.value, item, scope, varies, part=False)

    def _is_kept(self, expr: ast.expr, scope: Scope, frame: Frame, deepest: int) -> bool:
        if not self._outside.is_display(expr, scope):
            return False
        faults = self._walk(expr, scope, frame, deepest, part=False)
        return any(rule is CAPTURED_PRODUCT for rule, _ in faults)

    def _is_new(self, on: ast.expr, scope: Scope, frame: Frame) -> bool:
        """Say whether an object, whose method is called, is made on the way."""
        lives = scope.find(on.id) if isinstance(on, ast.Name) else None
        if lives is None:
            return isinstance(on, ast.Call)
        owner = frame.owner(lives[0])
        if owner is None:
            return False
        return owner.is_new if isinstance(lives[1][0].node, ast.arg) else True

    def _instance(
        self, made: Scope, call: ast.Call | None, scope: Scope, frame: Frame, deepest: int
    ) -> Iterator[Fault]:
        """Yield which parts an object of a class of this file has in common with others."""
        reader = self._reader
        own = [it.node for it in made.names.get("__init__", ())]
        if len(own) == 1 and isinstance(own[0], ast.FunctionDef):
            init = reader.index.scopes[own[0]]
            inner = frame.enter(Callee(own[0], init, is_method=True), call, scope, is_new=True)
            for bindings in made.attributes.values():
                for it in bindings:
                    if isinstance(it.node, ast.expr) and it.scope.inside(init):
                        yield from self._walk(it.node, it.scope, inner, deepest, part=True)
            for one in reader.calls_in(init):
                if is_super_init(one):
                    yield from self._arguments(one, init, inner, deepest)
        elif call is not None:
            yield from self._arguments(call, scope, frame, deepest)
        for name, bindings in made.names.items():
            for it in bindings:
                if isinstance(it.node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from self._faults.used(it.node, frame)
                if isinstance(it.node, ast.expr) and self._outside.is_part(it.node, it.scope):
                    yield self._faults.part(f"holds '{name}' of its class")

    def _definition(self, root: ast.expr, scope: Scope, frame: Frame) -> Iterator[Fault]:
        """Yield the parts outside that the function of a functional workflow uses."""
        lives = scope.find(root.id) if isinstance(root, ast.Name) else None
        for binding in lives[1] if lives else ():
            if isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._faults.used(binding.node, frame)
