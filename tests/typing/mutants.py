"""Mutants of the package's signatures: each takes away one thing that makes a mistake red.

They are found in the syntax trees of the modules that the corpora name, so what is added to
those modules is covered without a word here. A mutant is an edit of one place in one file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import attrs

from tests.typing.checkers import HERE, ROOT

PACKAGE = "scoped_registration"
# Modules of plain data that users read and never call.
_DATA = frozenset({"errors", "manifest", "runtime.statistics"})
# Classes that users are given and never construct, so their constructors promise nothing.
_MADE_BY_THE_LIBRARY = frozenset(
    {"Declaration", "Leased", "PerThread", "Registration", "ScopeContext", "Stage", "_Guarded"}
)
# The class behind a function whose signature names its base.
_HIDDEN = frozenset({"PerRun"})
# A type parameter that holds private settings: no user can see it.
_PRIVATE_PARAMETERS = frozenset({"Settings", "EndpointSettings", "SettingsT"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@attrs.frozen
class Mutant:
    """One edit: the text between two offsets of a file is replaced."""

    path: str  # inside the package
    start: int
    end: int
    text: str
    what: str

    def apply(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


def surface() -> list[Path]:
    """Return the modules that the corpora import, and those the facades import for them."""
    modules: set[str] = set()
    for folder in ("accept", "given"):
        for path in (HERE / folder).glob("*.py"):
            modules |= _imported(path)
    for facade in ("", "integrations.agent_framework"):
        path = _file(facade) if facade else ROOT / PACKAGE / "__init__.py"
        modules |= _imported(path)
    files = {_file(module) for module in modules if module and module not in _DATA}
    return sorted(path for path in files if path.name != "__init__.py")


def _imported(path: Path) -> set[str]:
    modules = (
        node.module or ""
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    )
    return {
        module.removeprefix(PACKAGE).removeprefix(".")
        for module in modules
        if module.split(".")[0] == PACKAGE
    }


def _file(module: str) -> Path:
    path = ROOT / PACKAGE / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def find() -> list[Mutant]:
    """Return all mutants, in a stable order."""
    return [mutant for path in surface() for mutant in _Module(path).mutants()]


class _Module:
    def __init__(self, path: Path) -> None:
        self.path = path.relative_to(ROOT / PACKAGE).as_posix()
        self.source = path.read_text()
        self.tree = ast.parse(self.source)
        starts = [0]
        for line in self.source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self.starts = starts

    def mutants(self) -> Iterator[Mutant]:
        public = self._public_names()
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef):
                if node.name not in _HIDDEN and not self._is_private(node):
                    yield from self._class(node)
            elif isinstance(node, _Function) and node.name in public:
                yield from self._function(node, node.name, _siblings(self.tree.body, node))
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                yield from self._assigned(node.value, ast.unparse(node).split("=")[0].strip())

    def _is_private(self, node: ast.ClassDef) -> bool:
        """Tell whether no public class is made of a class, and no alias names it."""
        if not node.name.startswith("_"):
            return False
        others = (each for each in self.tree.body if each is not node)
        declared = (
            base
            for each in others
            for base in (
                each.bases
                if isinstance(each, ast.ClassDef)
                else [each.value]
                if isinstance(each, ast.AnnAssign) and each.value is not None
                else []
            )
        )
        return not any(
            isinstance(name, ast.Name) and name.id == node.name
            for base in declared
            for name in ast.walk(base)
        )

    def _public_names(self) -> set[str]:
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return set(ast.literal_eval(node.value))
        return set()

    def _class(self, node: ast.ClassDef) -> Iterator[Mutant]:
        bases = {ast.unparse(base).split("[")[0] for base in node.bases}
        is_protocol = "Protocol" in bases
        for base in node.bases:
            if isinstance(base, ast.Subscript) and not bases_of_typing(base):
                yield from self._base(node, base)
        if self.path.endswith("builder.py"):
            indent = " " * 4
            first = self._offset(node.body[0].lineno, 0)
            method = f"{indent}def __getattr__(self, name: str) -> Any: ...\n"
            yield Mutant(self.path, first, first, method, f"{node.name}: every option exists")
        for member in node.body:
            if isinstance(member, _Function):
                yield from self._member(node, member, is_protocol=is_protocol)
            elif is_protocol and isinstance(member, ast.AnnAssign):
                yield self._without(member, f"{node.name}: no {ast.unparse(member.target)}")

    def _base(self, node: ast.ClassDef, base: ast.Subscript) -> Iterator[Mutant]:
        parameters = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        for parameter in parameters:
            text = ast.unparse(parameter)
            if text not in _PRIVATE_PARAMETERS:
                yield self._replaced(parameter, "Any", f"{node.name}: base {text} is Any")

    def _member(self, cls: ast.ClassDef, node: _Function, *, is_protocol: bool) -> Iterator[Mutant]:
        name = f"{cls.name}.{node.name}"
        if node.name == "__init__" and (cls.name in _MADE_BY_THE_LIBRARY or _takes_settings(node)):
            return
        if node.name.startswith("_") and node.name != "__init__" and not is_protocol:
            return
        yield from self._function(node, name, _siblings(cls.body, node))

    def _function(self, node: _Function, name: str, siblings: list[_Function]) -> Iterator[Mutant]:
        decorators = {ast.unparse(each).split(".")[-1] for each in node.decorator_list}
        overloaded = any("overload" in _decorators(each) for each in siblings)
        if "overload" in decorators:
            number = siblings.index(node) + 1
            name = f"{name} overload {number}"
            yield self._without(node, f"{name}: gone")
        elif overloaded:
            return  # the implementation: its annotations are seen by nobody
        elif node.name != "__init__" and "override" not in decorators:
            yield self._without(node, f"{name}: gone")
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        required = positional[: len(positional) - len(arguments.defaults)]
        is_method = bool(positional) and positional[0].arg in ("self", "cls")
        for index, argument in enumerate(required[is_method:], int(is_method)):
            yield self._optional(required[index:], f"{name}: {argument.arg} is optional")
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is None:
                yield self._optional([argument], f"{name}: {argument.arg} is optional")
        every = [*positional, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        for argument in every:
            annotation = argument.annotation
            if annotation is not None and ast.unparse(annotation) not in ("Any", "object"):
                yield self._replaced(annotation, "Any", f"{name}: {argument.arg} is Any")
        if arguments.kwonlyargs and arguments.vararg is None:
            yield self._without_star(node, f"{name}: positional arguments")
        if node.name == "__hash__":
            return  # object says what it returns
        if node.returns is not None and ast.unparse(node.returns) not in ("Any", "None"):
            yield self._replaced(node.returns, "Any", f"{name}: returns Any")

    def _assigned(self, value: ast.expr, name: str) -> Iterator[Mutant]:
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar":
            for keyword in value.keywords:
                if keyword.arg == "bound" and ast.unparse(keyword.value) not in _PRIVATE_PARAMETERS:
                    yield self._replaced(keyword, "default=Any", f"{name}: no bound")
        elif name.endswith(": TypeAlias"):
            for member in _members(value):
                if member is not value:
                    yield self._replaced(
                        member,
                        "memoryview",  # a type that needs no import and is no scope
                        f"{name.split(':', maxsplit=1)[0]}: without {ast.unparse(member)}",
                    )

    def _optional(self, arguments: list[ast.arg], what: str) -> Mutant:
        start = self._span(arguments[0])[0]
        end = self._span(arguments[-1])[1]
        text = ", ".join(f"{ast.unparse(argument)} = ..." for argument in arguments)
        return Mutant(self.path, start, end, text, what)

    def _without_star(self, node: _Function, what: str) -> Mutant:
        first = self._span(node.args.kwonlyargs[0])[0]
        star = self.source.rindex("*", 0, first)
        end = self.source.index(",", star) + 1
        return Mutant(self.path, star, end, "", what)

    def _without(self, node: ast.stmt, what: str) -> Mutant:
        line = node.lineno
        if isinstance(node, _Function) and node.decorator_list:
            line = node.decorator_list[0].lineno
        start = self._offset(line, 0)
        indent = " " * node.col_offset
        return Mutant(self.path, start, self._span(node)[1], f"{indent}pass", what)

    def _replaced(self, node: ast.expr | ast.keyword, text: str, what: str) -> Mutant:
        start, end = self._span(node)
        return Mutant(self.path, start, end, text, what)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )

    def _offset(self, line: int, column: int) -> int:
        text = self.source[self.starts[line - 1] : self.starts[line]]
        return self.starts[line - 1] + len(text.encode()[:column].decode())


def bases_of_typing(base: ast.Subscript) -> bool:
    """Tell whether a base only declares the parameters."""
    return ast.unparse(base.value) in ("Generic", "Protocol")


def _members(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        yield from _members(value.left)
        yield from _members(value.right)
    else:
        yield value


def _siblings(body: list[ast.stmt], node: _Function) -> list[_Function]:
    return [each for each in body if isinstance(each, _Function) and each.name == node.name]


def _decorators(node: _Function) -> set[str]:
    return {ast.unparse(each).split(".")[-1] for each in node.decorator_list}


def _takes_settings(node: _Function) -> bool:
    annotations = (each.annotation for each in node.args.args)
    return any(each and ast.unparse(each) in _PRIVATE_PARAMETERS for each in annotations)
