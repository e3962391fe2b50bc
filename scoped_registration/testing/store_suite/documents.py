"""What is written, by whom, and which version it is."""

# ruff: noqa: D102  # the name of a rule says what it holds
from __future__ import annotations

import anyio
import attrs

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.stores.protocol import Stored, StoreLease, ThreadStore
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

__all__ = ["DocumentRules"]


class DocumentRules(Suite):
    """Rules of `commit`, `load` and `delete`, and of what `acquire` returns."""

    @rule
    async def test_each_commit_makes_the_next_version(self, store: ThreadStore) -> None:
        key = new_key()
        expect_equal(await store.load(key), None, "there is nothing before the first commit")
        lease = await self.take(store, key)
        for version, document in enumerate((b"one", b"two", b"three"), 1):
            committed = await store.commit(lease, document, release=False)
            expect_equal(committed, version, "the version that a commit returns")
            expect_equal(await store.load(key), Stored(document, version), "what load returns")
            lease = attrs.evolve(lease, version=committed)
        expect(await store.renew(lease, ttl=LONG), "a commit without release keeps the lease")
        other = await store.acquire(key, owner=new_owner(), ttl=LONG)
        expect(other is None, "a commit without release keeps the lease")

    @rule
    async def test_a_commit_with_release_ends_the_lease(self, store: ThreadStore) -> None:
        key = new_key()
        lease = await self.take(store, key)
        version = await store.commit(lease, b"one", release=True)
        expect_equal(version, 1, "the version that a commit returns")
        expect(not await store.renew(lease, ttl=LONG), "a commit with release ends the lease")
        successor = await self.take(store, key)
        expect_equal((successor.document, successor.version), (b"one", 1), "the next lease")

    @rule
    async def test_the_document_comes_with_the_lease_unless_it_is_known(
        self, store: ThreadStore
    ) -> None:
        key = await self.committed(store, b"one", b"two")
        for known, document in ((None, b"two"), (2, None), (1, b"two"), (3, b"two"), (0, b"two")):
            lease = await store.acquire(key, owner=new_owner(), ttl=LONG, if_version=known)
            if lease is None:
                raise AssertionError("a key that nobody holds can be acquired")
            found = (lease.version, lease.document)
            expect_equal(found, (2, document), f"the lease for if_version={known}")
            await store.release(lease)
        key, owner = new_key(), new_owner()
        empty = await store.acquire(key, owner=owner, ttl=LONG, if_version=1)
        expected = StoreLease(key=key, owner=owner, version=0)
        expect_equal(empty, expected, "the lease of a key that nothing was committed to")

    @rule
    async def test_a_document_can_be_loaded_while_it_is_leased(self, store: ThreadStore) -> None:
        key = await self.committed(store, b"one")
        await self.take(store, key)
        expect_equal(await store.load(key), Stored(b"one", 1), "load, while the key is leased")

    @rule
    async def test_a_repeated_commit_writes_once(self, store: ThreadStore) -> None:
        for release in (False, True):
            key = new_key()
            lease = await self.take(store, key)
            for document in (b"one", b"again"):
                version = await store.commit(lease, document, release=release)
                expect_equal(version, 1, f"the version of a repeated commit, release={release}")
            expect_equal(await store.load(key), Stored(b"one", 1), "a repeated commit writes once")

    @rule
    async def test_a_repeated_commit_leaves_the_next_lease_alone(self, store: ThreadStore) -> None:
        key = new_key()
        lease = await self.take(store, key)
        await store.commit(lease, b"one", release=True)
        successor = await self.take(store, key)
        version = await store.commit(lease, b"one", release=True)
        expect_equal(version, 1, "the version of a commit that is repeated after its release")
        expect(await store.renew(successor, ttl=LONG), "a repeated commit ends no other lease")
        version = await store.commit(successor, b"two", release=True)
        expect_equal(version, 2, "the next version")

    @rule
    async def test_a_repeated_commit_releases_what_the_first_one_kept(
        self, store: ThreadStore
    ) -> None:
        key = new_key()
        lease = await self.take(store, key)
        await store.commit(lease, b"one", release=False)
        await store.commit(lease, b"one", release=True)
        await self.take(store, key)

    @rule
    async def test_a_commit_may_be_repeated_when_its_lease_has_expired(
        self, store: ThreadStore
    ) -> None:
        key = new_key()
        lease = await self.take(store, key)
        version = await store.commit(lease, b"one", release=False)
        expect(await store.renew(lease, ttl=self.ttl), "a lease that is held can be renewed")
        await store.release(await self.take(store, key, wait=True))
        again = await store.commit(lease, b"one", release=False)
        expect_equal(again, version, "the version of a commit that was written in time")

    @rule
    async def test_commits_at_the_same_time_write_once(self, store: ThreadStore) -> None:
        key = new_key()
        lease = await self.take(store, key)
        versions: list[int] = []

        async def commit() -> None:
            versions.append(await store.commit(lease, b"one", release=False))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(commit)
        expect_equal(versions, [1] * 5, "the version of a commit that is repeated at once")

    @rule
    async def test_a_commit_of_another_version_is_refused(self, store: ThreadStore) -> None:
        key = new_key()
        first = await self.take(store, key)
        second = attrs.evolve(first, version=await store.commit(first, b"one", release=False))
        await store.commit(second, b"two", release=False)
        for wrong in (first, attrs.evolve(first, version=3), attrs.evolve(first, version=17)):
            text = f"a commit that replaces version {wrong.version} while the last one is 2"
            await expect_lost(store.commit(wrong, b"wrong", release=True), text)
        expect_equal(await store.load(key), Stored(b"two", 2), "what was committed last is kept")
        expect(await store.renew(second, ttl=LONG), "a commit that is refused releases nothing")

    @rule
    async def test_only_the_holder_commits(self, store: ThreadStore) -> None:
        key = new_key()
        stranger = StoreLease(key=key, owner=new_owner(), version=0)
        await expect_lost(store.commit(stranger, b"no", release=True), "a commit without a lease")
        lease = await self.take(store, key)
        await expect_lost(store.commit(stranger, b"no", release=True), "a commit by another owner")
        expect_equal(await store.load(key), None, "a commit that was refused writes nothing")
        expect_equal(await store.commit(lease, b"one", release=True), 1, "the holder's commit")
        await expect_lost(
            store.commit(attrs.evolve(lease, version=1), b"two", release=True),
            "the next commit with a lease that was released",
        )

    @rule
    async def test_a_lost_holder_cannot_commit(self, store: ThreadStore) -> None:
        key = new_key()
        lost = await self.take(store, key, ttl=self.ttl)
        holder = await self.take(store, key, wait=True)
        text = "a commit by a holder whose lease was taken over"
        await expect_lost(store.commit(lost, b"old", release=True), text)
        expect_equal(await store.load(key), None, "a commit that was refused writes nothing")
        expect_equal(await store.commit(holder, b"new", release=False), 1, "the new holder's")
        await expect_lost(store.commit(lost, b"old", release=True), text)
        await expect_lost(
            store.commit(attrs.evolve(lost, version=1), b"old", release=True),
            f"{text}, of the version that is current",
        )
        expect_equal(await store.load(key), Stored(b"new", 1), "the new document is kept")
        expect(await store.renew(holder, ttl=LONG), "a commit that is refused releases nothing")

    @rule
    async def test_a_leased_document_is_not_deleted(self, store: ThreadStore) -> None:
        key = await self.committed(store, b"one")
        lease = await self.take(store, key)
        await self._expect_busy(store, key)
        expect_equal(await store.load(key), Stored(b"one", 1), "the document is kept")
        await store.release(lease)
        expect(await store.delete(key), "delete returns True where there was a document")
        expect_equal(await store.load(key), None, "a deleted document is gone")
        held = new_key()
        await self.take(store, held)
        await self._expect_busy(store, held)

    @rule
    async def test_there_may_be_nothing_to_delete(self, store: ThreadStore) -> None:
        key = new_key()
        expect(not await store.delete(key), "delete returns False where there is no document")
        await store.release(await self.take(store, key))
        expect(not await store.delete(key), "delete returns False where there is no document")
        key = await self.committed(store, b"one")
        expect(await store.delete(key), "delete returns True where there was a document")
        expect(not await store.delete(key), "a document is deleted once")

    @rule
    async def test_the_version_of_a_deleted_document_does_not_come_back(
        self, store: ThreadStore
    ) -> None:
        # Another worker may still have an instance of the version that was deleted: it must
        # not be told that it is current.
        key = await self.committed(store, b"one", b"two")
        old = await self.take(store, key)
        await store.commit(old, b"three", release=True)
        used = {1, 2, 3}
        expect(await store.delete(key), "delete returns True where there was a document")
        await expect_lost(store.commit(old, b"again", release=True), "a commit before the deletion")
        lease = await store.acquire(key, owner=new_owner(), ttl=LONG, if_version=3)
        if lease is None:
            raise AssertionError("a key that nobody holds can be acquired")
        expect_equal(lease.document, None, "a deleted document is gone")
        expect(lease.version not in used, "the version after a deletion is none that was used")
        for _ in range(3):
            version = await store.commit(lease, b"new", release=False)
            expect(version not in used, "a version that was deleted does not come back")
            expect_equal(await store.load(key), Stored(b"new", version), "what load returns")
            lease = attrs.evolve(lease, version=version)

    async def _expect_busy(self, store: ThreadStore, key: str) -> None:
        try:
            await store.delete(key)
        except RegistrationError as error:
            expect_equal(error.code, ReasonCode.THREAD_BUSY, "delete, while the key is leased")
        else:
            raise AssertionError("a key is not deleted while it is leased")
