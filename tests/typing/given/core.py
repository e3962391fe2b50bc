"""What the corpora use: targets, factories and resolvers of every kind. Nothing here runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from typing import Annotated, Any, NamedTuple, NewType, Self
from uuid import UUID

import attrs
from fastapi import Depends, Header
from fastapi.security import APIKeyHeader, HTTPBearer, OAuth2PasswordBearer
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar

from scoped_registration import (
    Acknowledgement,
    RegistrationBuilder,
    Risk,
    ScopeContext,
    ScopedFactory,
)
from scoped_registration.builder import ScopedBuilder
from scoped_registration.scope import ScopeResolver, ScopeValue

# --- targets ---------------------------------------------------------------------------


class Chat:
    def __init__(self, context: ScopeContext[str]) -> None: ...

    @classmethod
    def of(cls, context: ScopeContext[str]) -> Chat:
        return Chat(context)

    @staticmethod
    def make(context: ScopeContext[str]) -> Chat:
        return Chat(context)


class SubChat(Chat): ...


class Managed:
    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None: ...


class ManagedSync:
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None: ...


class NoContext:
    """A class whose constructor takes nothing: not a factory."""


class CallableTarget:
    """A target that a request calls: an instance, and not a factory."""

    def __call__(self, message: str) -> str:
        return message


def chat_() -> Chat:
    raise NotImplementedError


def sub_chat_() -> SubChat:
    raise NotImplementedError


def pending_() -> Coroutine[Any, Any, Chat]:
    raise NotImplementedError


chat = chat_()
pending = pending_()
sub_chat = sub_chat_()
managed = Managed()
callable_target = CallableTarget()

# --- scope values ----------------------------------------------------------------------

UserId = NewType("UserId", str)


@dataclass(frozen=True)
class Tenant:
    name: str


@attrs.frozen
class AttrsTenant:
    name: str


@attrs.define(frozen=True)
class DefinedTenant:
    name: str


class PydanticTenant(BaseModel):
    model_config = ConfigDict(frozen=True)
    name: str


class NamedTenant(NamedTuple):
    name: str
    number: int


class Region(Enum):
    EU = "eu"


class Keyed:
    def __init__(self, x_key: str) -> None: ...

    def scope_key(self) -> str:
        return "keyed"


class Plain: ...


@dataclass
class MutableTenant:
    name: str


@attrs.define
class MutableAttrsTenant:
    name: str


# --- factories -------------------------------------------------------------------------


def build(context: ScopeContext[str]) -> Chat:
    raise NotImplementedError


async def async_build(context: ScopeContext[str]) -> Chat:
    raise NotImplementedError


@asynccontextmanager
async def opened(context: ScopeContext[str]) -> AsyncGenerator[Chat, None]:
    yield Chat(context)


@contextmanager
def sync_opened(context: ScopeContext[str]) -> Generator[Chat, None, None]:
    yield Chat(context)


def abstract_opened(context: ScopeContext[str]) -> AbstractAsyncContextManager[Chat]:
    raise NotImplementedError


def abstract_sync_opened(context: ScopeContext[str]) -> AbstractContextManager[Chat]:
    raise NotImplementedError


def build_managed(context: ScopeContext[str]) -> Managed:
    raise NotImplementedError


def build_managed_sync(context: ScopeContext[str]) -> ManagedSync:
    raise NotImplementedError


def model_build(model: str, context: ScopeContext[str]) -> Chat:
    raise NotImplementedError


async def async_model_build(model: str, context: ScopeContext[str]) -> Chat:
    raise NotImplementedError


def build_with_default(context: ScopeContext[str], flag: bool = False) -> Chat:
    raise NotImplementedError


def tenant_build(context: ScopeContext[Tenant]) -> Chat:
    raise NotImplementedError


def number_build(context: ScopeContext[int]) -> Chat:
    raise NotImplementedError


def union_build(context: ScopeContext[str | UUID]) -> Chat:
    raise NotImplementedError


@cache
def cached_build(context: ScopeContext[str]) -> Chat:
    raise NotImplementedError


class Builders:
    def build(self, context: ScopeContext[str]) -> Chat:
        raise NotImplementedError

    async def async_build(self, context: ScopeContext[str]) -> Chat:
        raise NotImplementedError

    def without_context(self) -> Chat:
        raise NotImplementedError


class CallableBuilder:
    def __call__(self, context: ScopeContext[str]) -> Chat:
        raise NotImplementedError


class AsyncCallableBuilder:
    async def __call__(self, context: ScopeContext[str]) -> Chat:
        raise NotImplementedError


class CallableWithoutContext:
    def __call__(self) -> Chat:
        raise NotImplementedError


builders = Builders()
callable_builder = CallableBuilder()
async_callable_builder = AsyncCallableBuilder()
callable_without_context = CallableWithoutContext()
partial_build = partial(model_build, "model")
async_partial_build = partial(async_model_build, "model")


def no_context() -> Chat:
    raise NotImplementedError


async def async_no_context() -> Chat:
    raise NotImplementedError


def two_contexts(context: ScopeContext[str], second: str) -> Chat:
    raise NotImplementedError


def of_thread_id(thread_id: str) -> Chat:
    raise NotImplementedError


def keyword_only(context: ScopeContext[str], *, flag: bool) -> Chat:
    raise NotImplementedError


@asynccontextmanager
async def opened_without_context() -> AsyncGenerator[Chat, None]:
    yield chat


@contextmanager
def sync_opened_of_thread_id(thread_id: str) -> Generator[Chat, None, None]:
    yield chat


partial_no_context = partial(no_context)


# --- resolvers -------------------------------------------------------------------------


def user(x_user: Annotated[str, Header()]) -> str:
    return x_user


async def async_user(x_user: str) -> str:
    return x_user


def nested_user(name: Annotated[str, Depends(user)], *, region: str = "eu") -> str:
    return name


class CallableResolver:
    def __call__(self, x_user: str) -> str:
        return x_user


class AsyncCallableResolver:
    async def __call__(self, x_user: str) -> str:
        return x_user


class Auth:
    def user(self) -> str:
        raise NotImplementedError

    @classmethod
    async def current(cls) -> UUID:
        raise NotImplementedError


callable_resolver = CallableResolver()
async_callable_resolver = AsyncCallableResolver()
auth = Auth()


def prefixed(region: str, x_user: str) -> str:
    return region + x_user


partial_resolver = partial(prefixed, "eu")


def user_id() -> UserId:
    raise NotImplementedError


async def async_user_id() -> UserId:
    raise NotImplementedError


def pair() -> tuple[str, str]:
    raise NotImplementedError


def nested_pair() -> tuple[str, tuple[int, UUID]]:
    raise NotImplementedError


def triple() -> tuple[str, int, UUID]:
    raise NotImplementedError


def tenant_pair() -> tuple[Tenant, str]:
    raise NotImplementedError


def named_tuple() -> NamedTenant:
    raise NotImplementedError


def tenant() -> Tenant:
    raise NotImplementedError


async def async_tenant() -> Tenant:
    raise NotImplementedError


def attrs_tenant() -> AttrsTenant:
    raise NotImplementedError


def defined_tenant() -> DefinedTenant:
    raise NotImplementedError


def pydantic_tenant() -> PydanticTenant:
    raise NotImplementedError


def region() -> Region:
    raise NotImplementedError


def keyed() -> Keyed:
    raise NotImplementedError


def uuid() -> UUID:
    raise NotImplementedError


def number() -> int:
    raise NotImplementedError


def union() -> str | UUID:
    raise NotImplementedError


async def async_union() -> str | UUID:
    raise NotImplementedError


def maybe_user() -> str | None:
    raise NotImplementedError


async def async_maybe_user() -> str | None:
    raise NotImplementedError


def maybe_tenant() -> Tenant | None:
    raise NotImplementedError


def maybe_union() -> str | UUID | None:
    raise NotImplementedError


class MaybeResolver:
    def __call__(self) -> str | None:
        raise NotImplementedError


class AsyncMaybeResolver:
    async def __call__(self) -> str | None:
        raise NotImplementedError


maybe_resolver = MaybeResolver()
async_maybe_resolver = AsyncMaybeResolver()
partial_maybe = partial(maybe_user)


def nobody() -> None:
    raise NotImplementedError


def roles() -> list[str]:
    raise NotImplementedError


async def async_roles() -> list[str]:
    raise NotImplementedError


def claims() -> dict[str, str]:
    raise NotImplementedError


def groups() -> set[str]:
    raise NotImplementedError


def tuple_of_list() -> tuple[str, list[str]]:
    raise NotImplementedError


def tuple_of_maybe() -> tuple[str, str | None]:
    raise NotImplementedError


def ratio() -> float:
    raise NotImplementedError


def token_bytes() -> bytes:
    raise NotImplementedError


def anything() -> object:
    raise NotImplementedError


def tuple_of_tuple_of_list() -> tuple[str, tuple[str, list[str]]]:
    raise NotImplementedError


def yielding() -> Iterator[str]:
    yield "user"


def generating() -> Generator[Tenant, None, None]:
    yield tenant()


async def async_yielding() -> AsyncIterator[str]:
    yield "user"


async def async_generating() -> AsyncGenerator[UUID, None]:
    yield uuid()


def maybe_yielding() -> Iterator[str | None]:
    yield None


async def async_maybe_yielding() -> AsyncIterator[str | None]:
    yield None


async def yielding_roles() -> AsyncGenerator[list[str], None]:
    yield roles()


def attrs_mutable() -> MutableAttrsTenant:
    raise NotImplementedError


oauth2 = OAuth2PasswordBearer(tokenUrl="token")
api_key = APIKeyHeader(name="x-key")
bearer = HTTPBearer()

# --- the rest --------------------------------------------------------------------------

acknowledgement = Acknowledgement(reason="one room", owner="sre", risks={Risk.OBJECT_STATE})
TargetT = TypeVar("TargetT")
ScopeT = TypeVar("ScopeT", bound=ScopeValue)


def register(
    factory: Callable[[ScopeContext[ScopeT]], TargetT], resolver: ScopeResolver[ScopeT]
) -> ScopedBuilder[TargetT, ScopeT]:
    """A user's own helper around the library."""
    return RegistrationBuilder("x").isolation(ScopedFactory(factory, scope=resolver))


def something() -> Any:
    raise NotImplementedError
