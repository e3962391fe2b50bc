"""The guard of `SingleUser(..., owner=...)`: one principal, the first that is seen."""

from __future__ import annotations

import threading

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.scope import scope_text

__all__ = ["OwnerPin"]


class OwnerPin:
    """Remembers the first principal for as long as its registration lives.

    It outlives a restart of the application, as the state of a given instance does.
    """

    def __init__(self, registration: str) -> None:
        self._registration = registration
        self._pinned: str | None = None
        self._mutex = threading.Lock()

    def admit(self, principal: object) -> None:
        """Let the pinned principal pass.

        Raises:
            RegistrationError: ``owner_mismatch`` for another one, ``scope_missing`` or
                ``scope_type_unsupported`` for what is no principal.
        """
        text = scope_text(principal)
        with self._mutex:
            self._pinned = self._pinned or text
            if self._pinned == text:
                return
        raise RegistrationError(
            ReasonCode.OWNER_MISMATCH,
            "another principal than the first one called a SingleUser registration",
            instead="declare ScopedFactory to serve several principals",
            registration=self._registration,
        )
