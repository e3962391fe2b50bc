"""Stores and codecs for the corpora. Nothing here runs."""

from __future__ import annotations

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore
from tests.typing.given.core import Chat, SubChat

store: ThreadStore = MemoryStore()


class ChatCodec:
    version = 1

    def dump(self, target: Chat) -> bytes:
        return b""

    def restore(self, target: Chat, document: bytes, version: int) -> None: ...


class SubChatCodec:
    version = 1

    def dump(self, target: SubChat) -> bytes:
        return b""

    def restore(self, target: SubChat, document: bytes, version: int) -> None: ...


class TextCodec:
    """Writes text where bytes are wanted."""

    version = 1

    def dump(self, target: Chat) -> str:
        return ""

    def restore(self, target: Chat, document: bytes, version: int) -> None: ...


class HalfCodec:
    """Cannot restore what it has written."""

    version = 1

    def dump(self, target: Chat) -> bytes:
        return b""


codec = ChatCodec()
sub_codec = SubChatCodec()
text_codec = TextCodec()
half_codec = HalfCodec()
