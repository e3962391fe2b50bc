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
        The exit status: 0, or 2 if the application cannot be loaded or is refused.
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
    given = parser.parse_args(arguments)
    return _manifest(given.app)


def _manifest(place: str) -> int:
    from fastapi import FastAPI  # noqa: PLC0415  # only this command needs it

    from scoped_registration.integrations.application import Application  # noqa: PLC0415

    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))  # as uvicorn does
    try:
        app = getattr(importlib.import_module(module), name or "app")
    except (ImportError, AttributeError, TypeError, ValueError, RegistrationError) as error:
        print(f"{place} cannot be loaded: {error}", file=sys.stderr)
        return 2
    if not isinstance(app, FastAPI):
        print(f"{place} is no FastAPI application", file=sys.stderr)
        return 2
    described = [one.as_dict() for one in Application.of(app).describe()]
    print(json.dumps(described, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
