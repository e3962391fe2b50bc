"""What a resolver reads from the body of the request, and whether it returns that."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from scoped_registration.audit.constants import constant, holds_its_arguments
from scoped_registration.audit.expressions import own_nodes, peel
from scoped_registration.audit.functions import Callee, symbol_of_decorator
from scoped_registration.audit.names import Scope
from scoped_registration.audit.symbols import annotated_symbol, core, symbol
from scoped_registration.audit.values import Reader

__all__ = ["Body"]

_READS = {"body", "form", "json", "stream"}
_DEEPEST_DEPENDENCY = 5
_PARSERS = {"loads", "model_validate", "model_validate_json", "parse_obj", "parse_raw"}
_PLAIN = {"dict", "list", "Dict", "List", "Mapping"}


class Body:
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
        if isinstance(self._callee.node, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in own_nodes(self._callee.node):
                if isinstance(node, ast.Assign) and self._says(node.value):
                    self._names.update(_unpacked(node.targets))
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
                    found = self._says_alone(one.values)
                case ast.Tuple():
                    found = self._says_alone(one.elts)
                case ast.BinOp():
                    found = self._says_alone((one.left, one.right))
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
            return any(self._says(given) for given in call.args)
        if not holds_its_arguments(self._reader, call, self._callee.scope):
            return False  # what is looked up or verified
        return self._says_alone((*call.args, *(keyword.value for keyword in call.keywords)))

    def _says_alone(self, parts: Iterable[ast.expr]) -> bool:
        """Say whether parts are from the body, and none is from elsewhere, such as a token."""
        parts = list(parts)
        return any(map(self._says, parts)) and all(
            self._says(one) or constant(self._reader, one, self._callee.scope) for one in parts
        )

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
        annotation = core(annotation, outer)
        if annotated_symbol(annotation, outer) == "AGUIRequest":
            return True
        plain = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        if isinstance(plain, ast.Name) and plain.id in _PLAIN:
            return True
        return annotation is not None and self._is_model(annotation, outer)

    def _is_model(self, annotation: ast.expr, scope: Scope) -> bool:
        """Say whether FastAPI reads objects of a class of this file from the body."""
        made = self._reader.class_of(annotation, scope)
        if made is None or not isinstance(made.node, ast.ClassDef):
            return False
        around = made.parent or made
        if "dataclass" in [symbol_of_decorator(one, around) for one in made.node.decorator_list]:
            return True
        bases = made.node.bases
        return any(
            symbol(base, around) in ("BaseModel", "TypedDict") or self._is_model(base, around)
            for base in bases
            if ast.unparse(base) != made.node.name
        )

    def _depends_on_body(self, mark: ast.Call, scope: Scope) -> bool:
        if self._depth >= _DEEPEST_DEPENDENCY or not mark.args:
            return False
        return any(
            Body(self._reader, callee, depth=self._depth + 1).is_returned()
            for callee in self._reader.functions(mark.args[0], scope)
        )


def _unpacked(targets: Iterable[ast.expr]) -> set[str]:
    """Return the names that an assignment takes a value apart into."""
    found: set[str] = set()
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            found |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found
