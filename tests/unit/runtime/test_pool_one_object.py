"""One object is the instance of one key, whichever registration has it (P2, P9)."""

from __future__ import annotations

import pytest

from scoped_registration import (
    ReasonCode,
    RegistrationBuilder,
    RegistrationError,
    ScopeContext,
    ScopedFactory,
)
from scoped_registration.registration import ScopedRegistration


class Chat: ...


def user() -> str:
    return "alice"


def returning(name: str, chat: Chat) -> ScopedRegistration[Chat, str]:
    def build(context: ScopeContext[str]) -> Chat:
        return chat

    return RegistrationBuilder(name).isolation(ScopedFactory(build, scope=user)).build()


async def test_p2_two_registrations_do_not_share_one_object() -> None:
    chat = Chat()
    first, second = returning("first", chat), returning("second", chat)
    async with first.lease("alice", "t") as hers:
        with pytest.raises(RegistrationError) as refused:
            async with second.lease("bob", "t"):
                raise AssertionError("bob was served with the object of alice")
        assert refused.value.code is ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE
        assert hers is chat
    async with first.lease("alice", "t") as again:
        assert again is chat
    await first.aclose()
    async with second.lease("bob", "t") as his:  # nobody else has it any more
        assert his is chat
    await second.aclose()
