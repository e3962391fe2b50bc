"""`SingleUser` is for one principal: refused behind authentication, or pinned to an owner."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, Security, WebSocket
from fastapi.security import APIKeyHeader, HTTPBasic, HTTPBearer, OAuth2PasswordBearer
from fastapi.testclient import TestClient

from scoped_registration import ReasonCode, RegistrationBuilder, RegistrationError, SingleUser
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import Registration
from tests.integrations.fastapi.support import (
    ALICE,
    BOB,
    CANARY,
    Chat,
    Unseen,
    add_chat,
    as_user,
    client_of,
    current_user,
    start,
    untouched,
)

bearer = OAuth2PasswordBearer(tokenUrl="token")


def instance(owner: Unseen = None) -> Unseen:
    return RegistrationBuilder("mine").isolation(SingleUser(Chat(), owner=owner)).build()


def per_thread(owner: Unseen = None) -> Unseen:
    return RegistrationBuilder("mine").isolation(SingleUser.per_thread(Chat, owner=owner)).build()


def checks_token(token: Annotated[str, Depends(bearer)]) -> str:
    return token


def checks_deeply(token: Annotated[str, Depends(checks_token)]) -> str:
    return token


def endpoint_of(registration: Unseen) -> Callable[..., Any]:
    async def endpoint(chat: Annotated[Chat, Depends(leased(registration))]) -> list[str]:
        return chat.lines

    return endpoint


def on_the_route(app: FastAPI, registration: Unseen) -> None:
    app.add_api_route("/{thread_id}", endpoint_of(registration), dependencies=[Depends(bearer)])


def in_the_endpoint(app: FastAPI, registration: Unseen) -> None:
    async def endpoint(
        user: Annotated[str, Depends(checks_deeply)],
        chat: Annotated[Chat, Depends(leased(registration))],
    ) -> list[str]:
        return chat.lines

    app.add_api_route("/{thread_id}", endpoint)


def on_the_router(app: FastAPI, registration: Unseen) -> None:
    router = APIRouter(dependencies=[Depends(checks_deeply)])
    router.add_api_route("/{thread_id}", endpoint_of(registration))
    app.include_router(router)


def at_the_inclusion(app: FastAPI, registration: Unseen) -> None:
    inner, outer = APIRouter(), APIRouter()
    inner.add_api_route("/{thread_id}", endpoint_of(registration))
    outer.include_router(inner)
    app.include_router(outer, dependencies=[Security(checks_token, scopes=["chat"])])


def on_the_application(app: FastAPI, registration: Unseen) -> None:
    app.router.dependencies.append(Depends(bearer))
    app.add_api_route("/{thread_id}", endpoint_of(registration))


def in_a_mounted_application(app: FastAPI, registration: Unseen) -> None:
    sub = FastAPI(dependencies=[Depends(bearer)])
    sub.add_api_route("/{thread_id}", endpoint_of(registration))
    app.mount("/sub", sub)


def on_a_socket(app: FastAPI, registration: Unseen) -> None:
    async def talk(
        websocket: WebSocket, chat: Annotated[Chat, Depends(leased(registration))]
    ) -> None:
        await websocket.accept()

    router = APIRouter()
    router.add_api_websocket_route("/{thread_id}", talk)
    app.include_router(router, dependencies=[Depends(APIKeyHeader(name="x-key"))])


def under_a_nested_lease(app: FastAPI, registration: Unseen) -> None:
    async def needs(chat: Annotated[Chat, Depends(leased(registration))]) -> Chat:
        return chat

    async def endpoint(chat: Annotated[Chat, Depends(needs)]) -> list[str]:
        return chat.lines

    app.add_api_route("/{thread_id}", endpoint, dependencies=[Depends(HTTPBasic())])


PLACES = [
    on_the_route,
    in_the_endpoint,
    on_the_router,
    at_the_inclusion,
    on_the_application,
    in_a_mounted_application,
    on_a_socket,
    under_a_nested_lease,
]


@pytest.mark.parametrize("make", [instance, per_thread])
@pytest.mark.parametrize("place", PLACES)
def test_without_an_owner_a_route_that_authenticates_stops_the_start(
    place: Callable[[FastAPI, Any], None], make: Callable[..., Registration[Chat]]
) -> None:
    registration = make()
    app = FastAPI()
    attach(app, registration)
    place(app, registration)
    with pytest.raises(RegistrationError) as refused:
        start(app)
    assert refused.value.code is ReasonCode.SINGLE_USER_BEHIND_AUTHENTICATION
    assert "/{thread_id}" in refused.value.problem
    assert refused.value.registration == "mine"


@pytest.mark.parametrize("place", PLACES)
def test_with_an_owner_a_route_may_authenticate(place: Callable[[FastAPI, Any], None]) -> None:
    registration = instance(owner=checks_token)
    app = FastAPI()
    attach(app, registration)
    place(app, registration)
    with TestClient(app):
        pass


def test_without_its_lifespan_the_application_refuses_each_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registration = instance()
    app = FastAPI()
    attach(app, registration)
    on_the_route(app, registration)
    client = client_of(app)
    for _ in range(2):
        answer = client.get("/t1", headers={"authorization": f"Bearer {CANARY}"})
        assert answer.status_code == 500
    assert caplog.text.count("refused: [single_user_behind_authentication]") == 2
    assert CANARY not in caplog.text
    assert untouched(registration)


def test_a_refused_start_ends_the_users_lifespan() -> None:
    events: list[str] = []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        events.append("opens")
        try:
            yield
        finally:
            events.append("closes")

    registration = instance()
    app = FastAPI(dependencies=[Depends(HTTPBearer())], lifespan=lifespan)
    attach(app, registration)
    add_chat(app, leased(registration), "/mine")
    for _ in range(2):
        with pytest.raises(RegistrationError):
            start(app)
    assert events == ["opens", "closes"] * 2


def owned_app(registration: Unseen) -> FastAPI:
    app = FastAPI()
    attach(app, registration)
    add_chat(app, leased(registration), "/chat/{thread_id}")
    return app


@pytest.mark.parametrize("make", [instance, per_thread])
def test_the_first_principal_is_pinned_and_others_are_403(
    make: Callable[..., Registration[Chat]], caplog: pytest.LogCaptureFixture
) -> None:
    registration = make(owner=current_user)
    client = client_of(owned_app(registration))
    pinned = as_user(CANARY)
    assert client.get("/chat/t1", headers=pinned).status_code == 200
    for _ in range(2):
        refused = client.get("/chat/t1", headers=BOB)
        assert refused.status_code == 403
        assert refused.json()["detail"]["code"] == "owner_mismatch"
        assert CANARY not in refused.text
        assert "bob" not in refused.text
    assert client.get("/chat/t1", headers=pinned).json() == {"lines": ["hello", "hello"]}
    assert registration.statistics().built == 1
    assert CANARY not in caplog.text


@pytest.mark.parametrize("make", [instance, per_thread])
def test_an_owner_that_is_nobody_is_401_and_pins_nobody(
    make: Callable[..., Registration[Chat]],
) -> None:
    registration = make(owner=current_user)
    client = client_of(owned_app(registration))
    assert client.get("/chat/t1", headers=as_user(" ")).status_code == 401
    assert client.get("/chat/t1").status_code == 401
    assert untouched(registration)
    assert client.get("/chat/t1", headers=ALICE).status_code == 200


def test_a_request_with_a_bad_thread_id_pins_nobody() -> None:
    registration = per_thread(owner=current_user)
    client = client_of(owned_app(registration))
    assert client.get("/chat/%20", headers=BOB).status_code == 422
    assert untouched(registration)
    assert client.get("/chat/t1", headers=ALICE).status_code == 200
    assert client.get("/chat/t1", headers=BOB).status_code == 403


def test_one_instance_keeps_its_state_across_threads_and_is_never_closed() -> None:
    registration = instance()
    app = owned_app(registration)
    with TestClient(app) as client:
        client.get("/chat/t1")
        assert client.get("/chat/t2").json() == {"lines": ["hello", "hello"]}
    with TestClient(app) as client:
        assert len(client.get("/chat/t1").json()["lines"]) == 3
    assert registration.mode.target.closed == 0


def test_per_thread_keeps_an_instance_for_each_thread() -> None:
    registration = per_thread()
    with TestClient(owned_app(registration)) as client:
        for thread in ("t1", "t2", "t1"):
            answer = client.get(f"/chat/{thread}?text={thread}")
            assert set(answer.json()["lines"]) == {thread}
        assert client.get("/chat/%20").status_code == 422
    assert registration.statistics().built == 2
    assert registration.statistics().closed == 2
