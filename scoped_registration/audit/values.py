"""What an expression of a file may stand for, where the file itself says so.

Nothing is imported and nothing is guessed: what another module decides, a loop, a parameter
without an annotation, has no kind, and no rule is applied to it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum, auto

from scoped_registration.audit.expressions import DEEPEST, argument, begins_with, peel
from scoped_registration.audit.functions import STEPS, FunctionReader, symbol_of_decorator
from scoped_registration.audit.names import Binding, Scope
from scoped_registration.audit.symbols import annotated_symbol, symbol

__all__ = ["BUILDERS", "INSTANCES", "STATEFUL", "Kind", "Kinds", "Reader", "is_super_init"]


class Kind(Enum):
    """What is known about a value."""

    WORKFLOW = auto()
    WORKFLOW_AGENT = auto()  # an agent that runs one workflow
    WORKFLOW_RUNNER = auto()  # AgentFrameworkWorkflow(workflow)
    AGENT_RUNNER = auto()  # AgentFrameworkAgent around a WORKFLOW_AGENT
    AGENT = auto()  # a plain one, whose sessions the framework makes
    BUILDER = auto()  # WorkflowBuilder: wraps its parts once
    ORCHESTRATION = auto()  # a builder that wraps plain agents anew when it builds
    DEFINITION = auto()  # a functional workflow, of which build() makes a new one
    FUNCTIONAL = auto()
    EXECUTOR = auto()  # a part of a workflow that keeps state
    PLAIN_EXECUTOR = auto()  # one that has nothing to keep it in
    SESSION = auto()


Kinds = frozenset[Kind]
_NOTHING: Kinds = frozenset()
BUILDERS: Kinds = frozenset({Kind.BUILDER, Kind.ORCHESTRATION})
INSTANCES: Kinds = frozenset(Kind) - BUILDERS - {Kind.DEFINITION}
# What several products may hold: the framework makes the sessions of a plain agent per run.
STATEFUL: Kinds = INSTANCES - {Kind.AGENT, Kind.PLAIN_EXECUTOR}
_CALLED = {
    "Workflow": Kind.WORKFLOW,
    "WorkflowAgent": Kind.WORKFLOW_AGENT,
    "WorkflowBuilder": Kind.BUILDER,
    "SequentialBuilder": Kind.ORCHESTRATION,
    "ConcurrentBuilder": Kind.ORCHESTRATION,
    "HandoffBuilder": Kind.ORCHESTRATION,
    "GroupChatBuilder": Kind.ORCHESTRATION,
    "MagenticBuilder": Kind.ORCHESTRATION,
    "Agent": Kind.AGENT,
    "RawAgent": Kind.AGENT,
    "AgentExecutor": Kind.EXECUTOR,
    "WorkflowExecutor": Kind.EXECUTOR,
    "FunctionExecutor": Kind.PLAIN_EXECUTOR,
    "AgentSession": Kind.SESSION,
}
_ANNOTATED = {
    "Workflow": Kind.WORKFLOW,
    "WorkflowAgent": Kind.WORKFLOW_AGENT,
    "WorkflowBuilder": Kind.BUILDER,
    "AgentExecutor": Kind.EXECUTOR,
    "WorkflowExecutor": Kind.EXECUTOR,
    "AgentSession": Kind.SESSION,
}
_SUBCLASSED = {
    "Workflow": Kind.WORKFLOW,
    "WorkflowAgent": Kind.WORKFLOW_AGENT,
    "AgentExecutor": Kind.EXECUTOR,
    "WorkflowExecutor": Kind.EXECUTOR,
    "AgentSession": Kind.SESSION,
}
# What the decorators of the framework make of a function.
_DECORATED = {"workflow": Kind.DEFINITION, "executor": Kind.PLAIN_EXECUTOR}
_METHODS = {
    (Kind.BUILDER, "build"): Kind.WORKFLOW,
    (Kind.ORCHESTRATION, "build"): Kind.WORKFLOW,
    (Kind.DEFINITION, "build"): Kind.FUNCTIONAL,
    (Kind.WORKFLOW, "as_agent"): Kind.WORKFLOW_AGENT,
    (Kind.FUNCTIONAL, "as_agent"): Kind.WORKFLOW_AGENT,
    (Kind.WORKFLOW_AGENT, "as_tool"): Kind.WORKFLOW_AGENT,
    (Kind.AGENT, "create_session"): Kind.SESSION,
    (Kind.AGENT, "get_session"): Kind.SESSION,
}
_FLUENT = (Kind.BUILDER, Kind.ORCHESTRATION)


class Reader(FunctionReader):
    """Answers questions about the expressions of one module."""

    def kinds(self, expr: ast.AST | None, scope: Scope) -> Kinds:
        """Return the kinds that an expression may have; none where that is not decided."""
        self._steps = STEPS
        return self._kinds(expr, scope, DEEPEST)

    def _kinds(self, expr: ast.AST | None, scope: Scope, deepest: int) -> Kinds:
        if self._spent(deepest) or not isinstance(expr, ast.expr):
            return _NOTHING
        found: set[Kind] = set()
        for one in peel(expr, scope):
            match one:
                case ast.Name():
                    lives = scope.find(one.id)
                    # builder = builder.add_edge(...) does not change what it is.
                    bindings = (
                        [it for it in lives[1] if not begins_with(it.node, one.id)]
                        if (lives)
                        else []
                    )
                    found |= self._agreed(bindings, deepest)
                case ast.Attribute():
                    found |= self._agreed(self.members(one, scope), deepest)
                case ast.Call():
                    found |= self._kinds_of_call(one, scope, deepest)
                case _:
                    pass
        return frozenset(found)

    def _agreed(self, bindings: Iterable[Binding], deepest: int) -> Kinds:
        """Return the kinds of a name that is bound several times, where each is known."""
        found: set[Kind] = set()
        for binding in bindings:
            if isinstance(binding.node, ast.Constant) and binding.node.value is None:
                continue  # a name that is filled in later
            kinds = self._kinds_of_binding(binding, deepest)
            if not kinds:
                return _NOTHING
            found |= kinds
        return frozenset(found)

    def _kinds_of_binding(self, binding: Binding, deepest: int) -> Kinds:
        node, scope = binding.node, binding.scope
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [symbol_of_decorator(one, scope) for one in node.decorator_list]
            return frozenset(_DECORATED[name] for name in names if name in _DECORATED)
        kinds = self._kinds(node, scope, deepest - 1)
        if not kinds and binding.annotation is not None:
            kind = _ANNOTATED.get(annotated_symbol(binding.annotation, scope) or "")
            kinds = frozenset({kind} if kind else ())
        return kinds

    def _kinds_of_call(self, call: ast.Call, scope: Scope, deepest: int) -> Kinds:
        methods, inner = self.chain(call, scope)
        if isinstance(inner, ast.Call):
            kinds = self._kinds_of_plain_call(inner, scope, deepest)
            if not kinds and inner is not call:
                kinds = self._kinds_of_product(inner, scope, deepest)
        else:
            kinds = self._kinds(inner, scope, deepest - 1)
        for method, _ in reversed(methods):
            kinds = frozenset(
                after
                for kind in kinds
                if (after := _METHODS.get((kind, method), kind if kind in _FLUENT else None))
            )
        return kinds or self._kinds_of_product(call, scope, deepest)

    def _kinds_of_plain_call(self, call: ast.Call, scope: Scope, deepest: int) -> Kinds:
        called = symbol(call.func, scope)
        if called in _CALLED:
            return frozenset({_CALLED[called]})
        if called == "AgentFrameworkWorkflow":
            return self.runner(call, scope, deepest)
        if called == "AgentFrameworkAgent":
            inner = self._kinds(argument(call, 0, "agent"), scope, deepest - 1)
            return frozenset({Kind.AGENT_RUNNER} if Kind.WORKFLOW_AGENT in inner else ())
        made = self.class_of(call.func, scope)
        return self._kinds_of_instance(call, scope, made, deepest) if made else _NOTHING

    def runner(self, call: ast.Call, scope: Scope, deepest: int = DEEPEST) -> Kinds:
        """Return the kinds of a call with the arguments of AgentFrameworkWorkflow."""
        given = self._kinds(argument(call, 0, "workflow"), scope, deepest - 1)
        return frozenset({Kind.WORKFLOW_RUNNER} if Kind.WORKFLOW in given else ())

    def _kinds_of_instance(self, call: ast.Call, scope: Scope, made: Scope, deepest: int) -> Kinds:
        """Return the kinds of an instance of a class of this file."""
        assert isinstance(made.node, ast.ClassDef)  # noqa: S101  # as `_class_of` says
        bases = [symbol(base, made.parent or made) for base in made.node.bases]
        for base in bases:
            if base in _SUBCLASSED:
                return frozenset({_SUBCLASSED[base]})
            if base == "Executor":
                return frozenset({Kind.EXECUTOR if _keeps(made) else Kind.PLAIN_EXECUTOR})
        if "AgentFrameworkWorkflow" not in bases:
            return _NOTHING
        own = made.names.get("__init__")
        if own is None:
            return self.runner(call, scope, deepest)
        inner = self.index.scopes.get(own[0].node) if own[0].node is not None else None
        handed_on = [one for one, at in self.index.calls if at is inner and is_super_init(one)]
        if inner is None or len(handed_on) != 1:
            return _NOTHING
        return self.runner(handed_on[0], inner, deepest)

    def _kinds_of_product(self, call: ast.Call, scope: Scope, deepest: int) -> Kinds:
        """Return the kinds of what a function of this file returns."""
        found: set[Kind] = set()
        for callee in self._functions(call.func, scope, deepest - 1):
            if callee.node is None:
                continue
            returns = None if isinstance(callee.node, ast.Lambda) else callee.node.returns
            kind = _ANNOTATED.get(annotated_symbol(returns, callee.scope) or "")
            if kind:
                found.add(kind)
                continue
            for product, at in self.products(callee):
                found |= self._kinds(product, at, deepest - 1)
        return frozenset(found)


def _keeps(made: Scope) -> bool:
    """Say whether a class gives its objects attributes of their own, or one for all of them."""
    return bool(made.attributes) or any(
        isinstance(binding.node, ast.expr) and not isinstance(binding.node, ast.Constant)
        for bindings in made.names.values()
        for binding in bindings
    )


def is_super_init(call: ast.Call) -> bool:
    """Say whether a call hands arguments on to the class below."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )
