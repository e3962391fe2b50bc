"""Promise P9 over HTTP, and at start-up: products that share parts are refused."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from fastapi import FastAPI

from scoped_registration import ReasonCode, RegistrationBuilder, RegistrationError, ScopedFactory
from scoped_registration.integrations.fastapi import attach
from scoped_registration.registration import ScopedRegistration
from scoped_registration.scope import ScopeContext
from tests.integrations.fastapi.support import (
    ALICE,
    CANARY,
    CANARY_THREAD,
    Chat,
    as_user,
    async_client,
    chat_app,
    current_user,
    start,
)

SAMPLES = ["sample-alice", "sample-bob"]


class SlowToClose(Chat):
    async def aclose(self) -> None:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        await super().aclose()


class Desk:
    """A factory of chats, which share one list where it `leaks`."""

    def __init__(self, *, leaks: bool, managed: bool = False) -> None:
        self.leaks = leaks
        self.managed = managed
        self.lines: list[str] = []
        self.built: list[Chat] = []
        self.keys: list[tuple[str, str]] = []

    def __call__(self, context: ScopeContext[str]) -> Any:
        chat = SlowToClose()
        if self.leaks:
            chat.lines = self.lines
        self.built.append(chat)
        self.keys.append((context.scope, context.thread_id))
        return self.opened(chat) if self.managed else chat

    @contextlib.asynccontextmanager
    async def opened(self, chat: Chat) -> AsyncGenerator[Chat, None]:
        yield chat
        await chat.aclose()

    def registration(self, *sample_scopes: str) -> ScopedRegistration[Chat, str]:
        stage = RegistrationBuilder("chat").isolation(ScopedFactory(self, scope=current_user))
        if sample_scopes:
            stage = stage.verify_at_startup(sample_scopes=sample_scopes)
        return stage.build()

    @property
    def closings(self) -> list[int]:
        return [chat.closed for chat in self.built]

    async def all_closed(self) -> None:
        with anyio.fail_after(20):
            while not all(self.closings):  # a chat has no event to wait for
                await anyio.lowlevel.checkpoint()


def app_of(desk: Desk, *sample_scopes: str) -> FastAPI:
    return chat_app(desk.registration(*sample_scopes))


@pytest.mark.parametrize("managed", [False, True])
async def test_p9_the_second_user_is_answered_500_and_the_first_served_on(
    managed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(leaks=True, managed=managed)
    async with async_client(app_of(desk)) as client:
        first = await client.get("/chat/one?text=hers", headers=ALICE)
        refused = await client.get(f"/chat/{CANARY_THREAD}", headers=as_user(CANARY))
        again = await client.get("/chat/one?text=more", headers=ALICE)

    assert first.json() == {"lines": ["hers"]}
    assert (refused.status_code, refused.json()) == (500, {"detail": "Internal Server Error"})
    assert again.json() == {"lines": ["hers", "more"]}
    assert desk.closings[1] == 1
    assert "[factory_reuses_state] registration 'chat'" in caplog.text
    assert "slow_to_close.lines (list)" in caplog.text
    for word in (CANARY, CANARY_THREAD, "alice"):
        assert word not in caplog.text


async def test_p9_control_each_user_has_a_chat_of_their_own() -> None:
    async with async_client(app_of(Desk(leaks=False))) as client:
        for user in ("alice", "bob"):
            answer = await client.get(f"/chat/one?text={user}", headers=as_user(user))
            assert answer.json() == {"lines": [user]}


@pytest.mark.parametrize("managed", [False, True])
def test_p9_a_leak_fails_the_start(managed: bool, caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk(leaks=True, managed=managed)
    with pytest.raises(RegistrationError) as refused:
        start(app_of(desk, *SAMPLES))

    assert refused.value.code is ReasonCode.FACTORY_REUSES_STATE
    assert "slow_to_close.lines (list)" in str(refused.value)
    assert desk.closings == [1, 1]  # before the event loop ends
    assert not any(name in caplog.text + str(refused.value) for name in SAMPLES)


@pytest.mark.parametrize("managed", [False, True])
async def test_p9_a_good_factory_starts_and_its_samples_are_closed(managed: bool) -> None:
    desk = Desk(leaks=False, managed=managed)
    app = app_of(desk, *SAMPLES)
    async with app.router.lifespan_context(app), async_client(app) as client:
        assert [scope for scope, _ in desk.keys] == [*SAMPLES, SAMPLES[0]]
        (one, same, other) = (thread for _, thread in desk.keys)
        assert one == same != other
        await desk.all_closed()
        answer = await client.get(f"/chat/{one}?text=mine", headers=as_user(SAMPLES[0]))
        assert answer.json() == {"lines": ["mine"]}
        assert desk.closings == [1, 1, 1, 0]
    assert desk.closings == [1, 1, 1, 1]


def test_p9_a_leak_between_the_threads_of_one_user_fails_the_start() -> None:
    desk = Desk(leaks=True)
    with pytest.raises(RegistrationError) as refused:
        start(app_of(desk, "sample-alice"))

    assert refused.value.code is ReasonCode.FACTORY_REUSES_STATE
    assert [scope for scope, _ in desk.keys] == ["sample-alice"] * 2


def test_p9_a_factory_that_fails_for_a_sample_fails_the_start() -> None:
    def build(context: ScopeContext[str]) -> Chat:
        raise LookupError(CANARY)

    stage = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=current_user))
    with pytest.raises(RegistrationError) as refused:
        start(chat_app(stage.verify_at_startup(sample_scopes=SAMPLES).build()))

    assert refused.value.code is ReasonCode.FACTORY_FAILED
    assert CANARY not in str(refused.value)


def test_p9_without_samples_a_start_builds_nothing() -> None:
    desk = Desk(leaks=True)
    start(app_of(desk))

    assert desk.built == []


async def test_p9_a_second_application_leaves_the_instances_of_the_first_alone() -> None:
    desk = Desk(leaks=False)
    registration = desk.registration(*SAMPLES)
    first, second = chat_app(registration), FastAPI()
    attach(second, registration)
    async with first.router.lifespan_context(first):
        async with registration.lease("alice", "thread-1") as chat:
            async with second.router.lifespan_context(second):
                assert len(desk.built) == 7
            assert not chat.closed
        async with registration.lease("alice", "thread-1") as again:
            assert again is chat


async def test_p9_a_start_that_fails_leaves_what_another_application_serves() -> None:
    desk = Desk(leaks=False)
    registration = desk.registration(*SAMPLES)
    first, second = chat_app(registration), FastAPI()
    attach(second, registration)
    async with first.router.lifespan_context(first):
        async with registration.lease("carol", "thread-1") as kept:
            desk.leaks = True
        with pytest.raises(RegistrationError):
            async with second.router.lifespan_context(second):
                raise AssertionError("it started")
        async with registration.lease("carol", "thread-1") as again:
            assert again is kept
            assert not kept.closed
