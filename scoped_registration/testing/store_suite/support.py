"""What the rules are written with: one rule is one test that runs its own event loop."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from typing import ClassVar, TypeVar

import anyio

from scoped_registration.stores.protocol import LeaseLostError, StoreLease, ThreadStore

__all__ = ["LONG", "Suite", "expect", "expect_equal", "expect_lost", "new_key", "new_owner", "rule"]

LONG = 300.0
"""Seconds of a lease that must not expire while a test runs."""

SuiteT = TypeVar("SuiteT", bound="Suite")


def rule(check: Callable[[SuiteT, ThreadStore], Awaitable[None]]) -> Callable[[SuiteT], None]:
    """Make a test of a rule, which is given a store."""

    def test(self: SuiteT) -> None:
        anyio.run(partial(self.keep, partial(check, self)))

    # Not functools.wraps: pytest would look for a fixture named as the rule's argument.
    test.__name__, test.__qualname__ = check.__name__, check.__qualname__
    test.__module__, test.__doc__ = check.__module__, check.__doc__
    return test


class Suite:
    """How a store is made, and how long a rule may take; `StoreSuite` documents it."""

    ttl: ClassVar[float] = 0.5
    patience: ClassVar[float] = 10.0
    limit: ClassVar[float] = 60.0
    at_once: ClassVar[int] = 50
    secrets: Sequence[str] = ()

    async def make_store(self) -> ThreadStore:
        """Return a store that was not used yet; all that one test makes use the same engine."""
        raise NotImplementedError

    async def keep(self, check: Callable[[ThreadStore], Awaitable[None]]) -> None:
        """Check one rule on a store that is open, and close it."""
        with anyio.fail_after(self.limit):
            async with self.opened() as store:
                await check(store)

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[ThreadStore, None]:
        """Make a store, open it, and close it in the end."""
        store = await self.make_store()
        try:
            await store.open()
            yield store
        finally:
            await store.aclose()

    async def take(
        self, store: ThreadStore, key: str, *, ttl: float = LONG, wait: bool = False
    ) -> StoreLease:
        """Acquire a key for a new owner: at once, or when its lease has expired."""
        owner = new_owner()
        ends = time.monotonic() + self.ttl + self.patience
        while True:
            lease = await store.acquire(key, owner=owner, ttl=ttl)
            if lease is not None:
                return lease
            expect(wait, "a key that nobody holds can be acquired")
            expect(time.monotonic() < ends, "a lease ends when its time is up")
            await anyio.sleep(self.ttl / 20)

    async def committed(self, store: ThreadStore, *documents: bytes) -> str:
        """Return a new key to which some documents were committed, one after another."""
        key = new_key()
        for document in documents:
            await store.commit(await self.take(store, key), document, release=True)
        return key


def expect(holds: object, rule_text: str) -> None:
    """Fail unless something holds."""
    __tracebackhide__ = True
    if not holds:
        raise AssertionError(rule_text)


def expect_equal(found: object, expected: object, rule_text: str) -> None:
    """Fail unless two values are equal."""
    __tracebackhide__ = True
    if found != expected:
        raise AssertionError(f"{rule_text}: expected {_short(expected)}, found {_short(found)}")


async def expect_lost(write: Awaitable[int], rule_text: str) -> None:
    """Fail unless a commit is refused."""
    __tracebackhide__ = True
    try:
        version = await write
    except LeaseLostError:
        return
    raise AssertionError(f"{rule_text}: LeaseLostError expected, but version {version} was written")


def new_key() -> str:
    """Return a key that no other test uses."""
    return f"suite-{uuid.uuid4().hex}"


def new_owner() -> str:
    """Return a random owner id."""
    return uuid.uuid4().hex


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."  # noqa: PLR2004  # one line or two
