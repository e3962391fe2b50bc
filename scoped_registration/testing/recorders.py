"""Recorders: they tell a probe what reaches the model, and what is stored."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from scoped_registration.testing.findings import Place

__all__ = ["Listener", "Recorder"]


class Listener(Protocol):
    """Who is told, while a probe runs."""

    def heard(self, place: Place, text: str) -> None:
        """Something was recorded."""
        ...

    async def hold(self) -> None:
        """Keep a call of the model waiting, so that requests overlap."""
        ...


class Recorder:
    """Tells a running probe what the application does inside. Without a probe it does nothing.

    Call it in the stand-in for the model, where the application under test has one. For
    agent-framework, `scoped_registration.testing.agent_framework` has what calls it.

    Example:
        ```python
        recorder = Recorder()


        async def answer(history: list[str]) -> str:  # instead of the model
            await recorder.model_called(*history)
            return "an answer"
        ```
    """

    def __init__(self) -> None:
        self._listener: Listener | None = None

    async def model_called(self, *texts: str) -> None:
        """Record one call of the model, and wait while the probe lets requests overlap.

        Args:
            texts: Everything that the model is sent in this call.
        """
        self.note(Place.MODEL_INPUT, *texts)
        if self._listener is not None:
            await self._listener.hold()

    def note(self, place: Place, *texts: str) -> None:
        """Record something without waiting: a call of a synchronous model, a row of a store.

        Args:
            place: Where it is seen.
            texts: All texts of one call or row. Texts of two callers in one of them are a leak.
        """
        if self._listener is not None:
            self._listener.heard(place, "\n".join(texts))

    @contextmanager
    def heard_by(self, listener: Listener) -> Generator[None, None, None]:
        """Tell a listener. One probe at a time listens."""
        if self._listener is not None:
            raise RuntimeError("another probe listens to this recorder: make one for each")
        self._listener = listener
        try:
            yield
        finally:
            self._listener = None
