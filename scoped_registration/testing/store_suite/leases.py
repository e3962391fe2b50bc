"""Who holds a key, and for how long."""

# ruff: noqa: D102  # the name of a rule says what it holds
from __future__ import annotations

import time

import anyio

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.protocol import StoreLease, ThreadStore
from scoped_registration.testing.store_suite.support import (
    LONG,
    Suite,
    expect,
    expect_equal,
    expect_lost,
    new_key,
    new_owner,
    rule,
)

__all__ = ["LeaseRules"]


class LeaseRules(Suite):
    """Rules of `acquire`, `renew` and `release`."""

    @rule
    async def test_a_key_without_a_document_is_leased(self, store: ThreadStore) -> None:
        key, owner = new_key(), new_owner()
        lease = await store.acquire(key, owner=owner, ttl=LONG)
        expected = StoreLease(key=key, owner=owner, version=0)
        expect_equal(lease, expected, "the lease of a key that nothing was committed to")

    @rule
    async def test_a_leased_key_is_refused_to_others(self, store: ThreadStore) -> None:
        key = new_key()
        await self.take(store, key)
        for _ in range(2):
            other = await store.acquire(key, owner=new_owner(), ttl=LONG)
            expect(other is None, "a leased key is refused to another owner")

    @rule
    async def test_a_lease_may_be_taken_again_by_its_owner(self, store: ThreadStore) -> None:
        key, owner = new_key(), new_owner()
        first = await store.acquire(key, owner=owner, ttl=LONG)
        again = await store.acquire(key, owner=owner, ttl=LONG)
        expect(first is not None, "a key that nobody holds can be acquired")
        expect_equal(again, first, "acquire, repeated by the same owner, returns the lease")
        if again is not None:
            await store.release(again)
        await self.take(store, key)  # one release ends it, however often it was acquired

    @rule
    async def test_a_released_key_is_free(self, store: ThreadStore) -> None:
        key = new_key()
        lease = await self.take(store, key)
        await store.release(lease)
        expect(not await store.renew(lease, ttl=LONG), "a lease that was released is not renewed")
        await self.take(store, key)

    @rule
    async def test_a_release_is_harmless_when_there_is_nothing_to_release(
        self, store: ThreadStore
    ) -> None:
        key = new_key()
        lease = await self.take(store, key)
        await store.release(lease)
        await store.release(lease)
        successor = await self.take(store, key)
        await store.release(lease)
        other = await store.acquire(key, owner=new_owner(), ttl=LONG)
        expect(other is None, "a second release does not end the lease of another owner")
        expect(await store.renew(successor, ttl=LONG), "a second release does not end another's")
        await store.release(StoreLease(key=new_key(), owner=new_owner(), version=0))

    @rule
    async def test_a_lease_lasts_for_its_time_and_then_ends(self, store: ThreadStore) -> None:
        key = new_key()
        begin = time.monotonic()
        await self.take(store, key, ttl=self.ttl)
        await self.take(store, key, wait=True)
        lasted = time.monotonic() - begin
        expect(lasted >= self.ttl * 0.9, "a lease lasts as long as its ttl says, in seconds")

    @rule
    async def test_an_expired_lease_is_lost_though_nobody_came(self, store: ThreadStore) -> None:
        key = new_key()
        lease = await self.take(store, key, ttl=self.ttl)
        await self._until_free(store, key)
        expect(not await store.renew(lease, ttl=LONG), "an expired lease is not renewed")
        await expect_lost(
            store.commit(lease, b"late", release=True), "an expired lease cannot commit"
        )
        expect_equal(await store.load(key), None, "a commit that was refused writes nothing")
        expect_equal((await self.take(store, key)).version, 0, "and counts as no version")

    @rule
    async def test_a_renewed_lease_outlasts_its_first_time(self, store: ThreadStore) -> None:
        key, witness = new_key(), new_key()
        lease = await self.take(store, key, ttl=self.ttl * 2)
        expect(await store.renew(lease, ttl=LONG), "a lease that is held can be renewed")
        await self.take(store, witness, ttl=self.ttl * 2)
        await self._until_free(store, witness)  # by the engine's clock the first time is over
        other = await store.acquire(key, owner=new_owner(), ttl=LONG)
        expect(other is None, "renew lets the time of a lease begin anew")
        expect(await store.renew(lease, ttl=LONG), "a lease may be renewed often")

    @rule
    async def test_a_renewal_counts_from_now(self, store: ThreadStore) -> None:
        key = new_key()
        lease = await self.take(store, key)
        expect(await store.renew(lease, ttl=self.ttl), "a lease that is held can be renewed")
        await self.take(store, key, wait=True)  # a time that was added would last minutes

    @rule
    async def test_only_the_holder_renews(self, store: ThreadStore) -> None:
        key = new_key()
        stranger = StoreLease(key=key, owner=new_owner(), version=0)
        expect(not await store.renew(stranger, ttl=LONG), "what was not acquired is not renewed")
        lease = await self.take(store, key)  # the refused renewal has taken nothing
        expect(not await store.renew(stranger, ttl=LONG), "only the holder renews a lease")
        await store.release(lease)
        expect(not await store.renew(stranger, ttl=LONG), "what was not acquired is not renewed")

    @rule
    async def test_a_lost_holder_neither_renews_nor_releases(self, store: ThreadStore) -> None:
        key = new_key()
        lost = await self.take(store, key, ttl=self.ttl)
        holder = await self.take(store, key, wait=True)
        expect(not await store.renew(lost, ttl=LONG), "a lease that was taken over is not renewed")
        await store.release(lost)
        other = await store.acquire(key, owner=lost.owner, ttl=LONG)
        expect(other is None, "a lost holder does not release the lease of its successor")
        expect(
            await store.renew(holder, ttl=LONG), "a lost holder takes nothing from its successor"
        )

    @rule
    async def test_a_lost_holder_stays_lost_when_its_successor_has_gone(
        self, store: ThreadStore
    ) -> None:
        # A counter that stands in the lease begins again here; an owner id does not.
        key = new_key()
        lost = await self.take(store, key, ttl=self.ttl)
        await store.release(await self.take(store, key, wait=True))
        for state in ("free", "held again"):
            text = f"a lost holder cannot commit when the key is {state}"
            await expect_lost(store.commit(lost, b"stale", release=True), text)
            expect(not await store.renew(lost, ttl=LONG), "nor renew")
            if state == "free":
                await self.take(store, key)
        expect_equal(await store.load(key), None, "a commit that was refused writes nothing")

    async def _until_free(self, store: ThreadStore, key: str) -> None:
        """Wait until nobody holds a key that has no document, without taking it."""
        ends = time.monotonic() + self.ttl * 2 + self.patience
        while True:
            try:
                await store.delete(key)
            except RegistrationError as error:
                expect_equal(error.code, ReasonCode.THREAD_BUSY, "delete, while the key is leased")
            else:
                return
            expect(time.monotonic() < ends, "a lease ends when its time is up")
            await anyio.sleep(self.ttl / 20)
