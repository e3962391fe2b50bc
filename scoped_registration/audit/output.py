"""Writing for a reader who may leave, as `head` does."""

from __future__ import annotations

import os
from typing import TextIO

__all__ = ["write"]


def write(text: str, stream: TextIO) -> None:
    """Write a text to the end; what a reader who has left does not read is no error."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes once more when it ends, and would complain there.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
