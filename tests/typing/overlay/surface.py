"""Writes a program that reveals the type of every public name of agent-framework-ag-ui."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

MODULES = ("agent_framework_ag_ui", "agent_framework.ag_ui")
# What the overlay is for. Their other members are compared, without the type arguments below.
CHANGED = frozenset(
    {"AgentFrameworkAgent", "AgentFrameworkWorkflow", "add_agent_framework_fastapi_endpoint"}
)
# These need a package that is not a dependency of agent-framework-ag-ui.
OPTIONAL = frozenset({"A2UIAgent", "enable_a2ui", "plan_a2ui_injection"})
_MARKED = re.compile(r"\b(AgentFrameworkAgent|AgentFrameworkWorkflow)\[")


def program() -> str:
    """Return a program of one `reveal_type` a line."""
    lines = ["from typing import Any", "from typing_extensions import reveal_type"]
    for alias, name in zip(("a", "b"), MODULES, strict=True):
        lines.append(f"import {name} as {alias}")
    for alias, name in zip(("a", "b"), MODULES, strict=True):
        lines += _names(alias, import_module(name))
    return "\n".join(lines) + "\n"


def names() -> dict[int, str]:
    """Return the name that each `reveal_type` of the program is about, by its line."""
    found: dict[int, str] = {}
    owner = ""
    for number, line in enumerate(program().splitlines(), 1):
        if line.startswith("def "):
            owner = line.removeprefix("def ").partition("(")[0][2:]
        elif "reveal_type(" in line and "import" not in line:
            inner = line.strip().removeprefix("reveal_type(").removesuffix(")")
            found[number] = (
                inner.replace("value", owner, 1) if inner.startswith("value") else inner[2:]
            )
    return found


def _names(alias: str, module: object) -> Iterator[str]:
    names: list[str] = getattr(module, "__all__", None) or getattr(module, "_IMPORTS")  # noqa: B009
    for name in sorted(names):
        if name not in CHANGED:
            yield f"reveal_type({alias}.{name})"
        value = None if name in OPTIONAL else getattr(module, name)
        if inspect.isclass(value) and value.__module__.startswith("agent_framework_ag_ui"):
            yield f"def {alias}_{name}(value: {alias}.{name}) -> None:"
            yield "    reveal_type(value)"
            typed_dict = hasattr(value, "__total__")
            for member in sorted(_members(value)):
                yield (
                    f'    reveal_type(value["{member}"])'
                    if typed_dict
                    else f"    reveal_type(value.{member})"
                )
            if not typed_dict and name not in CHANGED:
                yield f"    reveal_type({alias}.{name}.__init__)"
        elif name in OPTIONAL:
            yield f"def {alias}_{name}(value: Any) -> None:"
            yield f"    reveal_type({alias}.{name})"


def _members(cls: type) -> set[str]:
    """Return a class's own public members, those that its methods assign among them."""
    module = Path(inspect.getsourcefile(cls) or "").read_text(encoding="utf-8")
    definition = next(
        node
        for node in ast.walk(ast.parse(module))
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__
    )
    found: set[str] = set()
    for node in ast.walk(definition):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                found.add(name)
            case _:
                pass
    for node in definition.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(name.id for name in node.targets if isinstance(name, ast.Name))
    return {name for name in found if not name.startswith("_")}


def normalized(revealed: str) -> str:
    """Return a revealed type without the overlay's type arguments."""
    while found := _MARKED.search(revealed):
        depth, end = 1, found.end()
        while depth:
            depth += {"[": 1, "]": -1}.get(revealed[end], 0)
            end += 1
        revealed = f"{revealed[: found.end() - 1]}{revealed[end:]}"
    return revealed
