"""The mistakes as people write them, over several lines. ``# at`` marks the place at fault."""

from dataclasses import dataclass

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    RegistrationBuilder,
    Risk,
    ScopeContext,
    ScopedFactory,
    SingleUser,
)


class Chat: ...


@dataclass(frozen=True)
class Tenant:
    name: str


def factory(context: ScopeContext[str]) -> Chat:
    raise NotImplementedError


async def async_factory(context: ScopeContext[str]) -> Chat:
    raise NotImplementedError


def tenant_factory(context: ScopeContext[Tenant]) -> Chat:
    raise NotImplementedError


def no_context() -> Chat:
    raise NotImplementedError


def takes_thread_id(thread_id: str) -> Chat:
    raise NotImplementedError


def user() -> str:
    raise NotImplementedError


def maybe_user() -> str | None:
    raise NotImplementedError


async def async_maybe_user() -> str | None:
    raise NotImplementedError


def roles() -> list[str]:
    raise NotImplementedError


chat = Chat()
acknowledgement = Acknowledgement(reason="r", owner="o", risks={Risk.OBJECT_STATE})

RegistrationBuilder("R2").isolation(
    chat  # at R2
)
RegistrationBuilder("R2-class").isolation(
    Chat  # at R2-class
)
RegistrationBuilder("R2-factory").isolation(
    factory  # at R2-factory
)
RegistrationBuilder("R3").isolation(
    ScopedFactory(
        chat,  # at R3
        scope=user,
    )
).build()
RegistrationBuilder("R3-per-thread").isolation(
    SingleUser.per_thread(
        chat,  # at R3-per-thread
    )
).build()
RegistrationBuilder("R4-missing").isolation(
    ScopedFactory(  # at R4-missing
        factory,
    )
).build()
RegistrationBuilder("R4-none").isolation(
    ScopedFactory(
        factory,
        scope=None,  # at R4-none
    )
).build()
RegistrationBuilder("R5").isolation(
    ScopedFactory(
        factory,
        scope=maybe_user,  # at R5
    )
).build()
RegistrationBuilder("R5-async-factory").isolation(
    ScopedFactory(
        async_factory,
        scope=maybe_user,  # at R5-async-factory
    )
).build()
RegistrationBuilder("R5-lambda").isolation(
    ScopedFactory(
        lambda context: chat,
        scope=maybe_user,  # at R5-lambda
    )
).build()
RegistrationBuilder("R5-list").isolation(
    ScopedFactory(
        lambda context: chat,
        scope=roles,  # at R5-list
    )
).build()
RegistrationBuilder("R5-async").isolation(
    ScopedFactory(  # at R5-async (mypy)
        factory,
        scope=async_maybe_user,  # at R5-async (pyright)
    )
).build()
RegistrationBuilder("R5-async-lambda").isolation(
    ScopedFactory(  # at R5-async-lambda (mypy)
        lambda context: chat,
        scope=async_maybe_user,  # at R5-async-lambda (pyright)
    )
).build()
RegistrationBuilder("R5-owner").isolation(
    SingleUser(
        chat,
        owner=maybe_user,  # at R5-owner
    )
)
RegistrationBuilder("R5-access").isolation(
    PersistentShared(
        chat,
        acknowledgement=acknowledgement,
        access=maybe_user,  # at R5-access
    )
)
RegistrationBuilder("R6").isolation(
    ScopedFactory(
        tenant_factory,  # at R6 (mypy)
        scope=user,  # at R6 (pyright)
    )
).build()
RegistrationBuilder("R7-arity").isolation(
    ScopedFactory(
        no_context,  # at R7-arity
        scope=user,
    )
).build()
RegistrationBuilder("R7-type").isolation(
    ScopedFactory(
        takes_thread_id,  # at R7-type
        scope=user,
    )
).build()
RegistrationBuilder("R7-lambda").isolation(
    ScopedFactory(
        lambda: chat,  # at R7-lambda
        scope=user,
    )
).build()
RegistrationBuilder("R8").isolation(
    SingleUser(  # at R8 (mypy)
        chat,
        scope=user,  # at R8 (pyright)
    )
)
RegistrationBuilder("R9-missing").isolation(
    PersistentShared(  # at R9-missing
        chat,
    )
)
RegistrationBuilder("R9-true").isolation(
    PersistentShared(
        chat,
        acknowledgement=True,  # at R9-true
    )
)
RegistrationBuilder("R9-incomplete").isolation(
    PersistentShared(
        chat,
        acknowledgement=Acknowledgement(  # at R9-incomplete
            reason="r",
            owner="o",
        ),
    )
)
