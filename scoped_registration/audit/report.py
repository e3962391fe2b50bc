"""What a command has found, as text, as JSON and as SARIF 2.1.0."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Literal, TypeAlias
from urllib.parse import quote

from scoped_registration.audit.rules import Finding, Place, Report, Rule, Unreadable
from scoped_registration.manifest import Json

__all__ = ["FORMATS", "Format", "render"]

Format: TypeAlias = Literal["text", "json", "sarif"]
_TOOL = "scoped-registration"
_JSON_VERSION = 1  # of the shape of the JSON output; a key that is added keeps it
_SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render(report: Report, format: Format) -> str:
    """Return a report as text that ends with a line feed."""
    # The name of a file may hold bytes that are no text.
    return FORMATS[format](report).encode(errors="backslashreplace").decode()


def _text(report: Report) -> str:
    lines: list[str] = []
    for finding in report.findings:
        place = finding.place
        where = f"{place.path.as_posix()}:{place.line}:{place.column}"
        lines.append(f"{where}: {finding.rule} {finding.message}")
    lines.extend(f"{it.path.as_posix()}: cannot be read: {it.reason}" for it in report.unreadable)
    found = {finding.rule for finding in report.findings}
    advice = [f"{rule.id} instead: {rule.instead}" for rule in report.rules if rule.id in found]
    lines.extend(["", *advice, ""] if advice else ())
    number, noun = _read(report)
    counts = [_counted(len(report.findings), "finding"), f"{_counted(number, noun)} read"]
    if report.unreadable:
        counts.append(f"{len(report.unreadable)} unreadable")
    return "\n".join([*lines, ", ".join(counts), *report.notes, ""])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _read(report: Report) -> tuple[int, str]:
    if report.registrations is None:
        return report.files, "file"
    return report.registrations, "registration"


def _json(report: Report) -> str:
    names = {rule.id: rule.name for rule in report.rules}
    number, noun = _read(report)
    notes: dict[str, Json] = {"notes": [*report.notes]} if report.notes else {}
    return _dump(
        {
            "version": _JSON_VERSION,
            f"{noun}s": number,
            **notes,
            "findings": [
                {
                    "rule": finding.rule,
                    "name": names[finding.rule],
                    "message": finding.message,
                    "path": finding.place.path.as_posix(),
                    "line": finding.place.line,
                    "column": finding.place.column,
                    "end_line": finding.place.end_line,
                    "end_column": finding.place.end_column,
                }
                for finding in report.findings
            ],
            "unreadable": [
                {"path": it.path.as_posix(), "reason": it.reason} for it in report.unreadable
            ],
        }
    )


def _sarif(report: Report) -> str:
    numbers = {rule.id: number for number, rule in enumerate(report.rules)}
    notifications = [_notification(it) for it in report.unreadable]
    notifications.extend({"level": "note", "message": {"text": note}} for note in report.notes)
    run: dict[str, Json] = {
        "tool": {
            "driver": {
                "name": _TOOL,
                "version": version(_TOOL),
                "rules": [_sarif_rule(rule) for rule in report.rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.unreadable,
                "toolExecutionNotifications": notifications,
            }
        ],
        "results": [_result(finding, numbers[finding.rule]) for finding in report.findings],
    }
    return _dump({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(rule: Rule) -> Json:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "help": {"text": f"Instead: {rule.instead}"},
        "defaultConfiguration": {"level": "error"},
    }


def _result(finding: Finding, number: int) -> Json:
    return {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": "error",
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": _location(finding.place)}],
    }


def _location(place: Place) -> Json:
    return {
        "artifactLocation": {"uri": _uri(place.path)},
        "region": {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        },
    }


def _notification(unreadable: Unreadable) -> Json:
    place: Json = {"physicalLocation": {"artifactLocation": {"uri": _uri(unreadable.path)}}}
    message = f"cannot be read: {unreadable.reason}"
    return {"level": "error", "message": {"text": message}, "locations": [place]}


def _uri(path: PurePath) -> str:
    """Return a path as code hosts want it: relative to where the command runs, if it is inside."""
    if path.is_absolute():
        if not path.is_relative_to(Path.cwd()):
            return Path(path).as_uri()
        path = path.relative_to(Path.cwd())
    return quote(os.fsencode(path.as_posix()))


def _dump(data: dict[str, Json]) -> str:
    return json.dumps(data, indent=2) + "\n"


FORMATS: dict[Format, Callable[[Report], str]] = {"text": _text, "json": _json, "sarif": _sarif}
