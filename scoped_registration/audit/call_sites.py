"""Where the project adds the framework's own endpoints, read off the source that was loaded.

The framework does not note it. A call is recognised as the scan recognises it, and told from
others by the path that it gives.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import attrs

from scoped_registration.audit.expressions import argument
from scoped_registration.audit.names import Index
from scoped_registration.audit.places import is_own
from scoped_registration.audit.symbols import symbol

__all__ = ["CallSite", "call_sites", "site_of"]

_ADDING = "add_agent_framework_fastapi_endpoint"
_PATH = 2  # the place of the function's parameter


@attrs.frozen
class CallSite:
    """One call that adds an endpoint.

    Attributes:
        at: ``file:line``.
        path: The path that it gives; None where that is no constant.
    """

    at: str
    path: str | None


def call_sites(root: Path) -> list[CallSite]:
    """Return the calls in the modules that are loaded from a root and not installed there."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    found: list[CallSite] = []
    for file in sorted(name for name in files if isinstance(name, str)):
        if file.endswith(".py") and is_own(file, root):
            found.extend(_in_file(Path(file)))
    return found


def site_of(path: str, sites: list[CallSite]) -> CallSite | None:
    """Return the one call that can have added the endpoint of a path; None if several can.

    The router that an endpoint was added to may put something before the path.
    """
    for matches in (
        [site for site in sites if site.path == path],
        [site for site in sites if site.path is not None and path.endswith(site.path)],
        [site for site in sites if site.path is None],
    ):
        if matches:
            return matches[0] if len(matches) == 1 else None
    return None


def _in_file(file: Path) -> Iterator[CallSite]:
    try:
        source = file.read_bytes()
        if _ADDING.encode() not in source:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            index = Index(ast.parse(source))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for call, scope in index.calls:
        if symbol(call.func, scope) == _ADDING:
            yield CallSite(f"{file}:{call.lineno}", _path(call))


def _path(call: ast.Call) -> str | None:
    given = argument(call, _PATH, "path")
    if given is None:
        is_open = any(isinstance(one, ast.Starred) for one in call.args) or any(
            keyword.arg is None for keyword in call.keywords
        )
        return None if is_open else "/"
    path = given.value if isinstance(given, ast.Constant) else None
    return path if isinstance(path, str) else None
