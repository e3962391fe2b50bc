"""What is registered, as data: for the start-up log, the OpenAPI document and review."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final, TypeAlias

import attrs

from scoped_registration.acknowledgement import Acknowledgement
from scoped_registration.errors import short_place

__all__ = ["MANIFEST_VERSION", "Description", "Json", "manifest"]

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

MANIFEST_VERSION: Final = 1
"""Of the manifest's shape. It changes when a key goes or changes its meaning."""


@attrs.frozen(kw_only=True)
class Description:
    """One registration as data. It holds names and figures, never a principal.

    Attributes:
        name: The registration's name.
        mode: The name of its mode.
        meaning: What the mode means for callers, in one sentence.
        target: The class of the instance, or the factory that makes them.
        scope: The resolver that says who calls, if any.
        path: The path of an endpoint, if the registration is one.
        options: The bounds and the policy in force.
        shares: What instances share on purpose.
        acknowledgement: Reason, owner, risks and review date of a shared instance.
        notes: What is worth knowing of it, in sentences; start-up logs them.
        declared_at: ``file:line`` of the declaration.
    """

    name: str
    mode: str
    meaning: str
    target: str
    scope: str | None = None
    path: str | None = None
    options: dict[str, Json] = attrs.field(factory=dict[str, Json])
    shares: tuple[str, ...] = ()
    acknowledgement: Acknowledgement | None = None
    notes: tuple[str, ...] = ()
    declared_at: str

    def as_dict(self) -> dict[str, Json]:
        """Return the description as JSON values, in a fixed order."""
        data = attrs.asdict(self, recurse=False, filter=lambda _, value: value not in (None, ()))
        data["options"] = dict(self.options)
        data["declared_at"] = short_place(self.declared_at)
        for several in ("shares", "notes"):
            if several in data:
                data[several] = list(data[several])
        if self.acknowledgement is not None:
            data["acknowledgement"] = _acknowledged(self.acknowledgement)
        return data

    def operation(self) -> dict[str, Json]:
        """Return what stands on an OpenAPI operation: no place in the source."""
        data = self.as_dict()
        return {key: data[key] for key in _PUBLIC if key in data}

    def sentence(self, today: date) -> str:
        """Return the line of the start-up log (promise P10)."""
        text = f"registration {self.name!r}: {self.mode}: {self.meaning}"
        if self.acknowledgement is None:
            return text
        given = self.acknowledgement
        text += f"; reason: {given.reason}; owner: {given.owner}; risks: " + ", ".join(
            sorted(given.risks)
        )
        if given.review_by is not None:
            text += f"; review by {given.review_by.isoformat()}"
            text += " (OVERDUE)" if given.overdue(today) else ""
        return text


def manifest(entries: Iterable[dict[str, Json]]) -> dict[str, Json]:
    """Return registrations as one document, in the order of their names.

    Args:
        entries: One for each registration, with its ``name``.
    """
    ordered = sorted(entries, key=lambda entry: str(entry["name"]))
    return {"version": MANIFEST_VERSION, "registrations": [*ordered]}


_PUBLIC = ("name", "mode", "meaning", "acknowledgement")


def _acknowledged(given: Acknowledgement) -> dict[str, Json]:
    data: dict[str, Json] = {
        "reason": given.reason,
        "owner": given.owner,
        "risks": [str(risk) for risk in sorted(given.risks)],
    }
    if given.review_by is not None:
        data["review_by"] = given.review_by.isoformat()
    return data
