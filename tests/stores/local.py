"""Stores that need no server, as worker processes make them."""

from __future__ import annotations

import os

from scoped_registration.stores.sqlite import SQLiteStore

__all__ = ["sqlite_at"]


def sqlite_at(path: str | os.PathLike[str]) -> SQLiteStore:
    """Return a store that is patient: a busy machine is no fault of the code."""
    return SQLiteStore(path, create_schema=True, timeout=30.0)
