"""``scoped-registration audit`` and ``manifest``: what an application registers, and how well."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path, PurePath
from typing import TextIO

from scoped_registration.audit.application import Audit
from scoped_registration.audit.application_rules import AUDIT_RULES, MANIFEST_DIFFERS
from scoped_registration.audit.inventory import difference, entry_of, written
from scoped_registration.audit.loading import CannotAuditError, load
from scoped_registration.audit.output import write
from scoped_registration.audit.registered import registered
from scoped_registration.audit.report import Format, render
from scoped_registration.audit.rules import Finding, Place, Report, Unreadable
from scoped_registration.audit.table import write_table
from scoped_registration.errors import RegistrationError
from scoped_registration.integrations.application import Application
from scoped_registration.manifest import Json, manifest

__all__ = ["run_audit", "run_manifest"]


def run_manifest(target: str, *, is_factory: bool) -> int:
    """Print the manifest of an application.

    Args:
        target: ``MODULE:APP``.
        is_factory: APP is a function that returns the application.

    Returns:
        0, 1 if the application would not start, 2 if it cannot be loaded.
    """
    root = Path.cwd()
    try:
        loaded = load(target, is_factory=is_factory, root=root)
    except CannotAuditError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        Application.of(loaded.app).check()
    except RegistrationError as error:
        print(f"{target} would not start: {error}", file=sys.stderr)
        return 1
    text = written(manifest(entry_of(one, root) for one in registered(loaded)))
    write(text, sys.stdout)
    return 0


def run_audit(
    target: str,
    *,
    is_factory: bool = False,
    format: Format = "text",
    file: Path | None = None,
    check: bool = False,
    workers: int = 1,
    today: date | None = None,
    stream: TextIO | None = None,
) -> int:
    """Audit an application, and write what is found.

    Args:
        target: ``MODULE:APP``.
        is_factory: APP is a function that returns the application.
        format: ``text``, ``json`` or ``sarif``.
        file: The manifest: it is written, or compared with the application.
        check: It is compared.
        workers: How many processes are to serve the application.
        today: By default the day on which this runs.
        stream: Where to write; by default the standard output.

    Returns:
        0 when nothing is found, 1 for findings, 2 if the application cannot be loaded or the
        manifest not be written.
    """
    out = sys.stdout if stream is None else stream
    root = Path.cwd()
    try:
        audit = Audit(
            loaded=load(target, is_factory=is_factory, root=root),
            root=root,
            today=today or date.today(),
            workers=workers,
        )
        findings = audit.findings()
    except CannotAuditError as error:
        return _unreadable(_module_of(target), str(error), format, out)
    entries = [entry_of(one, root) for one in audit.registrations]
    if file is not None and check:
        findings = sorted([*findings, *_compared(file, manifest(entries))])
    elif file is not None:
        try:
            file.write_text(written(manifest(entries)), encoding="utf-8", newline="\n")
        except OSError as error:
            reason = f"{file} cannot be written: {error.strerror}"
            return _unreadable(file, reason, format, out)
    if format == "text":
        write_table(entries, out)
    report = Report(
        rules=AUDIT_RULES,
        findings=tuple(findings),
        unreadable=(),
        registrations=len(entries),
        notes=audit.notes,
    )
    write(render(report, format), out)
    return report.status


def _compared(file: Path, data: dict[str, Json]) -> list[Finding]:
    again = "write it with --manifest and without --check"
    try:
        differs = difference(file, data)
    except OSError as error:
        message = f"the manifest cannot be read ({error.strerror}): {again}"
    except ValueError:
        message = f"the manifest is no JSON: {again}"
    else:
        if differs is None:
            return []
        message = f"the application registers something else:\n{differs}"
    return [Finding(Place(file, 1, 1, 1, 1), MANIFEST_DIFFERS.id, message)]


def _module_of(target: str) -> PurePath:
    return PurePath(target.partition(":")[0].replace(".", "/") + ".py")


def _unreadable(path: PurePath, reason: str, format: Format, stream: TextIO) -> int:
    """Say why nothing can be said: to people on the standard error, to programs where they read."""
    print(reason, file=sys.stderr)
    if format != "text":
        report = Report(
            rules=AUDIT_RULES,
            findings=(),
            unreadable=(Unreadable(path, reason),),
            registrations=0,
        )
        write(render(report, format), stream)
    return 2
