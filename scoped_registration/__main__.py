"""The command line: what leaks in source, what an application registers, and how well."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

# A command imports what it needs: a scan needs neither a framework nor the application.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: The words after the program's name; by default those of the process.

    Returns:
        The exit status: 0, 1 where something is found or the application would not start,
        2 where something cannot be read or loaded.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    match given.command:
        case "scan":
            from scoped_registration.audit.scan import run_scan  # noqa: PLC0415

            return run_scan(given.paths, given.format)
        case "manifest":
            from scoped_registration.audit.command import run_manifest  # noqa: PLC0415

            return run_manifest(given.app, is_factory=given.factory)
        case _:
            if given.check and given.manifest is None:
                parser.error("--check compares with a manifest: --manifest FILE --check")
            from scoped_registration.audit.command import run_audit  # noqa: PLC0415

            return run_audit(
                given.app,
                is_factory=given.factory,
                format=given.format,
                file=given.manifest,
                check=given.check,
                workers=given.workers,
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scoped-registration", description=__doc__)
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {version('scoped-registration')}"
    )
    commands = parser.add_subparsers(dest="command", required=True)

    scan = commands.add_parser("scan", help="find registrations that leak, in source")
    scan.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files and directories")
    _add_format(scan)

    manifest = commands.add_parser(
        "manifest", help="print the registrations of a FastAPI application as JSON"
    )
    _add_application(manifest)

    audit = commands.add_parser(
        "audit", help="find what is wrong with the registrations of a FastAPI application"
    )
    _add_application(audit)
    _add_format(audit)
    audit.add_argument("--manifest", metavar="FILE", type=Path, help="write the manifest there")
    audit.add_argument("--check", action="store_true", help="compare it with FILE instead")
    audit.add_argument(
        "--workers",
        metavar="N",
        type=_workers,
        default=os.environ.get("WEB_CONCURRENCY") or "1",
        help="processes that are to serve the application; by default WEB_CONCURRENCY, or 1",
    )
    return parser


def _add_application(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("app", metavar="MODULE:APP", help="as for uvicorn; MODULE:APP() calls APP")
    parser.add_argument(
        "--factory", action="store_true", help="APP is a function that returns the application"
    )


def _add_format(parser: argparse.ArgumentParser) -> None:
    formats = ("text", "json", "sarif")
    parser.add_argument("--format", choices=formats, default=formats[0], help="by default text")


def _workers(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of workers")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
