"""What the benchmarks register: a small target, a factory, and the registration of it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import Header

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.registration import ScopedRegistration

__all__ = ["Chat", "current_user", "managed", "register"]


class Chat:
    """A small object; only its identity counts."""


async def current_user(x_user: Annotated[str, Header()]) -> str:  # a thread would be measured
    return x_user


def plain(context: ScopeContext[str]) -> Chat:
    return Chat()


@contextlib.asynccontextmanager
async def managed(context: ScopeContext[str]) -> AsyncGenerator[Chat, None]:
    yield Chat()


def register(factory: Any = plain, **bounds: Any) -> ScopedRegistration[Chat, str]:
    """Return a registration of chats with other bounds than the default ones.

    Any: a factory of chats of each kind, and the options of `pool`.
    """
    mode: ScopedFactory[Chat, str] = ScopedFactory(factory, scope=current_user)
    builder = RegistrationBuilder("chat").isolation(mode)
    builder = builder.concurrency("queue", max_waiting=1000)  # a crowd is not to be turned away
    return (builder.pool(**bounds) if bounds else builder).build()
