"""The registrations of an application, as a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TextIO

from scoped_registration.audit.output import write
from scoped_registration.manifest import Json

__all__ = ["write_table"]

_HEADS = ("name", "mode", "path", "serves", "resolver", "declared at")
_ROLES = ("scope", "owner", "access")


def write_table(entries: Iterable[dict[str, Json]], stream: TextIO) -> None:
    """Write the entries of a manifest: drawn on a terminal where rich is installed, else plain."""
    rows = [_row(entry) for entry in entries]
    if not rows:
        return
    if stream.isatty() and find_spec("rich") is not None:
        _write_with_rich(rows, stream)
    else:
        widths = [max(map(len, column)) for column in zip(_HEADS, *rows, strict=True)]
        for row in (_HEADS, *rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            write("  ".join(cells).rstrip() + "\n", stream)
    write("\n", stream)


def _row(entry: dict[str, Json]) -> tuple[str, ...]:
    roles = [f"{role}: {_name(entry[role])}" for role in _ROLES if role in entry]
    return (
        str(entry["name"]),
        str(entry["mode"]),
        str(entry.get("path", "")),
        _name(entry.get("factory", entry.get("target"))),
        "".join(roles),
        str(entry["declared_at"]),
    )


def _name(value: Json) -> str:
    return str(value["name"] if isinstance(value, dict) else value)


def _write_with_rich(rows: Sequence[tuple[str, ...]], stream: TextIO) -> None:
    from rich.console import Console  # noqa: PLC0415  # the extra `cli` brings it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(*_HEADS)
    for row in rows:
        table.add_row(*map(Text, row))  # a Text is not read for markup
    Console(file=stream).print(table)
