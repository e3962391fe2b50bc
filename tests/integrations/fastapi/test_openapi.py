"""Scope and thread stand in the OpenAPI document, and so does the mode (promise P10)."""

from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.security import OAuth2PasswordBearer

from scoped_registration import RegistrationBuilder, SingleUser
from scoped_registration.integrations.fastapi import attach, leased
from tests.integrations.fastapi.support import Chat, add_chat, chat_app, client_of, scoped, shared

EXTENSION = "x-scoped-registration"
bearer = OAuth2PasswordBearer(tokenUrl="token")


def token_user(token: Annotated[str, Depends(bearer)]) -> str:
    return token


def schema_of(app: FastAPI, path: str = "/openapi.json") -> dict[str, Any]:
    schema: dict[str, Any] = client_of(app).get(path).json()
    return schema


def marked(schema: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of the registrations on each operation that shows any."""
    return {
        f"{method} {path}": [entry["name"] for entry in operation[EXTENSION]]
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if EXTENSION in operation
    }


def test_scope_and_thread_are_parameters_of_the_operation() -> None:
    schema = schema_of(chat_app(scoped()))
    parameters = schema["paths"]["/chat/{thread_id}"]["get"]["parameters"]
    assert {(p["name"], p["in"], p["required"]) for p in parameters} == {
        ("thread_id", "path", True),
        ("x-user", "header", False),
        ("text", "query", False),
    }


def test_a_thread_that_is_not_in_the_path_is_a_required_query_parameter() -> None:
    schema = schema_of(chat_app(scoped(), path="/chat"))
    parameters = schema["paths"]["/chat"]["get"]["parameters"]
    assert ("thread_id", "query", True) in {(p["name"], p["in"], p["required"]) for p in parameters}


def test_a_constant_thread_is_no_parameter() -> None:
    schema = schema_of(chat_app(scoped(), thread="only", path="/chat"))
    parameters = schema["paths"]["/chat"]["get"]["parameters"]
    assert "thread_id" not in {p["name"] for p in parameters}


def test_security_schemes_of_the_resolver_stand_on_the_operation() -> None:
    schema = schema_of(chat_app(scoped(scope=token_user)))
    assert schema["paths"]["/chat/{thread_id}"]["get"]["security"] == [{"OAuth2PasswordBearer": []}]
    assert "OAuth2PasswordBearer" in schema["components"]["securitySchemes"]


def test_p10_the_mode_stands_on_operations_that_use_a_registration_and_on_no_other() -> None:
    app = chat_app(scoped())
    app.add_api_route("/health", lambda: "ok")
    add_chat(app, leased(scoped("other")), "/hidden/{thread_id}", include_in_schema=False)
    schema = schema_of(app)
    assert marked(schema) == {"get /chat/{thread_id}": ["chat"]}
    assert schema["paths"]["/chat/{thread_id}"]["get"][EXTENSION] == [
        {
            "name": "chat",
            "mode": "ScopedFactory",
            "meaning": "one instance per (authorization scope, thread id)",
        }
    ]


def test_p10_a_shared_registration_says_who_accepted_what() -> None:
    room = shared()
    app = FastAPI()
    attach(app, room)
    add_chat(app, leased(room), "/room")
    (entry,) = schema_of(app)["paths"]["/room"]["get"][EXTENSION]
    assert "SHARED" in entry["meaning"]
    assert entry["acknowledgement"] == {
        "reason": "one incident room",
        "owner": "team-sre",
        "risks": ["object_state"],
    }


def test_p10_single_user_says_that_all_callers_are_one_principal() -> None:
    registration = RegistrationBuilder("mine").isolation(SingleUser(Chat())).build()
    app = FastAPI()
    attach(app, registration)
    add_chat(app, leased(registration), "/mine")
    (entry,) = schema_of(app)["paths"]["/mine"]["get"][EXTENSION]
    assert "every caller is one and the same principal" in entry["meaning"]


def test_the_extension_names_no_place_in_the_source() -> None:
    assert "test_openapi" not in str(schema_of(chat_app(scoped())))
    assert "support.py" not in str(schema_of(chat_app(scoped())))


@pytest.mark.filterwarnings("ignore:Duplicate Operation ID")
def test_all_methods_of_a_route_are_marked() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)
    add_chat(app, leased(registration), methods=["POST", "PUT"])
    assert set(marked(schema_of(app))) == {"post /chat/{thread_id}", "put /chat/{thread_id}"}


def test_a_registration_that_is_used_twice_stands_there_once() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)

    async def both(
        one: Annotated[Chat, Depends(leased(registration, "one"))],
        two: Annotated[Chat, Depends(leased(registration, "two"))],
    ) -> bool:
        return one is two

    app.add_api_route("/both", both)
    assert marked(schema_of(app)) == {"get /both": ["chat"]}


def test_routes_of_nested_routers_are_marked_under_their_whole_path() -> None:
    registration = scoped()
    inner, outer, app = APIRouter(prefix="/inner"), APIRouter(prefix="/outer"), FastAPI()
    attach(app, registration)

    async def chat(chat: Annotated[Chat, Depends(leased(registration))]) -> list[str]:
        return chat.lines

    async def plain() -> str:
        return "plain"

    inner.add_api_route("/chat/{thread_id}", chat)
    inner.add_api_route("/plain", plain)
    outer.include_router(inner)
    app.include_router(outer, prefix="/v1")
    assert marked(schema_of(app)) == {"get /v1/outer/inner/chat/{thread_id}": ["chat"]}


def test_dependencies_that_an_inclusion_adds_count() -> None:
    registration = scoped()
    router, app = APIRouter(), FastAPI()
    attach(app, registration)

    async def plain() -> str:
        return "plain"

    router.add_api_route("/plain", plain)
    app.include_router(router, prefix="/kept", dependencies=[Depends(leased(registration, "x"))])
    app.include_router(router, prefix="/bare")
    assert marked(schema_of(app)) == {"get /kept/plain": ["chat"]}


def test_a_lease_that_is_nested_in_other_dependencies_counts() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)

    async def inner(chat: Annotated[Chat, Depends(leased(registration))]) -> Chat:
        return chat

    async def outer(chat: Annotated[Chat, Depends(inner)]) -> Chat:
        return chat

    async def endpoint(chat: Annotated[Chat, Depends(outer)]) -> list[str]:
        return chat.lines

    app.add_api_route("/deep/{thread_id}", endpoint)
    assert marked(schema_of(app)) == {"get /deep/{thread_id}": ["chat"]}


def test_a_mounted_application_shows_modes_in_its_own_document() -> None:
    registration = scoped()
    root, sub = FastAPI(), FastAPI()
    add_chat(sub, leased(registration))
    root.mount("/sub", sub)
    attach(root, registration)
    assert marked(schema_of(root, "/sub/openapi.json")) == {"get /chat/{thread_id}": ["chat"]}
    assert marked(schema_of(root)) == {}


def test_an_application_that_is_mounted_after_attaching_shows_modes_once_started() -> None:
    registration = scoped()
    root, sub = FastAPI(), FastAPI()
    attach(root, registration)
    add_chat(sub, leased(registration))
    root.mount("/sub", sub)
    with client_of(root) as client:
        assert marked(client.get("/sub/openapi.json").json()) == {"get /chat/{thread_id}": ["chat"]}


@pytest.mark.parametrize("attached_first", [True, False])
def test_an_application_may_make_its_schema_itself(attached_first: bool) -> None:
    registration = scoped()
    app = FastAPI()
    if attached_first:
        attach(app, registration)

    def custom() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = get_openapi(title="Custom", version="1", routes=app.routes)
        return app.openapi_schema

    app.openapi = custom  # type: ignore[method-assign]
    if not attached_first:
        attach(app, registration)
    add_chat(app, leased(registration))
    with client_of(app) as client:
        schema = client.get("/openapi.json").json()
    assert schema["info"]["title"] == "Custom"
    assert marked(schema) == {"get /chat/{thread_id}": ["chat"]}


def test_a_document_that_was_made_before_attaching_is_made_again() -> None:
    registration = scoped()
    app = FastAPI()
    add_chat(app, leased(registration))
    assert marked(schema_of(app)) == {}
    attach(app, registration)
    assert marked(schema_of(app)) == {"get /chat/{thread_id}": ["chat"]}
