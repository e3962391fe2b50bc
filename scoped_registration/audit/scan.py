"""``scoped-registration scan``: finds registrations that leak in source that is never run."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import attrs

from scoped_registration.audit.checks import CALLS, Hit, check_module
from scoped_registration.audit.output import write
from scoped_registration.audit.report import Format, render
from scoped_registration.audit.rules import (
    NO_REASON,
    RULES,
    UNUSED_SUPPRESSION,
    Finding,
    Place,
    Report,
    Unreadable,
)
from scoped_registration.audit.suppressions import MARK, Suppression, suppressions
from scoped_registration.audit.symbols import MARKERS

__all__ = ["UnreadableSourceError", "run_scan", "scan", "scan_source"]


class UnreadableSourceError(Exception):
    """A source that is no Python of this interpreter's version."""


def run_scan(paths: Sequence[Path], format: Format = "text", stream: TextIO | None = None) -> int:
    """Scan files and directories, and write what is found.

    Args:
        paths: Python files, and directories that hold some.
        format: ``text``, ``json`` or ``sarif``.
        stream: Where to write; by default the standard output.

    Returns:
        0 when nothing is found, 1 for findings, 2 when a path could not be read or parsed.
        The others are scanned all the same.
    """
    report = scan(paths)
    write(render(report, format), stream or sys.stdout)
    return report.status


def scan(paths: Iterable[Path]) -> Report:
    """Scan files and directories without importing them.

    Args:
        paths: Python files, and directories that hold some. Hidden directories and virtual
            environments inside them are passed over.
    """
    findings: list[Finding] = []
    unreadable: list[Unreadable] = []
    files = 0
    for path in _files(paths):
        try:
            findings.extend(scan_source(path.read_bytes(), path))
            files += 1
        except OSError as error:
            unreadable.append(Unreadable(path, error.strerror or type(error).__name__))
        except UnreadableSourceError as error:
            unreadable.append(Unreadable(path, str(error)))
    return Report(
        rules=RULES,
        findings=tuple(sorted(findings)),
        unreadable=tuple(sorted(unreadable)),
        files=files,
    )


def scan_source(source: bytes, path: Path) -> list[Finding]:
    """Scan one source.

    Args:
        source: As it stands in the file.
        path: For the findings; it is not read.

    Raises:
        UnreadableSourceError: It cannot be parsed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the source, and no business of this command
            tree = ast.parse(source, filename=str(path))
        is_read = all(any(one in source for one in names) for names in (MARKERS, CALLS))
        hits = list(check_module(tree)) if is_read else []
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        raise UnreadableSourceError(f"{line}{error.msg}") from error
    except ValueError as error:
        raise UnreadableSourceError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableSourceError("it is nested too deeply") from error
    if not hits and MARK not in source:
        return []
    return list(_Located(source, path).findings(hits))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield each file once, in a fixed order; a path that is not there too."""
    seen: set[Path] = set()
    for path in paths:
        for file in _walk(path) if path.is_dir() else (path,):
            known = file.absolute()
            if known not in seen:
                seen.add(known)
                yield file


def _walk(directory: Path) -> Iterator[Path]:
    try:
        entries = sorted(directory.iterdir())
    except OSError:
        yield directory  # reading it says why
        return
    for entry in entries:
        try:
            is_directory = entry.is_dir()
            is_other = entry.exists() and not entry.is_file()  # such as a pipe
        except OSError:
            is_directory = is_other = False
        if is_directory:
            hidden = entry.name.startswith(".") or entry.name == "__pycache__"
            if not (hidden or entry.is_symlink() or (entry / "pyvenv.cfg").is_file()):
                yield from _walk(entry)
        elif entry.suffix == ".py" and not is_other:
            yield entry


@attrs.define
class _Spent:
    """A suppression, and those of its rules that have silenced something."""

    suppression: Suppression
    used: set[str] = attrs.field(factory=set[str])


class _Located:
    """The lines of one source: turns what was found in its tree into findings."""

    def __init__(self, source: bytes, path: Path) -> None:
        # The parser has taken each of these for the end of a line.
        source = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        self._text = source.decode(encoding)
        self._is_marked = MARK in source  # to look for comments costs as much as to parse
        self._lines = self._text.split("\n")
        self._path = path

    def findings(self, hits: Iterable[Hit]) -> Iterator[Finding]:
        """Yield the findings that no suppression silences, and those about suppressions."""
        comments = [_Spent(one) for one in suppressions(self._text)] if self._is_marked else []
        for hit in hits:
            lines = range(hit.call.lineno, (hit.call.end_lineno or hit.call.lineno) + 1)
            silencing = [
                one
                for one in comments
                if one.suppression.holds
                and hit.rule.id in one.suppression.rules
                and one.suppression.line in lines
            ]
            for one in silencing:
                one.used.add(hit.rule.id)
            if not silencing:
                yield Finding(self._place(hit.node), hit.rule.id, hit.message)
        for one in comments:
            yield from self._about(one)

    def _about(self, spent: _Spent) -> Iterator[Finding]:
        given = spent.suppression
        place = Place(self._path, given.line, given.column, given.line, given.end_column)
        if not given.rules:
            yield Finding(place, NO_REASON.id, "the suppression names no rule: ignore[SR101]")
        elif not given.reason:
            yield Finding(place, NO_REASON.id, "the suppression gives no reason")
        else:
            for rule in given.rules:
                if rule not in spent.used:
                    message = f"nothing is found here by {rule}"
                    yield Finding(place, UNUSED_SUPPRESSION.id, message)

    def _place(self, node: ast.expr) -> Place:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return Place(
            self._path,
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, end_column),
        )

    def _column(self, line: int, offset: int) -> int:
        """Return a column in characters; the tree counts bytes."""
        return len(self._lines[line - 1].encode()[:offset].decode(errors="ignore")) + 1
