"""Joining registrations to an application, and what comes of leaving that out."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount

from scoped_registration import (
    ReasonCode,
    RegistrationBuilder,
    RegistrationError,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.fastapi import attach, leased
from tests.integrations.fastapi.support import (
    ALICE,
    CANARY,
    Chat,
    Unseen,
    add_chat,
    as_user,
    chat_app,
    client_of,
    current_user,
    scoped,
    start,
    untouched,
)


def test_two_registrations_of_one_name_are_refused_and_none_is_joined() -> None:
    first, second, third = scoped("chat"), scoped("other"), scoped("chat")
    app = FastAPI()
    with pytest.raises(RegistrationError) as refused:
        attach(app, first, second, third)
    assert refused.value.code is ReasonCode.DUPLICATE_NAME
    assert first.declared_at in refused.value.problem
    add_chat(app, leased(second))
    answer = client_of(app).get("/chat/t1", headers=ALICE)
    assert answer.status_code == 500
    assert untouched(second)


def test_attaching_twice_is_refused_and_changes_nothing() -> None:
    registration = scoped()
    app = chat_app(registration)
    with pytest.raises(RegistrationError, match="duplicate_name"):
        attach(app, registration)
    with TestClient(app) as client:
        assert client.get("/chat/t1", headers=ALICE).status_code == 200
    assert registration.statistics().closed == 1


def test_attaching_in_several_steps_joins_all() -> None:
    first, second = scoped("first"), scoped("second")
    app = FastAPI()
    for registration in (first, second):
        attach(app, registration)
        add_chat(app, leased(registration), f"/{registration.name}/{{thread_id}}")
    with TestClient(app) as client:
        for registration in (first, second):
            assert client.get(f"/{registration.name}/t1", headers=ALICE).status_code == 200
    assert [r.statistics().closed for r in (first, second)] == [1, 1]


def test_names_are_unique_per_application_and_not_per_process() -> None:
    for _ in range(2):
        client = client_of(chat_app(scoped("chat")))
        assert client.get("/chat/t1", headers=ALICE).json() == {"lines": ["hello"]}


@pytest.mark.parametrize(
    "app", [Starlette(), APIRouter(), None], ids=lambda app: type(app).__name__
)
def test_anything_but_an_application_is_refused(app: Unseen) -> None:
    with pytest.raises(RegistrationError) as refused:
        attach(app, scoped())
    assert refused.value.code is ReasonCode.OPTION_INVALID
    assert str(refused.value.declared_at).startswith(__file__)


def test_a_stage_that_was_not_built_is_refused() -> None:
    stage: Any = RegistrationBuilder("chat").isolation(ScopedFactory(Chat, scope=current_user))
    with pytest.raises(RegistrationError, match="build"):
        attach(FastAPI(), stage)
    with pytest.raises(RegistrationError, match="build"):
        leased(stage)


def test_a_registration_that_is_not_attached_is_500_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registration = scoped()
    app = FastAPI()
    add_chat(app, leased(registration))
    answer = client_of(app).get("/chat/t1", headers=as_user(CANARY))
    assert (answer.status_code, answer.json()) == (500, {"detail": "Internal Server Error"})
    assert "not_attached" in caplog.text
    assert "attach(app, registration)" in caplog.text
    assert CANARY not in caplog.text
    assert untouched(registration)


def test_a_registration_that_is_not_attached_stops_the_start_of_an_application_with_others() -> (
    None
):
    forgotten = scoped("forgotten")
    app = chat_app(scoped())
    add_chat(app, leased(forgotten), "/forgotten/{thread_id}")
    with pytest.raises(RegistrationError) as refused:
        start(app)
    assert refused.value.code is ReasonCode.NOT_ATTACHED
    assert refused.value.registration == "forgotten"


def test_a_registration_that_is_attached_to_another_application_only_is_500(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registration = scoped()
    served = client_of(chat_app(registration))
    other = FastAPI()
    add_chat(other, leased(registration))
    assert client_of(other).get("/chat/t1", headers=ALICE).status_code == 500
    assert "not_attached" in caplog.text
    assert served.get("/chat/t1", headers=ALICE).status_code == 200


def test_an_application_without_its_lifespan_is_served_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registration = scoped()
    client = client_of(chat_app(registration))
    for _ in range(2):
        assert client.get("/chat/t1", headers=ALICE).status_code == 200
    assert caplog.text.count("without its lifespan") == 1
    assert registration.statistics().built == 1  # one instance, though each request has a loop


def mounted(root: Unseen, sub: FastAPI, how: str) -> None:
    if how == "mount":
        root.mount("/sub", sub)
    elif how == "middleware":
        root.mount("/sub", GZipMiddleware(sub))
    elif how == "starlette":
        root.mount("/sub", Starlette(routes=[Mount("/", app=sub)]))
    else:
        middle = FastAPI()
        middle.mount("/", sub)
        root.mount("/sub", middle)


HOW = ["mount", "middleware", "starlette", "nested"]


@pytest.mark.parametrize("how", HOW)
def test_a_mounted_application_uses_what_is_attached_to_the_root(how: str) -> None:
    registration = scoped()
    root, sub = FastAPI(), FastAPI()
    attach(root, registration)
    add_chat(sub, leased(registration))
    mounted(root, sub, how)
    with TestClient(root) as client:
        answer = client.get("/sub/chat/t1", headers=ALICE)
        assert answer.json() == {"lines": ["hello"]}
    assert registration.statistics().closed == 1
    assert client_of(root).get("/sub/chat/t1", headers=ALICE).status_code == 200


@pytest.mark.parametrize("how", HOW)
def test_what_is_attached_to_a_mounted_application_only_is_500(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    registration = scoped()
    root, sub = FastAPI(), FastAPI()
    attach(sub, registration)
    add_chat(sub, leased(registration))
    mounted(root, sub, how)
    with client_of(root) as client:
        assert client.get("/sub/chat/t1", headers=ALICE).status_code == 500
    assert "not_attached" in caplog.text
    assert "root application" in caplog.text
    assert untouched(registration)


def test_a_mounted_application_whose_lifespan_is_run_by_the_root_is_served() -> None:
    registration = scoped()
    sub = chat_app(registration)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        async with sub.router.lifespan_context(sub):
            yield

    root = FastAPI(lifespan=lifespan)
    root.mount("/sub", sub)
    with TestClient(root) as client:
        assert client.get("/sub/chat/t1", headers=ALICE).status_code == 200
    assert registration.statistics().closed == 1


def test_dependency_overrides_replace_the_resolver() -> None:
    registration = scoped()
    app = chat_app(registration)
    app.dependency_overrides[current_user] = lambda: "tester"
    client = client_of(app)
    client.get("/chat/t1")
    assert client.get("/chat/t1", headers=ALICE).json() == {"lines": ["hello", "hello"]}


def test_dependency_overrides_of_the_resolver_obey_the_same_rules() -> None:
    registration = scoped()
    app = chat_app(registration)
    app.dependency_overrides[current_user] = lambda: None
    assert client_of(app).get("/chat/t1").status_code == 401
    assert untouched(registration)


def test_dependency_overrides_replace_a_lease() -> None:
    registration = scoped()
    app = FastAPI()  # a lease that is replaced needs no attaching
    add_chat(app, leased(registration))
    fake = Chat()
    app.dependency_overrides[leased(registration)] = lambda: fake
    client = client_of(app)
    assert client.get("/chat/t1?text=faked").json() == {"lines": ["faked"]}
    app.dependency_overrides.clear()
    assert fake.lines == ["faked"]
    assert untouched(registration)


def test_a_lease_on_a_route_that_does_not_take_the_instance_is_a_guard() -> None:
    registration = scoped()
    app = FastAPI(dependencies=[Depends(leased(registration, "guard"))])
    attach(app, registration)
    app.add_api_route("/", lambda: registration.statistics().leased)
    assert client_of(app).get("/", headers=ALICE).json() == 1
    assert client_of(app).get("/", headers=as_user(" ")).status_code == 401


@pytest.mark.parametrize("include", ["route", "router", "nested"])
def test_a_lease_that_ends_before_the_response_is_refused(include: str) -> None:
    registration = scoped()
    app, router = FastAPI(), APIRouter()
    attach(app, registration)

    async def needs(
        chat: Annotated[Chat, Depends(leased(registration), scope="function")],
    ) -> Chat:
        return chat

    async def direct(
        chat: Annotated[Chat, Depends(leased(registration), scope="function")],
    ) -> list[str]:
        return chat.lines

    async def nested(chat: Annotated[Chat, Depends(needs)]) -> list[str]:
        return chat.lines

    router.add_api_route("/{thread_id}", nested if include == "nested" else direct)
    if include == "router":
        app.include_router(router, prefix="/v1")
    else:
        app.add_api_route("/v1/{thread_id}", nested if include == "nested" else direct)
    with pytest.raises(RegistrationError) as refused:
        start(app)
    assert refused.value.code is ReasonCode.LEASE_ENDS_TOO_EARLY
    assert "/v1/{thread_id}" in refused.value.problem
    # Without its lifespan, the application refuses each request.
    assert client_of(app).get("/v1/t1", headers=ALICE).status_code == 500
    assert untouched(registration)


def test_one_object_is_the_target_of_one_registration() -> None:
    chat = Chat()
    app = FastAPI()
    attach(app, RegistrationBuilder("one").isolation(SingleUser(chat)).build())
    other = RegistrationBuilder("other").isolation(SingleUser(chat, owner=current_user)).build()
    with pytest.raises(RegistrationError) as refused:
        attach(app, other)
    assert refused.value.code is ReasonCode.RUNNER_ALREADY_REGISTERED
    assert "'one'" in str(refused.value)
    attach(app, RegistrationBuilder("third").isolation(SingleUser(Chat())).build())
