"""An application, loaded as a server loads it: its module is imported, and nothing is started."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType

import attrs
from fastapi import FastAPI

from scoped_registration.audit.places import is_own, relative
from scoped_registration.errors import RegistrationError, close_coroutine

__all__ = ["CannotAuditError", "Loaded", "load"]


class CannotAuditError(Exception):
    """Nothing can be said about the application, and why."""


@attrs.frozen(kw_only=True)
class Loaded:
    """An application, with the module that it was found in.

    Attributes:
        app: The application.
        module: Its module.
        declared_at: ``file:line`` of the name in the module, as far as that can be found.
    """

    app: FastAPI
    module: ModuleType
    declared_at: str


def load(target: str, *, is_factory: bool, root: Path) -> Loaded:
    """Load ``MODULE:APP``.

    What the module prints goes to the standard error: the standard output is the command's.

    Args:
        target: As for uvicorn; without ``:APP`` it is ``app``. ``MODULE:APP()`` calls it.
        is_factory: It is a function that returns the application.
        root: The directory to import from, besides those of the interpreter.

    Raises:
        CannotAuditError: With the reason. What another error says is not repeated: it may hold
            a secret or name somebody.
    """
    place, _, name = target.partition(":")
    name = name or "app"
    if name.endswith("()"):
        name, is_factory = name.removesuffix("()"), True
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))  # as uvicorn does
    with contextlib.redirect_stdout(sys.stderr):
        module = _imported(target, place, root)
        try:
            app: object = getattr(module, name)
        except AttributeError:
            reason = f"cannot be loaded: module {place!r} has no attribute {name!r}"
            raise CannotAuditError(f"{target} {reason}") from None
        if is_factory:
            app = _called(target, app, root)
    if not isinstance(app, FastAPI):
        close_coroutine(app)
        may_return_one = callable(app) and not is_factory
        hint = f": if it returns one, {place}:{name}() or --factory" if may_return_one else ""
        raise CannotAuditError(f"{target} is no FastAPI application{hint}")
    return Loaded(app=app, module=module, declared_at=_place_of_name(module, name))


def _imported(target: str, place: str, root: Path) -> ModuleType:
    if not all(part.isidentifier() for part in place.split(".")):
        raise CannotAuditError(f"{target} cannot be loaded: {place!r} is no name of a module")
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise CannotAuditError(f"{target} cannot be loaded: {_reason(error, root)}") from None


def _called(target: str, factory: object, root: Path) -> object:
    if not callable(factory):
        raise CannotAuditError(f"{target} cannot be loaded: it is not callable")
    with contextlib.suppress(ValueError):  # of a function that has no signature to be read
        if _wants_arguments(inspect.signature(factory)):
            reason = "it wants arguments, and a server gives it none"
            raise CannotAuditError(f"{target} cannot be loaded: {reason}")
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise CannotAuditError(f"{target} cannot be loaded: {_reason(error, root)}") from None


def _wants_arguments(signature: inspect.Signature) -> bool:
    try:
        signature.bind()
    except TypeError:
        return True
    return False


def _reason(error: BaseException, root: Path) -> str:
    """Say why, without what an unknown error says."""
    if isinstance(error, ImportError | RegistrationError):
        return str(error)
    if isinstance(error, SyntaxError):
        path = relative(error.filename or "?", root)
        return f"{error.msg} ({path.as_posix()}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_own(frame.filename, root)]
    last = (own or frames)[-1]
    path = relative(last.filename, root)
    return f"{type(error).__name__} ({path.as_posix()}, line {last.lineno})"


def _place_of_name(module: ModuleType, name: str) -> str:
    """Return where a module binds a name at its top level; else where it begins."""
    path = getattr(module, "__file__", None)
    if path is None:
        return "?:1"
    line = 1
    with contextlib.suppress(OSError, SyntaxError, ValueError):
        for node in ast.parse(Path(path).read_bytes()).body:
            if name in _bound(node):
                line = node.lineno
    return f"{path}:{line}"


def _bound(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Import() | ast.ImportFrom():
            return {alias.asname or alias.name for alias in node.names}
        case ast.Assign():
            return {target.id for target in node.targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case _:
            return set()
