"""Whether a resolver says who calls: the rules SR106 and SR107."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scoped_registration.audit.functions import Callee, peel, through
from scoped_registration.audit.names import Scope
from scoped_registration.audit.rules import CONSTANT_SCOPE, SCOPE_FROM_BODY, Rule
from scoped_registration.audit.symbols import annotated_symbol, symbol
from scoped_registration.audit.values import Reader

__all__ = ["check_resolver"]

_READS = {"body", "form", "json", "stream"}
_DEEPEST_DEPENDENCY = 5
# Their result is still what the caller wrote. Any other function may look it up or verify it.
_SAME_WORDS = {"str", "int", "UUID"}
_PARSERS = {"loads", "model_validate", "model_validate_json", "parse_obj", "parse_raw"}


def check_resolver(
    reader: Reader, resolver: ast.expr, scope: Scope, where: str, *, takes_body: bool = False
) -> Iterator[tuple[Rule, str]]:
    """Yield the faults of a resolver.

    Args:
        reader: Of the module.
        resolver: The expression that is given.
        scope: Where it stands.
        where: What it is given as, for the message.
        takes_body: Whether its first parameter is the body of the request.
    """
    for callee in reader.functions(resolver, scope):
        if _is_constant(reader, callee):
            yield CONSTANT_SCOPE, f"{where} returns a constant: all callers are one principal"
            return
        if _Body(reader, callee, takes_body=takes_body).is_returned():
            message = f"{where} returns what the request's body says: any caller can name any other"
            yield SCOPE_FROM_BODY, message
            return


def _is_constant(reader: Reader, callee: Callee) -> bool:
    """Say whether a function returns one constant, wherever it returns."""
    returned: set[str] = set()
    for product, at in reader.products(callee, is_dependency=True):
        for one in peel(product, at):
            value, _ = through(one, at)
            # None is no scope, and is answered 401.
            if not isinstance(value, ast.Constant) or value.value is None:
                return False
            returned.add(repr(value.value))
    return len(returned) == 1


class _Body:
    """Follows what a function reads from the request's body to what it returns."""

    def __init__(
        self, reader: Reader, callee: Callee, *, takes_body: bool = False, depth: int = 0
    ) -> None:
        self._reader = reader
        self._callee = callee
        self._depth = depth
        self._names: set[str] = set()
        self._requests: set[str] = set()
        node = callee.node
        if node is None:
            return
        for arg in (*callee.parameters, *node.args.kwonlyargs):
            if self._is_body(arg):
                self._names.add(arg.arg)
            elif annotated_symbol(arg.annotation, callee.scope) in ("Request", "HTTPConnection"):
                self._requests.add(arg.arg)
        if takes_body:
            self._names.update(arg.arg for arg in callee.parameters[:1])

    def is_returned(self) -> bool:
        """Say whether a part of the body is returned as it is."""
        if not self._names and not self._requests:
            return False
        bindings = self._callee.scope.names
        for _ in bindings:  # each pass finds a name, or is the last
            known = len(self._names)
            for name, bound in bindings.items():
                if any(isinstance(it.node, ast.expr) and self._says(it.node) for it in bound):
                    self._names.add(name)
            if len(self._names) == known:
                break
        products = self._reader.products(self._callee, is_dependency=True)
        return any(self._says(product) for product, _ in products)

    def _says(self, expr: ast.expr) -> bool:
        """Say whether an expression is, in part, what the caller wrote into the body."""
        for one in peel(expr, self._callee.scope):
            match one:
                case ast.Name():
                    found = one.id in self._names
                case ast.Attribute() | ast.Subscript() | ast.FormattedValue():
                    found = self._says(one.value)
                case ast.Call():
                    found = self._says_call(one)
                case ast.JoinedStr():
                    found = any(self._says(part) for part in one.values)
                case ast.Tuple():
                    found = any(self._says(part) for part in one.elts)
                case ast.BinOp():
                    found = self._says(one.left) or self._says(one.right)
                case _:
                    found = False
            if found:
                return True
        return False

    def _says_call(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Attribute):
            on = function.value
            if isinstance(on, ast.Name) and on.id in self._requests and function.attr in _READS:
                return True
            if function.attr not in _PARSERS:
                return self._says(on)  # payload.get("user"), name.strip()
        elif not isinstance(function, ast.Name) or function.id not in _SAME_WORDS:
            return False
        return any(self._says(given) for given in call.args)

    def _is_body(self, arg: ast.arg) -> bool:
        """Say whether FastAPI fills a parameter from the body."""
        callee = self._callee
        outer = callee.scope.parent or callee.scope
        default = callee.default(arg.arg)
        marks: list[ast.expr] = [] if default is None else [default]
        annotation = arg.annotation
        if isinstance(annotation, ast.Subscript) and symbol(annotation.value, outer) == "Annotated":
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
            annotation, marks = (inner[0] if inner else None), [*inner[1:], *marks]
        for mark in marks:
            called = symbol(mark.func, outer) if isinstance(mark, ast.Call) else None
            if called in ("Body", "Form"):
                return True
            if isinstance(mark, ast.Call) and called == "Depends":
                return self._depends_on_body(mark, outer)
        if any(not isinstance(mark, ast.Constant) for mark in marks):
            return False  # Header(), Query(), or what is not known
        if annotated_symbol(annotation, outer) == "AGUIRequest":
            return True
        made = self._reader.class_of(annotation, outer) if annotation is not None else None
        return (
            made is not None
            and isinstance(made.node, ast.ClassDef)
            and "BaseModel" in [symbol(base, outer) for base in made.node.bases]
        )

    def _depends_on_body(self, mark: ast.Call, scope: Scope) -> bool:
        if self._depth >= _DEEPEST_DEPENDENCY or not mark.args:
            return False
        return any(
            _Body(self._reader, callee, depth=self._depth + 1).is_returned()
            for callee in self._reader.functions(mark.args[0], scope)
        )
