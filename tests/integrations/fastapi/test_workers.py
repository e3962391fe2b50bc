"""How many workers there are is declared, and never passed over in silence."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from fastapi import FastAPI

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    ReasonCode,
    RegistrationBuilder,
    RegistrationError,
    Risk,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.application import Application
from scoped_registration.integrations.fastapi import attach
from scoped_registration.registration import Registration
from scoped_registration.stores.memory import MemoryStore
from tests.unit.persistence.support import Chat, ChatCodec, resolver, worker

SHARED = Acknowledgement(reason="one room", owner="team", risks={Risk.OBJECT_STATE})


class Elsewhere(MemoryStore):
    """A store that says that other processes see it."""

    @property
    def per_process(self) -> bool:
        return False


def per_process() -> dict[str, Registration[Any]]:
    scoped = ScopedFactory(lambda context: Chat(context.scope), scope=resolver)
    shared = PersistentShared(Chat("all"), acknowledgement=SHARED)
    builder = RegistrationBuilder
    return {
        "SingleUser": builder("one").isolation(SingleUser(Chat("me"))).build(),
        "per_thread": builder("threads")
        .isolation(SingleUser.per_thread(lambda context: Chat("me")))
        .build(),
        "ScopedFactory": builder("scoped").isolation(scoped).build(),
        "PersistentShared": builder("shared").isolation(shared).build(),
        "a store of one process": worker(MemoryStore()),
    }


async def started(app: FastAPI) -> None:
    async with app.router.lifespan_context(app):
        pass


@pytest.mark.parametrize("kind", per_process())
async def test_many_workers_want_a_store_that_they_share(kind: str) -> None:
    app = FastAPI()
    attach(app, per_process()[kind], workers="many")
    with pytest.raises(RegistrationError) as refused:
        await started(app)
    assert refused.value.code is ReasonCode.STORE_PER_PROCESS
    assert refused.value.declared_at is not None


async def test_many_workers_with_such_a_store_start() -> None:
    app = FastAPI()
    attach(app, worker(Elsewhere()), workers="many")
    await started(app)


@pytest.mark.parametrize("kind", per_process())
async def test_a_single_worker_needs_none(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEB_CONCURRENCY", raising=False)
    app = FastAPI()
    attach(app, per_process()[kind], workers="single")
    await started(app)


async def test_an_environment_that_says_otherwise_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    app = FastAPI()
    attach(app, per_process()["ScopedFactory"], workers="single")
    with pytest.raises(RegistrationError, match="WEB_CONCURRENCY is 4") as refused:
        await started(app)
    assert refused.value.code is ReasonCode.STORE_PER_PROCESS


async def test_what_nobody_declared_is_named_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    app = FastAPI()
    attach(app, per_process()["ScopedFactory"])
    with caplog.at_level(logging.WARNING, "scoped_registration"):
        await started(app)
    assert "WEB_CONCURRENCY is 4" in caplog.text
    caplog.clear()
    app = FastAPI()
    attach(app, worker(Elsewhere()))
    await started(app)
    assert "WEB_CONCURRENCY" not in caplog.text


@pytest.mark.parametrize("wrong", ["four", 4, True])
def test_workers_are_single_or_many(wrong: Any) -> None:
    with pytest.raises(RegistrationError) as refused:
        attach(FastAPI(), per_process()["ScopedFactory"], workers=wrong)
    assert refused.value.code is ReasonCode.OPTION_INVALID


def test_the_manifest_holds_what_was_declared() -> None:
    app = FastAPI()
    attach(app, worker(Elsewhere()), workers="many")
    (description,) = Application.of(app).describe()
    assert description.options["workers"] == "many"
    assert str(description.options["store"]).endswith("Elsewhere")
    assert description.options["store_ttl"] == 15.0


async def test_start_up_opens_a_store_and_shutdown_closes_it() -> None:
    happened: list[str] = []

    class Watched(MemoryStore):
        async def open(self) -> None:
            happened.append("open")

        async def aclose(self) -> None:
            happened.append("aclose")

    store = Watched()
    app = FastAPI()
    codec = ChatCodec()
    for name in ("first", "second"):
        scoped = ScopedFactory(lambda context: Chat(context.scope), scope=resolver)
        attach(
            app, RegistrationBuilder(name).isolation(scoped).persisted(store, codec=codec).build()
        )
    await started(app)
    assert happened == ["open", "open", "aclose"]


async def test_a_store_that_is_not_ready_fails_the_start_and_says_whose_it_is() -> None:
    class NotReady(MemoryStore):
        async def open(self) -> None:
            raise RegistrationError(ReasonCode.STORE_NOT_READY, "its tables are missing")

    app = FastAPI()
    attach(app, worker(NotReady()))
    with pytest.raises(RegistrationError, match="tables are missing") as refused:
        await started(app)
    assert refused.value.registration == "chat"
    assert refused.value.declared_at is not None
