"""What the library logs, and what it never logs: the message of a user's exception.

Such a message may hold a principal, a token or a conversation. Its type and the places
in the source that it passed are enough to find it.
"""

from __future__ import annotations

import logging
import traceback

__all__ = ["frames", "log", "report_failure"]

log: logging.Logger = logging.getLogger("scoped_registration")


def report_failure(what: str, registration: str, error: BaseException) -> None:
    """Log a failure of user code by its type and frames, without its message."""
    log.error(
        "registration %r: %s: %s\n%s", registration, what, type(error).__qualname__, frames(error)
    )


def frames(error: BaseException) -> str:
    """Return the frames of an exception and of its causes, without any message."""
    lines: list[str] = []
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        lines.append(f"  {type(link).__qualname__}")
        lines += [
            f"    {frame.f_code.co_filename}:{line} in {frame.f_code.co_name}"
            for frame, line in traceback.walk_tb(link.__traceback__)
        ]
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return "\n".join(lines)
