"""State in a store: any worker serves any thread, and what was not committed did not happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from scoped_registration import (
    ReasonCode,
    RegistrationBuilder,
    RegistrationError,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import LeaseLostError
from tests.unit.persistence.support import Chat, ChatCodec, resolver, say, worker


async def test_p11_any_worker_serves_any_thread() -> None:
    store = MemoryStore()
    first, second = worker(store), worker(store)
    said: list[str] = []
    for number in range(12):
        said.append(f"turn {number}")
        assert await say([first, second][number % 2], said[-1]) == said
    assert await say(second, "hello", scope="bob") == ["hello"]


async def test_a_current_instance_is_reused_and_another_is_not() -> None:
    store = MemoryStore()
    first, second = worker(store), worker(store)
    for _ in range(3):
        await say(first, "one")
    assert (first.statistics().built, first.statistics().reused) == (1, 2)
    await say(second, "two")
    assert await say(first, "three") == ["one", "one", "one", "two", "three"]
    assert first.statistics().built == 2
    assert first.statistics().live == 1


async def test_an_engine_that_lost_its_documents_makes_no_instance_current_again() -> None:
    store = MemoryStore()
    first, second = worker(store), worker(store)
    await say(first, "lost")
    store.__init__()  # type: ignore[misc]  # as an engine that was emptied
    assert await say(second, "new") == ["new"]  # the same version as the lost one
    assert await say(first, "and now") == ["new", "and now"]


async def test_a_run_that_fails_commits_nothing() -> None:
    store = MemoryStore()
    registration = worker(store)
    await say(registration, "kept")

    async def fail() -> None:
        async with registration.lease("alice", "A") as chat:
            chat.messages.append("lost")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        await fail()
    assert await say(registration, "and now") == ["kept", "and now"]


async def test_a_run_that_is_cancelled_commits_nothing_and_frees_the_thread() -> None:
    store = MemoryStore()
    registration, other = worker(store), worker(store)
    await say(registration, "kept")
    running = asyncio.Event()

    async def run() -> None:
        async with registration.lease("alice", "A") as chat:
            chat.messages.append("lost")
            running.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(run())
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with anyio.fail_after(5):
        assert await say(other, "and now") == ["kept", "and now"]


async def test_the_state_survives_a_restart() -> None:
    store = MemoryStore()
    await say(worker(store), "before")
    assert await say(worker(store), "after") == ["before", "after"]


async def test_a_single_users_instance_is_restored_under_its_declared_name() -> None:
    store = MemoryStore()
    for number in range(1, 4):
        registration = (
            RegistrationBuilder("home")
            .isolation(SingleUser(Chat("me")))
            .persisted(store, codec=ChatCodec())
            .build()
        )
        async with registration.lease() as chat:
            chat.messages.append("again")
            assert len(chat.messages) == number


async def test_a_lost_thread_cancels_its_run_and_commits_nothing() -> None:
    clock = [0.0]
    store = MemoryStore(clock=lambda: clock[0])
    slow, quick = worker(store, ttl=0.06), worker(store)
    cancelled = False

    async def run() -> None:
        nonlocal cancelled
        async with slow.lease("alice", "A") as chat:
            chat.messages.append("lost")
            clock[0] += 1  # this worker was stopped for longer than its lease lasts
            assert await say(quick, "taken over") == ["taken over"]
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled = True
                raise

    with anyio.fail_after(10), pytest.raises(LeaseLostError) as lost:
        await run()
    assert cancelled
    assert lost.value.code is ReasonCode.LEASE_LOST
    assert await say(slow, "and now") == ["taken over", "and now"]


async def test_another_worker_waits_or_is_refused() -> None:
    store = MemoryStore()
    first = worker(store)
    waits = worker(store)
    refuses = (
        RegistrationBuilder("chat")
        .isolation(SingleUser.per_thread(lambda context: Chat("me")))
        .concurrency("reject")
        .persisted(store, codec=ChatCodec())
        .build()
    )
    other = (
        RegistrationBuilder("chat")
        .isolation(SingleUser.per_thread(lambda context: Chat("me")))
        .persisted(store, codec=ChatCodec())
        .build()
    )
    async with other.lease("A"):
        with pytest.raises(RegistrationError) as busy:
            async with refuses.lease("A"):
                pass
        assert busy.value.code is ReasonCode.THREAD_BUSY
    async with refuses.lease("A"):
        pass  # control: it is free now
    async with first.lease("alice", "A") as chat:
        waiting = asyncio.create_task(say(waits, "second"))
        chat.messages.append("first")
        await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting == ["first", "second"]


def test_an_owner_who_is_pinned_in_one_process_has_no_threads_in_a_store() -> None:
    for mode in (
        SingleUser(Chat("me"), owner=resolver),
        SingleUser.per_thread(lambda context: Chat("me"), owner=resolver),
    ):
        stage: Any = RegistrationBuilder("home").isolation(mode)
        with pytest.raises(RegistrationError) as refused:
            stage.persisted(MemoryStore(), codec=ChatCodec())
        assert refused.value.code is ReasonCode.OPTION_UNAVAILABLE


async def test_a_lease_that_another_task_leaves_frees_the_thread() -> None:
    store = MemoryStore()
    registration = worker(store)

    async def body() -> AsyncGenerator[str, None]:
        async with registration.lease("alice", "A") as chat:
            chat.messages.append("cut off")
            yield "begun"

    stream = body()
    assert await asyncio.create_task(anext(stream)) == "begun"
    await asyncio.create_task(stream.aclose())
    assert registration.statistics().leased == 0
    with anyio.fail_after(5):
        assert await say(worker(store), "and now") == ["and now"]


async def test_a_codec_that_restores_into_something_else_overwrites_nothing() -> None:
    class Elsewhere(ChatCodec):
        def restore(self, target: Chat, document: bytes, version: int) -> Any:
            return Chat("another")

    store = MemoryStore()
    await say(worker(store), "kept")
    mode = ScopedFactory(lambda context: Chat("me"), scope=resolver)
    wrong = RegistrationBuilder("chat").isolation(mode).persisted(store, codec=Elsewhere()).build()
    with pytest.raises(RegistrationError) as refused:
        await say(wrong, "new")
    assert refused.value.code is ReasonCode.DOCUMENT_UNREADABLE
    assert await say(worker(store), "and now") == ["kept", "and now"]
