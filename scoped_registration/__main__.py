"""The command line: what an application registers, as data."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from scoped_registration.errors import RegistrationError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: The words after the program's name; by default those of the process.

    Returns:
        The exit status: 0, 1 if the application would not start, 2 if it cannot be
        loaded.
    """
    parser = argparse.ArgumentParser(prog="scoped-registration", description=__doc__)
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {version('scoped-registration')}"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    manifest = commands.add_parser(
        "manifest", help="print the registrations of a FastAPI application as JSON"
    )
    manifest.add_argument("app", metavar="MODULE:APP", help="as for uvicorn")
    manifest.add_argument(
        "--factory", action="store_true", help="APP is a function that returns the application"
    )
    given = parser.parse_args(arguments)
    return _manifest(given.app, is_factory=given.factory)


def _manifest(place: str, *, is_factory: bool) -> int:
    from fastapi import FastAPI  # noqa: PLC0415  # only this command needs it

    from scoped_registration.integrations.application import Application  # noqa: PLC0415

    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))  # as uvicorn does
    try:
        app = getattr(importlib.import_module(module), name or "app")
        if is_factory:
            app = app()
    except (ImportError, AttributeError, TypeError, ValueError, RegistrationError) as error:
        print(f"{place} cannot be loaded: {error}", file=sys.stderr)
        return 2
    if not isinstance(app, FastAPI):
        print(f"{place} is no FastAPI application", file=sys.stderr)
        return 2
    application = Application.of(app)
    try:
        application.check()
    except RegistrationError as error:
        print(f"{place} would not start: {error}", file=sys.stderr)
        return 1
    described = [one.as_dict() for one in application.describe()]
    print(json.dumps(described, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
