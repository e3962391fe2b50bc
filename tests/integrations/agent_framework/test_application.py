"""An AG-UI endpoint in an application: dependencies, OpenAPI, names and routes."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from typing import Annotated, Any

import pytest
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    add_agent_framework_fastapi_endpoint,
)
from fastapi import Depends, FastAPI
from fastapi.security import OAuth2PasswordBearer

from scoped_registration import (
    PersistentShared,
    ReasonCode,
    RegistrationError,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.integrations.application import Application
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    factory_of,
    make_agent,
    make_workflow,
)

bearer_token = OAuth2PasswordBearer("token")


def caller(token: Annotated[str, Depends(bearer_token)]) -> str:
    return token


async def test_the_users_resolver_can_be_overridden(model: RecordingModel) -> None:
    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=current_user)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    app.dependency_overrides[current_user] = lambda: "tester"
    async with client_of(app) as client:
        for user in ("alice", "bob"):
            await client.say(user, "A", f"hello from {user}")
        assert registration.invalidate(scope="tester") == 1
    assert model.calls[1].holds("hello from alice")


asked: list[str] = []


def signed_in(user: Annotated[str, Depends(current_user)]) -> str:
    asked.append(user)
    return user


async def tenant(user: Annotated[str, Depends(signed_in)]) -> tuple[str, str]:
    return ("acme", user)


async def test_the_resolvers_own_dependencies_run_once(model: RecordingModel) -> None:
    asked.clear()
    app = FastAPI(dependencies=[Depends(signed_in)])
    mode = ScopedFactory(lambda context: make_workflow(model), scope=tenant)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with client_of(app) as client:
        answer = await client.say("alice", "A", "hello")
        assert answer.status == 200, answer.body
        assert registration.invalidate(scope=("acme", "alice")) == 1
    assert asked == ["alice"]


async def test_a_resolver_may_return_an_awaitable(model: RecordingModel) -> None:
    async def look_up(user: str) -> str:
        return f"{user}@acme"

    def soon(user: Annotated[str, Depends(current_user)]) -> Awaitable[str]:
        return look_up(user)

    app = FastAPI()
    mode = ScopedFactory(factory_of(model), scope=soon)
    registration = AGUIEndpointBuilder("support").isolation(mode).mount(app)
    async with client_of(app) as client:
        assert (await client.say("alice", "A", "hello")).status == 200
        assert registration.invalidate(scope="alice@acme") == 1


def schema_of(app: FastAPI, path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    schema = app.openapi()
    return schema["paths"][path]["post"], schema["components"]


def opened_session(
    user: Annotated[str, Depends(current_user)],
) -> Iterator[tuple[str, tuple[str, int]]]:
    yield ("acme", (user, 1))


async def test_a_resolver_may_yield(model: RecordingModel) -> None:
    app = FastAPI()
    AGUIEndpointBuilder("support").isolation(
        ScopedFactory(lambda context: make_workflow(model), scope=opened_session)
    ).mount(app)
    async with client_of(app) as client:
        for user in ("alice", "bob", "alice"):
            await client.say(user, "A", f"hello from {user}")
    assert not model.calls[1].holds("hello from alice")
    assert model.calls[2].holds("hello from alice")
    assert not model.calls[2].holds("hello from bob")


async def test_openapi_is_the_raw_endpoints_and_says_the_mode(model: RecordingModel) -> None:
    raw, ours = FastAPI(), FastAPI()
    add_agent_framework_fastapi_endpoint(
        raw, make_workflow(model), "/support", authorization_scope_resolver=current_user
    )
    mode = ScopedFactory(factory_of(model), scope=current_user)
    AGUIEndpointBuilder("support", "/support").isolation(mode).mount(ours)
    (expected, expected_components), (operation, components) = (
        schema_of(app, "/support") for app in (raw, ours)
    )
    (said,) = operation.pop("x-scoped-registration")
    assert (said["name"], said["mode"]) == ("support", "ScopedFactory")
    assert operation == expected
    assert components == expected_components


async def test_shared_is_spoken_of_as_shared(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    mode = PersistentShared(make_workflow(model), acknowledgement=acknowledge())
    AGUIEndpointBuilder("desk", "/desk").isolation(mode).mount(app)
    (said,) = schema_of(app, "/desk")[0]["x-scoped-registration"]
    assert said["mode"] == "PersistentShared"
    assert said["acknowledgement"]["owner"] == "team-support"
    caplog.set_level("INFO", "scoped_registration")
    async with client_of(app):
        pass
    assert "team-support" in caplog.text
    assert "SHARED" in caplog.text


def mount(app: FastAPI, name: str, path: str, mode: Any) -> None:
    stage = declare(mode, name, path)
    stage.mount(app)


def refused(app: FastAPI, name: str, path: str, mode: Any) -> ReasonCode:
    before = (list(app.routes), Application.of(app).registrations)
    with pytest.raises(RegistrationError) as refusal:
        mount(app, name, path, mode)
    assert (list(app.routes), Application.of(app).registrations) == before
    return refusal.value.code


def test_names_and_paths_are_unique(model: RecordingModel) -> None:
    app = FastAPI()

    @app.post("/taken")
    def taken() -> None: ...

    @app.get("/readable")
    def readable() -> None: ...

    def mode() -> Any:
        return ScopedFactory(factory_of(model), scope=current_user)

    mount(app, "support", "/support", mode())
    assert refused(app, "support", "/other", mode()) is ReasonCode.DUPLICATE_NAME
    assert refused(app, "other", "/support", mode()) is ReasonCode.DUPLICATE_ROUTE
    assert refused(app, "other", "/taken", mode()) is ReasonCode.DUPLICATE_ROUTE
    mount(app, "readable", "/readable", mode())
    mount(FastAPI(), "support", "/support", mode())


@pytest.mark.parametrize("kind", ["instance", "per_thread", "runner with a factory"])
def test_a_single_user_behind_authentication_needs_an_owner(
    kind: str, model: RecordingModel
) -> None:
    def mode(owner: Any = None) -> Any:
        if kind == "instance":
            return SingleUser(make_workflow(model), owner=owner)
        if kind == "per_thread":
            return SingleUser.per_thread(factory_of(model), owner=owner)
        runner = AgentFrameworkWorkflow(workflow_factory=lambda thread_id: make_workflow(model))
        return SingleUser(runner, owner=owner)

    app = FastAPI(dependencies=[Depends(bearer_token)])
    assert refused(app, "home", "/", mode()) is ReasonCode.SINGLE_USER_BEHIND_AUTHENTICATION
    mount(app, "home", "/", mode(caller))
    mount(FastAPI(), "home", "/", mode())


def test_one_target_is_served_once(model: RecordingModel) -> None:
    app = FastAPI()
    workflow = make_workflow(model)
    mount(app, "one", "/one", SingleUser(workflow))
    again = ReasonCode.RUNNER_ALREADY_REGISTERED
    assert refused(app, "two", "/two", SingleUser(workflow)) is again
    for wrapped in (
        AgentFrameworkWorkflow(workflow=workflow),
        workflow.as_agent(),
        AgentFrameworkAgent(workflow.as_agent()),
    ):
        shared = PersistentShared(wrapped, acknowledgement=acknowledge())
        assert refused(app, "two", "/two", shared) is again
    mount(app, "two", "/two", SingleUser(make_workflow(model)))
    agent = make_agent(model)
    for name in ("three", "four"):  # a plain agent keeps nothing that two endpoints could share
        mount(app, name, f"/{name}", per_run(agent, scope=current_user))
