"""Stores and codecs for the corpora. Nothing here runs."""

from __future__ import annotations

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import Stored, StoreLease, ThreadStore
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


class TextVersionStore:
    """Wants a text for a version: no store."""

    @property
    def per_process(self) -> bool:
        return True

    async def open(self) -> None: ...

    async def aclose(self) -> None: ...

    async def acquire(
        self, key: str, *, owner: str, ttl: float, if_version: str | None = None
    ) -> StoreLease | None:
        return None

    async def renew(self, lease: StoreLease, *, ttl: float) -> bool:
        return True

    async def commit(self, lease: StoreLease, document: bytes, *, release: bool) -> int:
        return 1

    async def release(self, lease: StoreLease) -> None: ...

    async def load(self, key: str) -> Stored | None:
        return None

    async def delete(self, key: str) -> bool:
        return True


memory_store = MemoryStore()
text_version_store = TextVersionStore()
