"""A store's own deadline: no call waits longer for an engine that does not answer."""

from __future__ import annotations

import math

from scoped_registration.errors import ReasonCode, RegistrationError

__all__ = ["check_timeout"]


def check_timeout(timeout: float) -> float:
    """Return a store's `timeout`, or refuse what is no time.

    Raises:
        RegistrationError: ``option_invalid``.
    """
    if not (0 < timeout < math.inf):
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            "the timeout of a store is not a positive number of seconds",
            instead="timeout=2.0",
        )
    return timeout
