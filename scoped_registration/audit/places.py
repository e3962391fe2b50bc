"""Where things stand in the source, named without the directories of this machine."""

from __future__ import annotations

import functools
import inspect
import linecache
from pathlib import Path, PurePath

from scoped_registration.audit.rules import Place

__all__ = ["is_own", "place_at", "place_of", "relative"]

_INSTALLED = ("site-packages", "dist-packages")


def is_own(path: str, root: Path) -> bool:
    """Tell whether a file is the project's own: inside its root, and not installed."""
    file = PurePath(path)
    return file.is_relative_to(root) and not set(_INSTALLED) & set(file.parts)


def relative(path: str, root: Path) -> PurePath:
    """Name a file as everybody names it who has the project: relative to its root.

    What is installed is named relative to where packages are installed, what lies elsewhere by
    its name alone.
    """
    file = PurePath(path)
    installed = [number for number, part in enumerate(file.parts) if part in _INSTALLED]
    if installed:
        return PurePath(*file.parts[installed[-1] + 1 :])
    if file.is_relative_to(root):
        return file.relative_to(root)
    return PurePath(file.name)


def place_at(declared_at: str, root: Path) -> Place:
    """Return the line of ``file:line`` as a place, from its first character to its last."""
    path, _, number = declared_at.rpartition(":")
    line = max(int(number), 1)
    text = linecache.getline(path, line).rstrip()
    column = len(text) - len(text.lstrip()) + 1
    return Place(relative(path, root), line, column, line, len(text) + 1)


def place_of(function: object, root: Path) -> str | None:
    """Return ``file:line`` of a class or of a callable, relative to a root, where it has one."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        try:
            path, line = inspect.getfile(function), inspect.findsource(function)[1] + 1
        except (OSError, TypeError):  # built in, or made without a source
            return None
    else:
        found = inspect.unwrap(function) if callable(function) else function
        code = getattr(found, "__code__", None)
        if code is None:
            return None
        path, line = code.co_filename, code.co_firstlineno
    return f"{relative(path, root).as_posix()}:{line}"
