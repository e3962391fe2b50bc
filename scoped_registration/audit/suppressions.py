"""Comments that accept a finding: ``# scoped-registration: ignore[SR101] the reason``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

import attrs

__all__ = ["MARK", "Suppression", "suppressions"]

MARK = b"scoped-registration:"
"""A file without it holds no suppression."""

_COMMENT = re.compile(
    r"#\s*scoped-registration:\s*ignore\b(?:\[(?P<rules>[^\]]*)\])?[\s:,-]*(?P<reason>[^#]*)"
)


@attrs.frozen
class Suppression:
    """One such comment. Lines and columns begin at 1."""

    line: int
    column: int
    end_column: int
    rules: tuple[str, ...]
    reason: str

    @property
    def holds(self) -> bool:
        """Whether it names a rule and gives a reason."""
        return bool(self.rules and self.reason)


def suppressions(text: str) -> Iterator[Suppression]:
    """Yield the suppressions of a source that has been parsed."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
        if found is not None:
            rules = (one.strip() for one in (found["rules"] or "").split(","))
            line, column = token.start
            yield Suppression(
                line,
                column + found.start() + 1,
                token.end[1] + 1,
                tuple(dict.fromkeys(one for one in rules if one)),
                found["reason"].strip(),
            )
