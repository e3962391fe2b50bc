"""What a factory does is nobody's business but the log's, and the log keeps its message (P3)."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.testclient import TestClient

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from tests.integrations.fastapi.support import (
    ALICE,
    CANARY,
    CANARY_THREAD,
    Chat,
    Unseen,
    as_user,
    chat_app,
    client_of,
    current_user,
)


def raises(context: Unseen) -> Chat:
    raise ValueError(f"no chat for {context.scope} in {context.thread_id}")


async def raises_late(context: Unseen) -> Chat:
    raise ValueError(f"no chat for {context.scope} in {context.thread_id}")


@asynccontextmanager
async def raises_on_entering(context: Unseen) -> AsyncGenerator[Chat, None]:
    raise ValueError(f"no chat for {context.scope} in {context.thread_id}")
    yield Chat(context)


def forbids(context: Unseen) -> Chat:
    raise HTTPException(403, f"{context.scope} is not welcome", headers={"x-secret": CANARY})


def returns_none(context: Unseen) -> Unseen:
    return None


def returns_a_class(context: Unseen) -> Unseen:
    return Chat


FAILING = [raises, raises_late, raises_on_entering, forbids, returns_none, returns_a_class]


@pytest.mark.parametrize("factory", FAILING)
def test_p3_a_failing_factory_is_a_generic_500_and_keeps_its_message_to_itself(
    factory: Callable[[Any], Any], caplog: pytest.LogCaptureFixture
) -> None:
    registration = (
        RegistrationBuilder("chat").isolation(ScopedFactory(factory, scope=current_user)).build()
    )
    answer = client_of(chat_app(registration)).get(
        f"/chat/{CANARY_THREAD}", headers=as_user(CANARY)
    )
    assert answer.status_code == 500
    assert answer.json() == {"detail": "Internal Server Error"}
    assert "x-secret" not in answer.headers
    assert "factory_" in caplog.text
    assert not any(canary in answer.text + caplog.text for canary in (CANARY, CANARY_THREAD))
    figures = registration.statistics()
    assert (figures.live, figures.leased, figures.build_failures) == (0, 0, 1)


def test_p3_a_failed_build_is_not_kept() -> None:
    failures = [ValueError("once")]

    def fails_once(context: ScopeContext[str]) -> Chat:
        if failures:
            raise failures.pop()
        return Chat(context)

    registration = (
        RegistrationBuilder("chat").isolation(ScopedFactory(fails_once, scope=current_user)).build()
    )
    client = client_of(chat_app(registration))
    assert client.get("/chat/t1", headers=ALICE).status_code == 500
    assert client.get("/chat/t1", headers=ALICE).json() == {"lines": ["hello"]}


def test_p9_a_factory_that_returns_one_object_for_two_principals_is_500_for_the_second(
    caplog: pytest.LogCaptureFixture,
) -> None:
    captured = Chat()
    registration = (
        RegistrationBuilder("chat")
        .isolation(ScopedFactory(lambda context: captured, scope=current_user))
        .build()
    )
    client = client_of(chat_app(registration))
    assert client.get("/chat/t1?text=secret", headers=ALICE).status_code == 200
    refused = client.get("/chat/t1", headers=as_user(CANARY))
    assert (refused.status_code, refused.json()) == (500, {"detail": "Internal Server Error"})
    assert "factory_returned_shared_instance" in caplog.text
    assert CANARY not in caplog.text
    assert len(client.get("/chat/t1", headers=ALICE).json()["lines"]) == 2


def test_p8_a_context_managed_instance_ends_with_the_application() -> None:
    ends: list[str] = []

    @asynccontextmanager
    async def build(context: ScopeContext[str]) -> AsyncGenerator[Chat, None]:
        yield Chat(context)
        ends.append(context.thread_id)

    registration = (
        RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=current_user)).build()
    )
    with TestClient(chat_app(registration)) as client:
        for thread in ("t1", "t2", "t1"):
            client.get(f"/chat/{thread}", headers=ALICE)
        assert ends == []
    assert sorted(ends) == ["t1", "t2"]


class Roled:
    """A principal whose key is the name alone; its roles change."""

    def __init__(self, name: str, roles: str) -> None:
        self.name = name
        self.roles = roles

    def scope_key(self) -> str:
        return self.name


def test_current_is_the_caller_of_now_and_scope_the_one_that_built_the_instance() -> None:
    def resolver(x_user: Annotated[str, Header()], x_roles: Annotated[str, Header()]) -> Roled:
        return Roled(x_user, x_roles)

    class Desk:
        def __init__(self, context: ScopeContext[Roled]) -> None:
            self.context = context

    registration = (
        RegistrationBuilder("desk").isolation(ScopedFactory(Desk, scope=resolver)).build()
    )
    app = FastAPI()
    attach(app, registration)

    async def roles(desk: Annotated[Desk, Depends(leased(registration))]) -> list[str]:
        return [desk.context.scope.roles, desk.context.current.roles]

    app.add_api_route("/{thread_id}", roles)
    client = client_of(app)
    for now in ("admin", "guest", "admin"):
        answer = client.get("/t1", headers=ALICE | {"x-roles": now})
        assert answer.json() == ["admin", now]
    assert registration.statistics().built == 1
