"""Recorders: they tell a probe what reaches the model, and what is stored."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Protocol

import attrs

from scoped_registration.testing.findings import Place

__all__ = ["Call", "Listener", "Recorder"]


@attrs.frozen
class Call:
    """A call of the model.

    Attributes:
        texts: Everything that the model is sent.
        sessions: What the conversation is kept in.
        conversation: The id of the conversation that the provider is to continue.
        origins: The ids of the sessions that messages name as their origin.
        said: Those of the texts that users said.
    """

    texts: tuple[str, ...]
    sessions: tuple[object, ...] = ()
    conversation: str | None = None
    origins: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


class Listener(Protocol):
    """Who is told, while a probe runs."""

    def heard(self, place: Place, text: str) -> None:
        """Something was recorded."""
        ...

    def called(self, call: Call) -> None:
        """The model was called."""
        ...

    def kept(self, conversation: str, text: str, continues: str | None) -> None:
        """The provider keeps a conversation."""
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

    async def model_called(
        self,
        *texts: str,
        sessions: Iterable[object] = (),
        conversation: str | None = None,
        origins: Iterable[str] = (),
        said: Iterable[str] = (),
    ) -> None:
        """Record one call of the model, and wait while the probe lets requests overlap.

        Args:
            texts: Everything that the model is sent in this call.
            sessions: What keeps the conversation, which two principals must not have in
                common: an object, compared by identity, or its id, a string.
            conversation: The id of the conversation that the provider is to continue.
            origins: The ids of the sessions that messages name as their origin.
            said: Those of the texts that users said. The report lists those that stand there
                more than once.
        """
        call = Call(texts, tuple(sessions), conversation, tuple(origins), tuple(said))
        if (listener := self._listener) is not None:
            listener.called(call)
            await listener.hold()

    def note(self, place: Place, *texts: str) -> None:
        """Record something without waiting: a call of a synchronous model, a row of a store.

        Args:
            place: Where it is seen.
            texts: All texts of one call or row. Texts of two callers in one of them are a leak.
        """
        if self._listener is not None:
            self._listener.heard(place, "\n".join(texts))

    def kept(self, conversation: str, *texts: str, continues: str | None = None) -> None:
        """Record that the provider keeps texts: a later call with the id has them before it.

        Args:
            conversation: The id that the provider has answered with.
            texts: Everything that it was sent.
            continues: The id that it was sent, which stands for what was said before.
        """
        if self._listener is not None:
            self._listener.kept(conversation, "\n".join(texts), continues)

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
