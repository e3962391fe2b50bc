"""In a WebSocket route a lease lives as long as the handler, and a refusal is a close code."""

import time
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, WebSocket
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from scoped_registration import RegistrationBuilder, RegistrationError, ScopedFactory, SingleUser
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import ScopedRegistration
from tests.integrations.fastapi.support import (
    ALICE,
    BOB,
    CANARY,
    Chat,
    as_user,
    current_user,
    scoped,
    start,
    untouched,
)


def socket_app(registration: ScopedRegistration[Chat, Any]) -> FastAPI:
    app = FastAPI()
    attach(app, registration)

    async def talk(
        websocket: WebSocket, chat: Annotated[Chat, Depends(leased(registration))]
    ) -> None:
        await websocket.accept()
        async for text in websocket.iter_text():
            if text == "fail":
                raise RuntimeError(text)
            await websocket.send_json(chat.say(text))

    app.add_api_websocket_route("/ws/{thread_id}", talk)
    app.add_api_websocket_route("/ws", talk)
    return app


def close_code(client: TestClient, path: str, user: str) -> tuple[int, str]:
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect(path, headers=as_user(user)),
    ):
        pass
    return closed.value.code, closed.value.reason


def assert_all_given_back(registration: ScopedRegistration[Chat, Any]) -> None:
    """An older TestClient leaves a connection before its handler has ended: wait for that."""
    ended = time.monotonic() + 10
    while registration.statistics().leased and time.monotonic() < ended:
        time.sleep(0.01)
    assert registration.statistics().leased == 0


def test_p5_the_lease_lives_as_long_as_the_handler() -> None:
    registration = scoped()
    client = TestClient(socket_app(registration))
    with client:
        with client.websocket_connect("/ws/t1", headers=ALICE) as talk:
            talk.send_text("one")
            assert talk.receive_json() == ["one"]
            assert registration.statistics().leased == 1
            with client.websocket_connect("/ws/t1", headers=BOB) as other:
                other.send_text("two")
                assert other.receive_json() == ["two"]
        with client.websocket_connect("/ws/t1", headers=ALICE) as again:
            again.send_text("three")
            assert again.receive_json() == ["one", "three"]
        assert_all_given_back(registration)


def test_p5_a_handler_that_raises_gives_the_lease_back() -> None:
    registration = scoped()
    client = TestClient(socket_app(registration))

    def fail() -> None:
        with client.websocket_connect("/ws/t1", headers=ALICE) as talk:
            talk.send_text("fail")
            talk.receive_text()

    with pytest.raises(RuntimeError, match="fail"):
        fail()
    assert registration.statistics().leased == 0


@pytest.mark.parametrize("path", ["/ws/%20", "/ws?thread_id=", "/ws"])
def test_a_bad_thread_id_closes_the_socket_before_anything_is_built(path: str) -> None:
    registration = scoped()
    code, _ = close_code(TestClient(socket_app(registration)), path, "alice")
    assert code == 1008
    assert untouched(registration)


def test_a_blank_scope_closes_the_socket_before_anything_is_built() -> None:
    registration = scoped()
    client = TestClient(socket_app(registration))
    assert close_code(client, "/ws/t1", " ") == (1008, "scope_missing")
    assert untouched(registration)


def test_a_busy_thread_asks_to_try_again_later() -> None:
    registration = (
        RegistrationBuilder("chat")
        .isolation(ScopedFactory(Chat, scope=current_user))
        .concurrency("reject")
        .build()
    )
    with TestClient(socket_app(registration)) as client:
        with client.websocket_connect("/ws/t1", headers=ALICE) as talk:
            talk.send_text("one")
            talk.receive_json()
            assert close_code(client, "/ws/t1", "alice") == (1013, "thread_busy")
        assert_all_given_back(registration)


def _fails(context: object) -> Chat:
    raise ValueError(CANARY)


def test_a_fault_of_the_server_closes_the_socket_without_a_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registration = (
        RegistrationBuilder("chat").isolation(ScopedFactory(_fails, scope=current_user)).build()
    )
    assert close_code(TestClient(socket_app(registration)), "/ws/t1", CANARY) == (1011, "")
    assert "factory_failed" in caplog.text
    assert CANARY not in caplog.text


def _included(app: FastAPI, router: APIRouter) -> None:
    app.include_router(router, prefix="/v1")


def _included_twice(app: FastAPI, router: APIRouter) -> None:
    outer = APIRouter()
    outer.include_router(router)
    app.include_router(outer)


@pytest.mark.parametrize("include", [_included, _included_twice])
def test_a_single_user_socket_of_a_router_is_seen_at_start_up(
    include: Callable[[FastAPI, APIRouter], None],
) -> None:
    registration = RegistrationBuilder("mine").isolation(SingleUser(Chat())).build()
    app, router = FastAPI(), APIRouter()
    attach(app, registration)

    async def talk(
        websocket: WebSocket,
        chat: Annotated[Chat, Depends(leased(registration), scope="function")],
    ) -> None:
        await websocket.accept()

    router.add_api_websocket_route("/ws", talk)
    include(app, router)
    with pytest.raises(RegistrationError, match="lease_ends_too_early"):
        start(app)
