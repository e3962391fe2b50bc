"""Where `Any` stands in what the package declares, and whether a comment says why.

A reason is a comment on the line, on the line above the statement, or a note of the module
that begins with ``# Any:``.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator

from tests.typing.checkers import ROOT

_NOTE = "# Any:"
# What no user imports: the machinery, and how annotations are read.
_INTERNAL = ("runtime/", "inspection.py", "signatures.py")


def without_reason() -> Iterator[str]:
    """Yield each public declaration with an `Any` that no comment explains."""
    package = ROOT / "scoped_registration"
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).as_posix().startswith(_INTERNAL):
            continue
        source = path.read_text()
        comments = {
            token.start[0]: token.string
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type == tokenize.COMMENT
        }
        if any(comment.startswith(_NOTE) for comment in comments.values()):
            continue
        for statement, name, line in _anys(ast.parse(source).body, ""):
            first = getattr(statement, "decorator_list", None) or [statement]
            if not {line, statement.lineno, first[0].lineno - 1} & set(comments):
                yield f"{path.relative_to(ROOT)}:{line}: {name}"


def _anys(body: list[ast.stmt], prefix: str) -> Iterator[tuple[ast.stmt, str, int]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                yield from _found(node, prefix + node.name, node.bases)
                yield from _anys(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_") or node.name in ("__init__", "__call__"):
                yield from _found(node, prefix + node.name, _annotations(node))
        elif isinstance(node, ast.AnnAssign):
            name = ast.unparse(node.target)
            if not name.startswith("_"):
                alias = ast.unparse(node.annotation) == "TypeAlias" and node.value is not None
                annotation = node.value if alias and node.value else node.annotation
                yield from _found(node, prefix + name, [annotation])
        elif isinstance(node, ast.If):
            yield from _anys(node.body, prefix)


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    every += [each for each in (node.args.vararg, node.args.kwarg) if each is not None]
    return [each.annotation for each in every if each.annotation] + (
        [node.returns] if node.returns else []
    )


def _found(
    statement: ast.stmt, name: str, annotations: list[ast.expr]
) -> Iterator[tuple[ast.stmt, str, int]]:
    for annotation in annotations:
        for node in ast.walk(annotation):
            if isinstance(node, ast.Name) and node.id == "Any":
                yield statement, name, node.lineno
