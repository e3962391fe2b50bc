"""The OpenAPI document: the mode stands on each operation that uses a registration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from scoped_registration.integrations.operations import operations

# Any: a schema is JSON.

__all__ = ["ExtendedOpenAPI"]

_EXTENSION = "x-scoped-registration"


class ExtendedOpenAPI:
    """An application's own `openapi`, with the mode on each operation that uses one."""

    def __init__(self, app: FastAPI, inner: Callable[[], dict[str, Any]]) -> None:
        self._app = app
        self._inner = inner

    @classmethod
    def install(cls, app: FastAPI) -> None:
        """Extend what makes an application's schema, however it does."""
        inner = app.openapi
        if not isinstance(inner, cls):
            app.openapi = cls(app, inner)  # type: ignore[method-assign]

    def __call__(self) -> dict[str, Any]:
        """Return the document."""
        schema = self._inner()
        paths = schema.get("paths", {})
        for operation in operations(self._app):
            used = list({id(r): r.describe().operation() for r, _ in operation.uses}.values())
            if not used or not operation.in_schema:
                continue
            for method in operation.methods:
                entry = paths.get(operation.path, {}).get(method.lower())
                if entry is not None:
                    entry[_EXTENSION] = used
        return schema
