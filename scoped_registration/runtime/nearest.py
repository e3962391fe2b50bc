"""Which keys have parts in common with another one, without a look at all that are live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from scoped_registration.keys import scope_leaves
from scoped_registration.runtime.slot import Key, Slot
from scoped_registration.scope import Share

__all__ = ["Nearest"]

Part = tuple[str, str]
"""A part of a scope, as it stands in a text and as it is by itself."""

_MOST_GROUPS = 16
_BUCKETS = 256


class Nearest:
    """The keys of one registration, by the parts of their scopes and by their threads.

    Few buckets hold them, by a hash: an entry for each part would weigh as much as a tenth of
    what a key weighs. What has ended stays until all is sorted anew, which the many keys
    added since then pay for.
    """

    def __init__(self) -> None:
        self._buckets: dict[int, list[Key]] = {}
        self._added = 0

    def clear(self) -> None:
        """Forget all keys."""
        self._buckets.clear()
        self._added = 0

    def add(self, key: Key, slots: Mapping[Key, Slot[Any]]) -> None:
        """Let a key be found; `slots` holds all that are live."""
        self._enter(key)
        if self._added > 2 * len(slots) + _BUCKETS:
            self.clear()
            for live in slots:
                self._enter(live)

    def groups(self, key: Key) -> list[Iterator[Key]]:
        """Return the keys with each part in common, with two, ...; last added first.

        Those with the most in common come first, and no group is empty.
        """
        share, thread = key
        held: list[tuple[Part, ...]] = []
        groups: list[Iterator[Key]] = []

        def gather(parts: tuple[Part, ...], thread: str | None) -> bool:
            found = self._with(parts, thread)
            first = next(found, None)
            if first is not None:
                groups.insert(0, chain([first], found))
            return first is not None

        for part in reversed(_parts(share)):
            wider = [(*parts, part) for parts in (held if len(held) < _MOST_GROUPS else [])]
            held += [parts for parts in [(part,), *wider] if gather(parts, None)]
        for parts in [(), *held]:
            gather(parts, thread)
        return groups

    def _with(self, parts: Iterable[Part], thread: str | None) -> Iterator[Key]:
        texts = [leaf for _, leaf in parts] + ([] if thread is None else [thread])
        bucket = min((self._buckets.get(_bucket(text), []) for text in texts), key=len)
        for key in reversed(bucket):
            if thread in (None, key[1]) and all(_has(key[0], part) for part in parts):
                yield key

    def _enter(self, key: Key) -> None:
        share, thread = key
        self._added += 1
        for bucket in {_bucket(thread), *(_bucket(leaf) for _, leaf in _parts(share))}:
            self._buckets.setdefault(bucket, []).append(key)


def _bucket(text: str) -> int:
    return hash(text) % _BUCKETS


def _has(share: Share, part: Part) -> bool:
    spelling, leaf = part
    return share == leaf if isinstance(share, str) else spelling in share[0]


def _parts(share: Share) -> list[Part]:
    if isinstance(share, str):
        return [(f"s{len(share)}:{share}", share)]
    (text,) = share
    spellings = (
        (spelling, leaf)
        for leaf in scope_leaves(text)
        for spelling in (f"s{len(leaf)}:{leaf}", f"i{leaf};", f"u{leaf}")
    )
    return [(spelling, leaf) for spelling, leaf in spellings if spelling in text]
