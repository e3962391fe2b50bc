"""A resolver is a FastAPI dependency of any kind, with dependencies of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import pytest
from fastapi import Depends, Header, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from scoped_registration.integrations.fastapi import leased
from tests.integrations.fastapi.support import Chat, chat_app, client_of, scoped, untouched

User = Annotated[str, Header(alias="x-user")]
ended: list[str] = []


def sync(user: User) -> str:
    return user


async def coroutine(user: User) -> str:
    return user


def returns_an_awaitable(user: User) -> Awaitable[str]:
    return coroutine(user)


def generator(user: User) -> Iterator[str]:
    yield user
    ended.append("generator")


async def async_generator(user: User) -> AsyncIterator[str]:
    yield user
    ended.append("async generator")


@dataclass(frozen=True)
class Caller:
    user: User


class CallableObject:
    async def __call__(self, user: User) -> str:
        return user


class Service:
    def user_of(self, user: User) -> str:
        return user


def of_request(request: Request) -> str:
    return request.headers["x-user"]


def with_own_dependencies(
    user: Annotated[str, Depends(coroutine)], same: Annotated[str, Depends(coroutine)]
) -> str:
    assert user == same
    return user


def prefixed(prefix: str, user: User) -> str:
    return prefix + user


KINDS: dict[str, Callable[..., Any]] = {
    "sync": sync,
    "async": coroutine,
    "returns an awaitable": returns_an_awaitable,
    "generator": generator,
    "async generator": async_generator,
    "class": Caller,
    "callable object": CallableObject(),
    "bound method": Service().user_of,
    "request": of_request,
    "own dependencies": with_own_dependencies,
    "partial": partial(prefixed, "user-"),
}


@pytest.mark.parametrize("resolver", KINDS.values(), ids=KINDS)
def test_a_resolver_of_each_kind_separates_its_users(resolver: Callable[..., Any]) -> None:
    registration = scoped(scope=resolver)
    client = client_of(chat_app(registration))
    for user in ("alice", "bob", "alice"):
        answer = client.get("/chat/t1", params={"text": user}, headers={"x-user": user})
        assert answer.status_code == 200, answer.text
        assert set(answer.json()["lines"]) == {user}
    assert registration.statistics().built == 2


@pytest.mark.parametrize("resolver", KINDS.values(), ids=KINDS)
def test_what_a_resolver_needs_is_missing(resolver: Callable[..., Any]) -> None:
    registration = scoped(scope=resolver)
    answer = client_of(chat_app(registration)).get("/chat/t1")
    assert answer.status_code == (500 if resolver is of_request else 422)
    assert untouched(registration)


def test_a_generator_resolver_ends_after_the_lease() -> None:
    order: list[str] = []

    def resolver() -> Iterator[str]:
        yield "alice"
        order.append(f"resolver ends with {registration.statistics().leased} leased")

    kind: Callable[..., Any] = resolver
    registration = scoped(scope=kind)
    assert client_of(chat_app(registration)).get("/chat/t1").status_code == 200
    assert order == ["resolver ends with 0 leased"]


def test_a_resolver_behind_security_scopes() -> None:
    asked: list[list[str]] = []
    bearer = HTTPBearer(auto_error=False)

    def token(
        scopes: SecurityScopes,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> str:
        if credentials is None:
            raise HTTPException(401, headers={"WWW-Authenticate": f'scope="{scopes.scope_str}"'})
        asked.append(scopes.scopes)
        return credentials.credentials

    def resolver(user: Annotated[str, Security(token, scopes=["chat:write"])]) -> str:
        return user

    registration = scoped(scope=resolver)
    client = client_of(chat_app(registration))
    refused = client.get("/chat/t1")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (
        401,
        'scope="chat:write"',
    )
    assert untouched(registration)
    answer = client.get("/chat/t1", headers={"authorization": "Bearer alice"})
    assert answer.status_code == 200
    assert asked == [["chat:write"]]


def test_a_resolver_may_be_used_by_the_endpoint_as_well_and_runs_once() -> None:
    calls: list[str] = []

    def resolver(user: User) -> str:
        calls.append(user)
        return user

    registration = scoped(scope=resolver)
    app = chat_app(registration)

    async def endpoint(
        user: Annotated[str, Depends(resolver)],
        chat: Annotated[Chat, Depends(leased(registration))],
    ) -> list[str]:
        return chat.say(user)

    app.add_api_route("/both/{thread_id}", endpoint)
    answer = client_of(app).get("/both/t1", headers={"x-user": "alice"})
    assert answer.json() == ["alice"]
    assert calls == ["alice"]
