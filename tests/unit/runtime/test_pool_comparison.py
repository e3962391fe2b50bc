"""Every product is compared with others of its registration before it is served (promise P9)."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import gc
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from scoped_registration import RegistrationBuilder, ScopedFactory, SingleUser
from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.registration import ScopedRegistration
from scoped_registration.runtime import comparison
from scoped_registration.scope import ScopeContext
from scoped_registration.verification.shared_state import survey
from tests.unit.runtime.support import Clock, code_of, keeper_of, pool_in, until

Context = ScopeContext[Any]
Registered = ScopedRegistration[Any, Any]


class Executor:
    """What a factory should have built anew."""

    def __init__(self) -> None:
        self.session: list[str] = []


class Chat:
    def __init__(self, executor: Executor) -> None:
        self.executors = {"support": executor}
        self.closings = 0

    async def aclose(self) -> None:
        self.closings += 1


class Leaking:
    """Builds chats around executors that are kept by a part of the key; `managed` enters them."""

    def __init__(self, kept_by: Callable[[Context], object], managed: bool = False) -> None:
        self.kept_by = kept_by
        self.managed = managed
        self.executors: dict[object, Executor] = {}
        self.built: list[Chat] = []

    def __call__(self, context: Context) -> object:
        key = self.kept_by(context)
        self.built.append(Chat(self.executors.setdefault(key, Executor())))
        return self.manage(self.built[-1]) if self.managed else self.built[-1]

    @contextlib.asynccontextmanager
    async def manage(self, chat: Chat) -> AsyncGenerator[Chat, None]:
        yield chat
        await chat.aclose()

    @property
    def closings(self) -> list[int]:
        return [chat.closings for chat in self.built]


def everybody(_: Context) -> object:
    return None


def nobody(_: Context) -> object:
    return object()  # a factory that shares nothing


def resolver() -> Any:
    raise NotImplementedError  # a scope is given with each lease


def registered(
    factory: Callable[[Context], Any], shares: tuple[object, ...] = (), **bounds: Any
) -> Registered:
    mode = ScopedFactory(factory, scope=resolver, shares=shares)
    return RegistrationBuilder("chat").isolation(mode).pool(**bounds).build()


async def use(registration: Registered, scope: object = "alice", thread: str = "thread-1") -> Any:
    """Lease once and return the target."""
    async with registration.lease(scope, thread) as target:
        return target


async def refused(registration: Registered, scope: object, thread: str = "thread-1") -> bool:
    code = await code_of(use(registration, scope, thread))
    assert code in (None, ReasonCode.FACTORY_REUSES_STATE)
    return code is not None


@pytest.mark.parametrize("managed", [False, True])
async def test_p9_a_captured_executor_is_refused_and_the_first_principal_served_on(
    managed: bool,
) -> None:
    factory = Leaking(everybody, managed)
    registration = registered(factory)
    first = await use(registration, "alice")

    assert await refused(registration, "bob")

    await until(lambda: sum(factory.closings) == 1)
    assert factory.closings == [0, 1]  # what was just built, and once
    assert await use(registration, "alice") is first
    assert registration.statistics().live == 1


async def test_p9_nothing_of_a_refusal_is_cached_and_a_good_build_follows() -> None:
    factory = Leaking(everybody)
    registration = registered(factory)
    await use(registration, "alice")
    assert await refused(registration, "bob")
    factory.kept_by = nobody

    bob = await use(registration, "bob")

    assert bob.executors["support"] is not factory.built[0].executors["support"]
    assert await use(registration, "bob") is bob


async def test_p9_each_caller_who_waits_gets_an_error_of_its_own() -> None:
    registration = registered(Leaking(everybody))
    await use(registration, "alice")

    answers = await asyncio.gather(
        *(use(registration, "bob") for _ in range(3)), return_exceptions=True
    )

    assert [type(each) for each in answers] == [RegistrationError] * 3
    assert len({id(each) for each in answers}) == 3


async def test_p9_the_first_product_bears_witness_when_it_is_closed() -> None:
    factory = Leaking(everybody)
    registration = registered(factory)
    for _ in range(2):  # the second is of the same key: it is not compared, and changes nothing
        await use(registration, "alice")
        registration.invalidate()
        await until(lambda: registration.statistics().live == 0)
    assert factory.closings == [1, 1]
    gc.collect()

    assert await refused(registration, "bob")
    assert await refused(registration, "carol")  # until one has passed


async def test_p9_the_witness_is_let_go_when_a_comparison_has_passed() -> None:
    factory = Leaking(lambda context: context.scope)
    registration = registered(factory)
    await use(registration, "alice")
    for each in ("alice", "bob"):
        registration.invalidate()
        await until(lambda: registration.statistics().live == 0)
        await use(registration, each)
    factory.executors["dan"] = factory.executors["alice"]

    # Only live instances are left to be compared with, and alice has none.
    assert not await refused(registration, "dan")
    assert await refused(registration, "alice")


async def test_p9_executors_kept_by_tenant_are_found_at_the_third_key() -> None:
    registration = registered(Leaking(lambda context: context.scope[0]))
    await use(registration, ("acme", "alice"), "thread-1")
    await use(registration, ("globex", "bob"), "thread-2")  # shares with nobody: it passes

    assert await refused(registration, ("acme", "carol"), "thread-3")


async def test_p9_a_cache_by_thread_is_found_when_the_scope_varies() -> None:
    @functools.lru_cache
    def executor(_thread: str) -> Executor:
        return Executor()

    registration = registered(lambda context: Chat(executor(context.thread_id)))
    await use(registration, "alice", "thread-1")
    await use(registration, "alice", "thread-2")
    assert not await refused(registration, "bob", "thread-3")

    assert await refused(registration, "bob", "thread-1")
    assert await refused(registration, "bob", "thread-2")


@pytest.mark.parametrize(
    ("tenant", "user", "thread"),
    [
        ("globex", 7, "thread-w"),
        ("initech", 1_001, "thread-w"),
        ("initech", 7, "thread-y"),
        ("globex", 7, "thread-y"),
    ],
    ids=["tenant", "user", "thread", "tenant-and-thread"],
)
async def test_p9_the_few_that_are_compared_are_those_with_equal_parts(
    tenant: str, user: int, thread: str
) -> None:
    factory = Leaking(nobody)
    registration = registered(factory)
    await use(registration, ("acme", 1), "thread-x")
    suspect = await use(registration, ("globex", 1_001), "thread-y")
    for number in range(2_000, 2_000 + 3 * comparison.MOST_COMPARED):  # all of them built later
        await use(registration, ("initech", number), "thread-w")
        if (tenant, thread) == ("globex", "thread-y"):
            await use(registration, ("globex", number), "thread-w")
            await use(registration, ("initech", number), "thread-y")
    factory.kept_by = everybody
    factory.executors[None] = suspect.executors["support"]

    assert await refused(registration, (tenant, user), thread)


@pytest.mark.parametrize("by_type", [False, True])
async def test_p9_what_is_declared_passes(by_type: bool) -> None:
    factory = Leaking(everybody)
    factory.executors[None] = shared = Executor()
    registration = registered(factory, shares=(Executor if by_type else shared,))
    for scope in ("alice", "bob", "carol"):
        await use(registration, scope)

    assert factory.built[0].executors["support"] is factory.built[2].executors["support"]
    assert await refused(registered(factory), "dan") is False  # the first of another registration


async def test_p9_a_key_is_not_compared_with_its_own_earlier_product() -> None:
    registration = registered(Leaking(lambda context: context.storage_key))
    first = await use(registration, "alice")
    registration.invalidate()
    await until(lambda: registration.statistics().live == 0)

    second = await use(registration, "alice")

    assert second is not first
    assert second.executors["support"] is first.executors["support"]


async def test_p9_one_principal_may_share_between_threads() -> None:
    factory = Leaking(everybody)
    registration = RegistrationBuilder("chat").isolation(SingleUser.per_thread(factory)).build()
    for thread in ("1", "2"):
        async with registration.lease(thread):
            pass

    assert registration.statistics().live == 2


async def test_p9_products_built_at_once_in_two_loops_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    factory = Leaking(lambda context: context.scope)
    registration = registered(factory)
    await use(registration, "alice")
    await use(registration, "bob")  # the witness is gone
    factory.kept_by = everybody
    start = threading.Barrier(2)
    hold = threading.Event()
    both = threading.Barrier(2)
    check = comparison.Comparison.check

    def checked(*arguments: Any) -> None:
        check(*arguments)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.2)  # if both can be here, before either is served, they are

    monkeypatch.setattr(comparison.Comparison, "check", checked)

    async def build(scope: str) -> bool:
        start.wait(10)
        async with contextlib.AsyncExitStack() as stack:
            code = await code_of(stack.enter_async_context(registration.lease(scope, "thread-1")))
            assert code in (None, ReasonCode.FACTORY_REUSES_STATE)
            if code is None:
                await asyncio.to_thread(hold.wait, 10)  # both are there at once
            hold.set()
            return code is not None

    found = await asyncio.gather(
        *(asyncio.to_thread(asyncio.run, build(scope)) for scope in ("carol", "dan"))
    )

    assert sorted(found) == [False, True]


async def test_p9_an_identity_that_is_used_again_is_no_finding() -> None:
    """What was remembered of a product is no more than a reason to look again."""

    class Fickle:
        def __init__(self) -> None:
            self.parts: list[object] = [[] for _ in range(50)]

    registration = registered(lambda _: Fickle())
    first = await use(registration, "alice")
    await use(registration, "bob")
    remembered = {id(part) for part in first.parts}
    first.parts.clear()  # their memory is free, and the next product takes it

    third = await use(registration, "carol")

    assert remembered & {id(part) for part in third.parts}
    assert registration.statistics().build_failures == 0


async def test_p9_what_is_remembered_of_an_ended_instance_is_not_trusted() -> None:
    factory = Leaking(lambda context: context.scope)
    clock = Clock()
    registration = registered(factory)
    for scope in ("alice", "bob"):
        await use(registration, scope)
    keeper = keeper_of(pool_in(registration))
    slot = keeper.slots["alice", "thread-1"]
    slot.target = Chat(factory.executors.setdefault("carol", Executor()))  # as after a rebuild
    clock.advance(1)

    assert await refused(registration, "carol")


async def test_p9_only_so_many_are_remembered_and_the_others_are_looked_at_again() -> None:
    factory = Leaking(nobody)
    registration = registered(factory)
    await use(registration, "alice", "thread-x")
    for number in range(2 * comparison.MOST_REMEMBERED):
        await use(registration, f"user-{number}", f"thread-{number}")
    factory.kept_by = everybody
    factory.executors[None] = factory.built[0].executors["support"]

    assert await refused(registration, "zoe", "thread-x")


async def test_p9_a_thousand_fresh_products_are_served() -> None:
    factory = Leaking(nobody)
    registration = registered(factory, max_instances=200, max_per_scope=None)
    for number in range(1000):
        await use(registration, f"user-{number % 300}", f"thread-{number % 7}")

    figures = registration.statistics()
    assert figures.build_failures == 0
    assert figures.built == len(factory.built) > 300


async def test_p9_the_log_names_the_path_and_no_principal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Keyed(Chat):
        def __init__(self, context: Context, executor: Executor) -> None:
            super().__init__(executor)
            self.of = {context.scope: {context.thread_id: [executor]}}
            del self.executors

    executor = Executor()
    registration = registered(lambda context: Keyed(context, executor))
    plain = registered(Leaking(everybody))
    caplog.set_level(logging.DEBUG)
    await use(registration, "alice-7", "thread-a")
    with pytest.raises(RegistrationError) as hidden:
        await use(registration, "bob-8", "thread-b")
    await use(plain, "alice-7", "thread-a")
    with pytest.raises(RegistrationError) as named:
        await use(plain, "bob-8", "thread-b")

    told = str(named.value)
    assert 'chat.executors["support"] (' in told
    assert f"{__name__}.Executor)" in told
    assert "shares=" in told
    assert "[factory_reuses_state] registration 'chat': " in caplog.text
    assert 'chat.executors["support"]' in caplog.text
    for text in (str(hidden.value), told, caplog.text):
        assert not any(word in text for word in ("alice-7", "bob-8", "thread-a", "thread-b"))
    assert "keyed.of[...][...][0]" in str(hidden.value)


async def test_p9_the_name_of_a_third_principal_is_not_told() -> None:
    class Knowing:
        """Has a copy of what is known of everybody."""

        def __init__(self, everybody: dict[str, object]) -> None:
            self.others = dict(everybody)

    known: dict[str, object] = {"carol-9": Executor()}

    def build(context: Context) -> Knowing:
        return Knowing(known)

    registration = registered(build)
    await use(registration, "alice-7")
    with pytest.raises(RegistrationError) as refusal:
        await use(registration, "bob-8")
    assert "knowing.others[...] (" in str(refusal.value)
    assert "carol" not in str(refusal.value)


async def test_p9_of_very_many_shared_objects_a_few_are_told_and_that_there_are_more() -> None:
    corpus = [Executor() for _ in range(50)]
    few = corpus[:3]
    many = registered(lambda _: list(corpus))
    three = registered(lambda _: list(few))
    told: list[str] = []
    for registration in (many, three):
        await use(registration, "alice")
        with pytest.raises(RegistrationError) as refusal:
            await use(registration, "bob")
        told.append(refusal.value.problem)
    assert [text.count("list[") for text in told] == [3, 3]
    assert [text.endswith("; and more") for text in told] == [True, False]


async def test_p9_a_variable_of_the_whole_application_in_the_context_of_a_task_is_served() -> None:
    whole: contextvars.ContextVar[object] = contextvars.ContextVar("whole")
    started: list[asyncio.Task[None]] = []

    class Working:
        def __init__(self) -> None:
            self.task = asyncio.create_task(asyncio.sleep(0))
            started.append(self.task)

    whole.set({"requests": []})
    registration = registered(lambda _: Working())
    for scope in ("alice", "bob", "carol"):
        assert not await refused(registration, scope)
    assert registration.statistics().live == len(started) == 3
    await asyncio.gather(*started)


async def test_p9_an_instance_too_large_to_be_compared_is_said_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "survey", functools.partial(survey, limit=20))
    registration = registered(lambda _: [[] for _ in range(50)])
    for scope in ("alice", "bob", "carol"):
        await use(registration, scope)

    warnings = [each for each in caplog.records if each.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "'chat'" in warnings[0].getMessage()


async def test_p9_a_walk_that_fails_serves_nothing_and_closes_what_was_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: object, **__: object) -> object:
        raise LookupError

    factory = Leaking(everybody)
    registration = registered(factory)
    monkeypatch.setattr(comparison, "survey", failing)

    assert await code_of(use(registration, "alice")) is ReasonCode.FACTORY_FAILED
    assert factory.closings == [1]
