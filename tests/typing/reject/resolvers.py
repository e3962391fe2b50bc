"""R4, R5, R6: no resolver, one that may return None or no scope, one of another type."""

# One mistake, or one example, is one line.
# fmt: off

from scoped_registration import PersistentShared, ScopeContext, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from scoped_registration.builder import ScopedBuilder
from scoped_registration.registration import ScopedRegistration
from scoped_registration.scope import ScopeResolver
from tests.typing.given.core import (
    Chat,
    MutableTenant,
    Plain,
    Tenant,
    acknowledgement,
    anything,
    api_key,
    async_build,
    async_maybe_resolver,
    async_maybe_user,
    async_maybe_yielding,
    async_roles,
    async_tenant,
    async_user,
    attrs_mutable,
    bearer,
    build,
    chat,
    claims,
    groups,
    maybe_resolver,
    maybe_tenant,
    maybe_union,
    maybe_user,
    maybe_yielding,
    nobody,
    number,
    number_build,
    oauth2,
    opened,
    pair,
    partial_maybe,
    ratio,
    roles,
    tenant,
    tenant_build,
    token_bytes,
    tuple_of_list,
    tuple_of_maybe,
    tuple_of_tuple_of_list,
    union,
    user,
    yielding_roles,
)

ScopedFactory(build)  # R4 @scoped | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
ScopedFactory(lambda context: chat)  # R4 @scoped-lambda | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
ScopedFactory(opened)  # R4 @scoped-opened | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
ScopedFactory(build, scope=None)  # R4 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope="user")  # R4 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=user("user"))  # R4 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, user)  # R4 @scoped | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: unexpected-positional-argument | zuban: call-arg
ScopedFactory(build, access=user)  # R4 @scoped | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
ScopedFactory(build, scope=maybe_user)  # R5 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=async_maybe_user)  # R5 @scoped | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=maybe_resolver)  # R5 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=async_maybe_resolver)  # R5 @scoped | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=api_key)  # R5 @scoped | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=roles)  # R5 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=async_roles)  # R5 @scoped | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=claims)  # R5 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=groups)  # R5 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=nobody)  # R5 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=ratio)  # R5 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(async_build, scope=maybe_user)  # R5 @scoped-async | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(opened, scope=maybe_user)  # R5 @scoped-opened | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(opened, scope=async_maybe_user)  # R5 @scoped-opened | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(tenant_build, scope=maybe_tenant)  # R5 @tenant | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=maybe_user)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=async_maybe_user)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=maybe_resolver)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=async_maybe_resolver)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=partial_maybe)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=maybe_tenant)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=maybe_union)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=nobody)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=lambda: None)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=roles)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=async_roles)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=claims)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=groups)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=tuple_of_list)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=tuple_of_maybe)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=ratio)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=token_bytes)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=anything)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=maybe_yielding)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=async_maybe_yielding)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=yielding_roles)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=tuple_of_tuple_of_list)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser(chat, owner=maybe_yielding)  # R5 @owner | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=Plain)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=MutableTenant)  # R5 @scoped-lambda | mypy: limit(mypy_dataclass_hash) | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=attrs_mutable)  # R5 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=oauth2)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: chat, scope=bearer)  # R5 @scoped-lambda | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(ScopedFactory(lambda context: chat, scope=maybe_user)).build()  # R5 @factory-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(ScopedFactory(build, scope=roles)).build()  # R5 @factory-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser(chat, owner=maybe_user)  # R5 @owner | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser(chat, owner=async_maybe_user)  # R5 @owner | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser(chat, owner=roles)  # R5 @owner | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser(chat, owner="user")  # R5 @owner | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(build, owner=maybe_user)  # R5 @per-thread-owner | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(build, owner=roles)  # R5 @per-thread-owner | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement=acknowledgement, access=maybe_user)  # R5 @access | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement=acknowledgement, access=async_maybe_user)  # R5 @access | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement=acknowledgement, access=claims)  # R5 @access | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
list[ScopeContext[list[str]]]()  # R5 @name-context | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopeContext[str | None]]()  # R5 @name-context | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopeResolver[list[str]]]()  # R5 @name-resolver | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopedFactory[Chat, list[str]]]()  # R5 @name-scoped | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopedFactory[Chat, str | None]]()  # R5 @name-scoped | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopedBuilder[Chat, list[str]]]()  # R5 @type-builder | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopedRegistration[Chat, list[str]]]()  # R5 @type-scoped | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
ScopedFactory(tenant_build, scope=user)  # R6 @tenant | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(tenant_build, scope=pair)  # R6 @tenant | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(tenant_build, scope=async_user)  # R6 @async-tenant | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=Tenant)  # R6 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=tenant)  # R6 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=async_tenant)  # R6 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=number)  # R6 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(build, scope=union)  # R6 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(opened, scope=tenant)  # R6 @scoped-opened | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(number_build, scope=user)  # R6 @number | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(tenant_build)  # R6 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(scope=user)  # R3 @scoped | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
