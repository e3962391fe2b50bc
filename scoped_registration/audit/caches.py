"""Whether a function keeps what it built, and gives it to the next key as well."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum

import attrs

from scoped_registration.audit.expressions import own_nodes, through
from scoped_registration.audit.frames import Frame
from scoped_registration.audit.names import Scope

__all__ = ["Caches", "Varies"]


class Varies(Enum):
    """How what a cache is asked for differs from one key to another."""

    NEVER = "every key"
    BY_THREAD = "every principal who names one thread id"


@attrs.frozen
class Caches:
    """Answers questions about the caches that one kind of factory may use.

    Attributes:
        tells_by: The attributes of its first parameter that hold the thread id and nothing
            else; empty where that parameter is the thread id, None where one principal has
            all threads.
    """

    tells_by: frozenset[str] | None

    @classmethod
    def of(cls, where: str) -> Caches:
        """Return those of a factory that is given in some place."""
        match where:
            case "ScopedFactory":
                return cls(frozenset({"thread_id"}))
            case "workflow_factory":
                return cls(frozenset())
            case _:
                return cls(None)

    def varies(self, keys: Iterable[ast.expr], scope: Scope, frame: Frame) -> Varies | None:
        """Return for whom some expressions are equal; None where they may differ."""
        found = Varies.NEVER
        for key in keys:
            how = self._varies(key, scope, frame)
            if how is None:
                return None
            found = how if how is Varies.BY_THREAD else found
        return found

    def _varies(self, key: ast.expr, scope: Scope, frame: Frame) -> Varies | None:
        key, scope = through(key, scope)
        match key:
            case ast.Attribute(value=ast.Name() as name) if self._is_context(name, scope, frame):
                return Varies.BY_THREAD if key.attr in (self.tells_by or ()) else None
            case ast.Name():
                return self._of_name(key, scope, frame)
            case ast.Call() | ast.Await() | ast.Lambda() | ast.Yield() | ast.NamedExpr():
                return None
            case _:
                inner = [one for one in ast.iter_child_nodes(key) if isinstance(one, ast.expr)]
                return self.varies(inner, scope, frame)

    def _of_name(self, name: ast.Name, scope: Scope, frame: Frame) -> Varies | None:
        lives = scope.find(name.id)
        owner = frame.owner(lives[0]) if lives else None
        if lives is None or owner is None:
            return None if lives and frame.sets(lives[1]) else Varies.NEVER
        given = owner.given.get(name.id)
        if given is not None and owner.caller is not None and owner.at is not None:
            return self._varies(given, owner.at, owner.caller)
        if self._is_context(name, scope, frame) and self.tells_by == frozenset():
            return Varies.BY_THREAD
        return None

    def _is_context(self, name: ast.Name, scope: Scope, frame: Frame) -> bool:
        """Say whether a name is the first parameter of the factory."""
        lives = scope.find(name.id)
        owner = frame.owner(lives[0]) if lives else None
        if lives is None or owner is None:
            return False
        given = owner.given.get(name.id)
        if isinstance(given, ast.Name) and owner.caller is not None and owner.at is not None:
            return self._is_context(given, owner.at, owner.caller)
        first = owner.callee.parameters[:1] if owner.caller is None else []
        return [it.node for it in lives[1]] == first

    @staticmethod
    def is_lazy(kept: ast.expr, frame: Frame) -> bool:
        """Say whether a call sets a name or attribute only where it is not set yet."""
        text = ast.unparse(kept)
        for around in frame.chain():
            node = around.callee.node
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for one in own_nodes(node):
                match one:
                    case ast.If() | ast.IfExp():
                        asked = one.test
                    case ast.BoolOp(values=[ast.Name() | ast.Attribute() as asked, *_]):
                        pass  # kept = kept or make()
                    case _:
                        continue
                if _asks_only_for(asked, text):
                    return True
        return False


def _asks_only_for(test: ast.expr, text: str) -> bool:
    root = text.partition(".")[0]
    nodes = list(ast.walk(test))
    names = {one.id for one in nodes if isinstance(one, ast.Name)}
    return names == {root} and any(
        isinstance(one, ast.Name | ast.Attribute) and ast.unparse(one) == text for one in nodes
    )
