"""What may stand in a document and in a key: anything, and it comes back as it was."""

# ruff: noqa: D102  # the name of a rule says what it holds
from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence

from scoped_registration.stores.protocol import Stored, ThreadStore
from scoped_registration.testing.store_suite.support import (
    Suite,
    expect,
    expect_equal,
    new_key,
    rule,
)

__all__ = ["ContentRules"]

_unpickled: list[object] = []
# A document that leaves a mark in `_unpickled` if anybody unpickles it.
_TRAP = b"cscoped_registration.testing.store_suite.contents\n_mark\n)R."


def _mark() -> None:  # pyright: ignore[reportUnusedFunction]  # the pickle calls it
    _unpickled.append(None)


_DOCUMENTS: dict[str, bytes] = {
    "nothing at all": b"",
    "a zero byte": b"\0",
    "each byte": bytes(range(256)),
    "text that is no UTF-8": b"\xff\xfe\xc3\x28",
    "JSON that a database would refuse or tidy": b'{ "b": NaN, "a": "\\u0000", "a": 1 }\r\n',
    "a pickle": _TRAP,
    "two megabytes": random.Random(2).randbytes(2 * 1024 * 1024),  # noqa: S311  # no secret
}

# Names that one engine or another might take for the same, or for a pattern.
_SIMILAR = (
    *("a", "A", "a ", " a", "a:", "a:lease", "a:document", "a/b", "a\\b", "a%", "a_", "a*", "a?"),
    *("{a}", "[a]", "'a'", '"a"', "a;--", "a\n", "a\r\n", "a\t", "\u00e4", "\U0001f600", "\uff41"),
    unicodedata.normalize("NFD", "\u00e4"),
)


class ContentRules(Suite):
    """Rules of bytes and of names."""

    @rule
    async def test_any_bytes_come_back_as_they_were(self, store: ThreadStore) -> None:
        unpickled = len(_unpickled)
        for name, document in _DOCUMENTS.items():
            key = await self.committed(store, document)
            stored = await store.load(key)
            expect_equal(stored, Stored(document, 1), f"load, of a document that is {name}")
            lease = await self.take(store, key)
            expect_equal(lease.document, document, f"acquire, of a document that is {name}")
            for found in (stored and stored.document, lease.document):
                expect(type(found) is bytes, "a document comes back as bytes")
        expect_equal(len(_unpickled), unpickled, "documents that were unpickled")

    @rule
    async def test_keys_do_not_mix(self, store: ThreadStore) -> None:
        begin = new_key()
        await self._expect_apart(store, [f"{begin}{name}" for name in _SIMILAR])
        await self._expect_apart(store, [f"{name}{begin}" for name in _SIMILAR])

    @rule
    async def test_keys_of_200_characters_do_not_mix(self, store: ThreadStore) -> None:
        long = new_key().ljust(199, "x")
        await self._expect_apart(store, [f"{long}{end}" for end in "xyz"] + [long])

    async def _expect_apart(self, store: ThreadStore, keys: Sequence[str]) -> None:
        leases = [await self.take(store, key) for key in keys]
        for number, lease in enumerate(leases):
            expect_equal(lease.document, None, "a new key has no document")
            await store.commit(lease, str(number).encode(), release=True)
        for number, key in enumerate(keys):
            expected = Stored(str(number).encode(), 1)
            expect_equal(await store.load(key), expected, f"the document of {key!r}")
        for number, key in enumerate(keys):
            if number % 2:
                expect(await store.delete(key), "delete returns True where there was a document")
        for number, key in enumerate(keys):
            kept = None if number % 2 else Stored(str(number).encode(), 1)
            expect_equal(await store.load(key), kept, f"{key!r}, after others were deleted")
