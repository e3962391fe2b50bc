"""Chats in a store, and workers that serve them: each a registration of its own over it."""

from __future__ import annotations

import json

import attrs

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.registration import ScopedRegistration
from scoped_registration.stores.protocol import ThreadStore


@attrs.define
class Chat:
    """What remembers: its `messages` are persisted, `made_for` is not."""

    made_for: str
    messages: list[str] = attrs.field(factory=list[str])


class ChatCodec:
    """Writes the messages of a chat."""

    version = 1

    def dump(self, target: Chat) -> bytes:
        return json.dumps(target.messages).encode()

    def restore(self, target: Chat, document: bytes, version: int) -> None:
        target.messages[:] = json.loads(document)


def resolver() -> str:
    return "alice"


def worker(store: ThreadStore, *, ttl: float = 15.0) -> ScopedRegistration[Chat, str]:
    """Return what one worker process has of the registration."""

    def build(context: ScopeContext[str]) -> Chat:
        return Chat(context.scope)

    return (
        RegistrationBuilder("chat")
        .isolation(ScopedFactory(build, scope=resolver))
        .persisted(store, codec=ChatCodec(), ttl=ttl)
        .build()
    )


async def say(
    registration: ScopedRegistration[Chat, str], text: str, scope: str = "alice"
) -> list[str]:
    """Add a message in a run of its own, and return all that the chat remembers."""
    async with registration.lease(scope, "A") as chat:
        chat.messages.append(text)
        return [*chat.messages]
