"""Which releases of agent-framework this integration works with."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["SUPPORTED", "check_versions"]

SUPPORTED: Final = {
    "agent-framework-ag-ui": ((1, 7), (2, 0)),
    "agent-framework-core": ((1, 23), (2, 0)),
}
"""Distributions, the oldest release of each, and the first that is too new: as in the extra."""


def check_versions() -> None:
    """Refuse releases of which names that are used here are missing, or mean something else.

    Raises:
        ImportError: Naming what is installed, and the range.
    """
    for distribution, (oldest, too_new) in SUPPORTED.items():
        try:
            found = version(distribution)
        except PackageNotFoundError:
            continue  # installed in another way than as a distribution
        release = tuple(int(part) for part in re.findall(r"\d+", found)[:2])
        if not oldest <= release < too_new:
            raise ImportError(
                f"{distribution} {found} is installed, and {_text(oldest)} or newer, below "
                f"{too_new[0]}, is needed: pip install 'scoped-registration[agent-framework]'"
            )


def _text(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))
