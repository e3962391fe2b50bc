"""Which names of other packages mean something to the scan, under whatever name they go."""

from __future__ import annotations

import ast
import functools

from scoped_registration.audit.names import Binding, Scope

__all__ = ["MARKERS", "annotated_symbol", "core", "symbol"]

MARKERS = (b"agent_framework", b"scoped_registration")
"""A file that holds neither names no package whose calls are looked at."""

_KNOWN: dict[str, frozenset[str]] = {
    "agent_framework": frozenset(
        {
            *("Agent", "RawAgent", "AgentSession", "Workflow", "WorkflowAgent"),
            *("AgentExecutor", "Executor", "FunctionExecutor", "WorkflowExecutor", "executor"),
            *("Case", "Default"),
            *("WorkflowBuilder", "SequentialBuilder", "ConcurrentBuilder", "HandoffBuilder"),
            *("GroupChatBuilder", "MagenticBuilder", "workflow"),
            *("AgentFrameworkAgent", "AgentFrameworkWorkflow", "AGUIRequest"),
            "add_agent_framework_fastapi_endpoint",
        }
    ),
    "agent_framework_hosting": frozenset({"WorkflowState"}),
    "scoped_registration": frozenset(
        {
            *("ScopedFactory", "SingleUser", "per_thread", "PersistentShared", "per_run"),
            *("RegistrationBuilder", "AGUIEndpointBuilder"),
        }
    ),
    "functools": frozenset({"cache", "cached_property", "lru_cache", "partial"}),
    "contextlib": frozenset({"asynccontextmanager", "contextmanager"}),
    "fastapi": frozenset({"Body", "Depends", "Form", "Request"}),
    "starlette": frozenset({"Request", "HTTPConnection"}),
    "pydantic": frozenset({"BaseModel"}),
    "typing": frozenset(
        {"Annotated", "Callable", "Optional", "Type", "TypedDict", "cast", "override"}
    ),
    "dataclasses": frozenset({"dataclass"}),
    "cachetools": frozenset({"cached"}),
    "aiocache": frozenset({"cached"}),
    "async_lru": frozenset({"alru_cache"}),
}
_SAME = {
    "agent_framework_ag_ui": "agent_framework",
    "agent_framework_orchestrations": "agent_framework",
    "typing_extensions": "typing",
    "collections": "typing",  # collections.abc.Callable
}
_LAST = frozenset[str]().union(*_KNOWN.values())
_CACHES = frozenset({"cache", "lru_cache", "alru_cache", "cached"})
_DEEPEST = 12  # names that stand for names; a loop among them ends here


def symbol(expr: ast.AST | None, scope: Scope) -> str | None:
    """Return the known name that an expression stands for; ``cache`` for all of the caches."""
    if isinstance(expr, ast.Attribute) and expr.attr not in _LAST:
        return None  # most calls are of methods: this is what makes them cheap
    whole = _qualified(expr, scope, _DEEPEST)
    if whole is None:
        return None
    package, last = _meant(whole)
    if last not in _KNOWN.get(package, ()):
        return None
    return "cache" if last in _CACHES else last


def annotated_symbol(annotation: ast.expr | None, scope: Scope) -> str | None:
    """Return the known class that an annotation names, in quotes or not, or None beside it."""
    return symbol(core(annotation, scope), scope)


def core(annotation: ast.expr | None, scope: Scope) -> ast.expr | None:
    """Return an annotation without its quotes, and without the None that it allows."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    if isinstance(annotation, ast.Subscript) and symbol(annotation.value, scope) == "Optional":
        return core(annotation.slice, scope)
    if isinstance(annotation, ast.BinOp):
        sides = [it for it in (annotation.left, annotation.right) if not _is_none(it)]
        return core(sides[0], scope) if len(sides) == 1 else None
    return annotation


def _is_none(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Constant) and annotation.value is None


def _qualified(expr: ast.AST | None, scope: Scope, deepest: int) -> str | None:
    """Return the dotted name of an expression, through imports and other names."""
    attributes: list[str] = []
    while isinstance(expr, ast.Attribute | ast.Subscript):
        if isinstance(expr, ast.Attribute):
            attributes.append(expr.attr)
        expr = expr.value  # ScopedFactory[Chat, str](...): the parameters change nothing
    if not isinstance(expr, ast.Name):
        return None
    whole = _of_name(expr.id, scope, deepest)
    return None if whole is None else ".".join((whole, *reversed(attributes)))


def _of_name(name: str, scope: Scope, deepest: int) -> str | None:
    found = scope.find(name)
    if found is None:
        stars = [star for around in scope.chain() for star in around.stars]
        known = [star + name for star in stars if star.partition(".")[0] in (*_KNOWN, *_SAME)]
        return known[0] if known else None
    home, bindings = found
    if name not in home.known:
        home.known[name] = None  # where it stands for itself, as in x = x.next
        home.known[name] = _of_bindings(bindings, deepest)
    return home.known[name]


def _of_bindings(bindings: list[Binding], deepest: int) -> str | None:
    wholes: list[str | None] = []
    for binding in bindings:
        if binding.imported is not None:
            wholes.append(binding.imported)
        elif deepest and isinstance(binding.node, ast.Name | ast.Attribute | ast.Subscript):
            wholes.append(_qualified(binding.node, binding.scope, deepest - 1))
        else:
            return None
    # Two imports of one name, the second for when the first fails, mean the same.
    return wholes[0] if len({_meant(whole) for whole in wholes}) == 1 else None


@functools.lru_cache(maxsize=1024)  # a scan asks for the same few names again and again
def _meant(whole: str | None) -> tuple[str, str]:
    root, _, rest = (whole or "").partition(".")
    return _SAME.get(root, root), rest.rpartition(".")[2]
