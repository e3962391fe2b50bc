"""Registrations live inside the application's own lifespan, however it was declared (P5, P8)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.testclient import TestClient
from typing_extensions import override

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import ScopedRegistration
from tests.integrations.fastapi.support import (
    ALICE,
    Chat,
    Exchange,
    Unseen,
    add_chat,
    async_client,
    chat_app,
    client_of,
    current_user,
    scoped,
)


class Recorded:
    """Registrations and lifespans that write down in which order they end."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def registration(self, name: str = "chat") -> ScopedRegistration[Chat, str]:
        @asynccontextmanager
        async def build(context: ScopeContext[str]) -> AsyncGenerator[Chat, None]:
            self.events.append(f"{name} opens")
            yield Chat(context)
            self.events.append(f"{name} closes")

        return RegistrationBuilder(name).isolation(ScopedFactory(build, scope=current_user)).build()

    async def generator(self, app: FastAPI) -> AsyncGenerator[dict[str, str], None]:
        self.events.append("user opens")
        yield {"database": "open"}
        self.events.append("user closes")

    def lifespan(self, who: str = "user") -> Unseen:
        @asynccontextmanager
        async def lifespan(app: FastAPI) -> AsyncGenerator[dict[str, str], None]:
            self.events.append(f"{who} opens")
            yield {"database": "open"}
            self.events.append(f"{who} closes")

        return lifespan


async def database(request: Request) -> str:
    state: str = request.state.database
    return state


ORDER = ["user opens", "chat opens", "chat closes", "user closes"]


@pytest.mark.parametrize("style", ["function", "generator"])
@pytest.mark.filterwarnings("ignore:async generator function lifespans are deprecated")
def test_p8_the_users_lifespan_runs_and_registrations_close_inside_it(style: str) -> None:
    recorded = Recorded()
    lifespan: Any = recorded.lifespan()
    if style == "generator":

        async def generator(app: FastAPI) -> AsyncGenerator[dict[str, str], None]:
            async for state in recorded.generator(app):
                yield state

        lifespan = generator
    app = chat_app(recorded.registration(), app=FastAPI(lifespan=lifespan))
    app.add_api_route("/database", database)
    with TestClient(app) as client:
        assert client.get("/database").json() == "open"
        assert client.get("/chat/t1", headers=ALICE).status_code == 200
    assert recorded.events == ORDER


@pytest.mark.filterwarnings("ignore:.*on_event is deprecated")
def test_p8_start_up_and_shutdown_handlers_run_around_registrations() -> None:
    recorded = Recorded()
    app = chat_app(recorded.registration())
    app.router.on_startup.append(lambda: recorded.events.append("user opens"))
    app.router.on_shutdown.append(lambda: recorded.events.append("user closes"))
    with TestClient(app) as client:
        client.get("/chat/t1", headers=ALICE)
    assert recorded.events == ORDER


def test_p8_registrations_close_before_the_resources_of_a_router_that_is_included_later() -> None:
    recorded = Recorded()
    app = chat_app(recorded.registration())
    app.include_router(APIRouter(lifespan=recorded.lifespan()))
    with TestClient(app) as client:
        client.get("/chat/t1", headers=ALICE)
    assert recorded.events == ORDER


@pytest.mark.parametrize("wraps", [True, False])
def test_p8_a_lifespan_that_is_set_after_attaching_leaves_registrations_in_place(
    wraps: bool,
) -> None:
    recorded = Recorded()
    app = chat_app(recorded.registration())
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[Any, None]:
        recorded.events.append("user opens")
        if wraps:
            async with before(app) as state:
                yield state
        else:
            yield {}
        recorded.events.append("user closes")

    app.router.lifespan_context = lifespan
    with TestClient(app) as client:
        client.get("/chat/t1", headers=ALICE)
    assert recorded.events == ORDER


async def test_p8_the_lifespan_context_alone_runs_registrations_too() -> None:
    recorded = Recorded()
    app = chat_app(recorded.registration(), app=FastAPI(lifespan=recorded.lifespan()))
    async with app.router.lifespan_context(app), async_client(app) as client:
        await client.get("/chat/t1", headers=ALICE)
    assert recorded.events == ORDER


def test_p8_registrations_close_when_the_users_shutdown_raises() -> None:
    recorded = Recorded()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        yield
        raise RuntimeError("shutdown")

    app = chat_app(recorded.registration(), app=FastAPI(lifespan=lifespan))
    with pytest.raises(RuntimeError, match="shutdown"), TestClient(app) as client:
        client.get("/chat/t1", headers=ALICE)
    assert recorded.events == ["chat opens", "chat closes"]


def test_p8_one_registration_that_closes_badly_stops_no_other() -> None:
    class Bad(Chat):
        @override
        async def aclose(self) -> None:
            raise RuntimeError("close")

    bad = RegistrationBuilder("bad").isolation(ScopedFactory(Bad, scope=current_user)).build()
    good = scoped("good")
    app = FastAPI()
    attach(app, bad, good)
    add_chat(app, leased(bad), "/bad/{thread_id}")
    add_chat(app, leased(good), "/good/{thread_id}")
    with TestClient(app) as client:
        for name in ("bad", "good"):
            assert client.get(f"/{name}/t1", headers=ALICE).status_code == 200
    assert bad.statistics().close_failures == 1
    assert good.statistics().closed == 1


def test_an_application_that_starts_again_begins_empty() -> None:
    recorded = Recorded()
    app = chat_app(recorded.registration(), app=FastAPI(lifespan=recorded.lifespan()))
    for _ in range(2):
        with TestClient(app) as client:
            assert client.get("/chat/t1", headers=ALICE).json() == {"lines": ["hello"]}
    assert recorded.events == ORDER * 2


def test_two_applications_share_a_registration_that_closes_when_the_last_one_stops() -> None:
    recorded = Recorded()
    registration = recorded.registration()
    first, second = chat_app(registration), chat_app(registration)
    with TestClient(first) as one:
        with TestClient(second) as two:
            one.get("/chat/t1?text=one", headers=ALICE)
            assert two.get("/chat/t1", headers=ALICE).json() == {"lines": ["one", "hello"]}
        assert recorded.events == ["chat opens"]
        assert one.get("/chat/t1", headers=ALICE).json()["lines"] == ["one", "hello", "hello"]
    assert recorded.events == ["chat opens", "chat closes"]


def test_one_application_that_runs_twice_at_once_closes_at_the_end_of_the_last_run() -> None:
    registration = scoped()
    app = chat_app(registration)
    with TestClient(app) as one:
        with TestClient(app) as two:
            two.get("/chat/t1", headers=ALICE)
        assert registration.statistics().live == 1
        assert one.get("/chat/t1", headers=ALICE).json() == {"lines": ["hello", "hello"]}
    assert registration.statistics().live == 0


def test_what_is_attached_to_a_running_application_is_closed_with_it() -> None:
    registration = scoped("late")
    app = chat_app(scoped())
    with TestClient(app) as client:
        attach(app, registration)
        add_chat(app, leased(registration), "/late/{thread_id}")
        assert client.get("/late/t1", headers=ALICE).status_code == 200
    assert registration.statistics().closed == 1


async def test_p5_a_request_that_comes_while_draining_is_503_with_retry_after() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    entered, goes_on = anyio.Event(), anyio.Event()

    async def slow(chat: Annotated[Chat, Depends(leased(registration))]) -> list[str]:
        entered.set()
        await goes_on.wait()
        return chat.say("slow")

    app.add_api_route("/slow/{thread_id}", slow)
    add_chat(app, leased(registration))
    exchange = Exchange(app, "/slow/t1")
    refused: list[httpx.Response] = []
    async with app.router.lifespan_context(app), anyio.create_task_group() as tasks:
        tasks.start_soon(exchange.run)
        await entered.wait()
        tasks.start_soon(registration.shutdown)
        async with async_client(app) as client:
            while not refused:
                answer = await client.get("/chat/t2", headers=ALICE)
                refused += [answer] if answer.is_error else []
        goes_on.set()
    assert (refused[0].status_code, refused[0].headers["retry-after"]) == (503, "1")
    assert refused[0].json()["detail"]["code"] == "draining"
    assert exchange.body == b'["slow"]'
    assert registration.statistics().live == 0


def test_a_registration_that_was_closed_for_ever_is_503() -> None:
    registration = scoped()
    app = chat_app(registration)
    anyio.run(registration.aclose)
    answer = client_of(app).get("/chat/t1", headers=ALICE)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["detail"]["code"] == "registration_closed"
