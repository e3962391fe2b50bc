"""Every kind of resolver, and every shape that a scope may have."""

# One mistake, or one example, is one line.
# fmt: off

from typing import assert_type
from uuid import UUID

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from scoped_registration.modes import PerThread
from scoped_registration.registration import ScopedRegistration
from tests.typing.given.core import (
    AttrsTenant,
    Auth,
    Chat,
    DefinedTenant,
    Keyed,
    NamedTenant,
    PydanticTenant,
    Region,
    Tenant,
    UserId,
    acknowledgement,
    async_callable_resolver,
    async_generating,
    async_tenant,
    async_union,
    async_user,
    async_user_id,
    async_yielding,
    attrs_tenant,
    auth,
    build,
    callable_resolver,
    chat,
    defined_tenant,
    generating,
    keyed,
    named_tuple,
    nested_pair,
    nested_user,
    number,
    number_build,
    pair,
    partial_resolver,
    pydantic_tenant,
    region,
    tenant,
    tenant_build,
    tenant_pair,
    triple,
    union,
    union_build,
    user,
    user_id,
    uuid,
    yielding,
)

assert_type(B("x").isolation(ScopedFactory(build, scope=user)).build(), ScopedRegistration[Chat, str])  # @resolver-function
assert_type(B("x").isolation(ScopedFactory(build, scope=async_user)).build(), ScopedRegistration[Chat, str])  # @resolver-async
assert_type(B("x").isolation(ScopedFactory(build, scope=nested_user)).build(), ScopedRegistration[Chat, str])  # @resolver-nested
assert_type(B("x").isolation(ScopedFactory(build, scope=yielding)).build(), ScopedRegistration[Chat, str])  # @resolver-yielding
assert_type(B("x").isolation(ScopedFactory(build, scope=async_yielding)).build(), ScopedRegistration[Chat, str])  # @resolver-async-yielding
assert_type(B("x").isolation(ScopedFactory(build, scope=callable_resolver)).build(), ScopedRegistration[Chat, str])  # @resolver-object
assert_type(B("x").isolation(ScopedFactory(build, scope=async_callable_resolver)).build(), ScopedRegistration[Chat, str])  # @resolver-async-object
assert_type(B("x").isolation(ScopedFactory(build, scope=partial_resolver)).build(), ScopedRegistration[Chat, str])  # @resolver-partial
assert_type(B("x").isolation(ScopedFactory(build, scope=auth.user)).build(), ScopedRegistration[Chat, str])  # @resolver-method
assert_type(B("x").isolation(ScopedFactory(build, scope=lambda: "user")).build(), ScopedRegistration[Chat, str])  # @resolver-lambda
assert_type(B("x").isolation(ScopedFactory(build, scope=user_id)).build(), ScopedRegistration[Chat, UserId])  # @resolver-newtype
assert_type(B("x").isolation(ScopedFactory(build, scope=async_user_id)).build(), ScopedRegistration[Chat, UserId])  # @resolver-async-newtype
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=pair)).build(), ScopedRegistration[Chat, tuple[str, str]])  # @value-pair
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=triple)).build(), ScopedRegistration[Chat, tuple[str, int, UUID]])  # @value-triple
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=tenant_pair)).build(), ScopedRegistration[Chat, tuple[Tenant, str]])  # @value-tenant-pair
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=nested_pair)).build(), ScopedRegistration[Chat, tuple[str, tuple[int, UUID]]])  # @value-nested-pair
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=generating)).build(), ScopedRegistration[Chat, Tenant])  # @value-generating
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=async_generating)).build(), ScopedRegistration[Chat, UUID])  # @value-async-generating
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=named_tuple)).build(), ScopedRegistration[Chat, NamedTenant])  # @value-namedtuple
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=tenant)).build(), ScopedRegistration[Chat, Tenant])  # @value-dataclass
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=async_tenant)).build(), ScopedRegistration[Chat, Tenant])  # @value-async-dataclass
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=attrs_tenant)).build(), ScopedRegistration[Chat, AttrsTenant])  # @value-attrs-frozen
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=defined_tenant)).build(), ScopedRegistration[Chat, DefinedTenant])  # @value-attrs-define
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=pydantic_tenant)).build(), ScopedRegistration[Chat, PydanticTenant])  # @value-pydantic
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=region)).build(), ScopedRegistration[Chat, Region])  # @value-enum
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=keyed)).build(), ScopedRegistration[Chat, Keyed])  # @value-scope-key
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=uuid)).build(), ScopedRegistration[Chat, UUID])  # @value-uuid
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=number)).build(), ScopedRegistration[Chat, int])  # @value-int
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=async_user_id)).build(), ScopedRegistration[Chat, UserId])  # @value-lambda-async-newtype
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=union)).build(), ScopedRegistration[Chat, str | UUID])  # @value-union | mypy: limit(mypy_union_join)
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=async_union)).build(), ScopedRegistration[Chat, str | UUID])  # @value-async-union
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=Auth.current)).build(), ScopedRegistration[Chat, UUID])  # @value-async-classmethod
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=Tenant)).build(), ScopedRegistration[Chat, Tenant])  # @value-class-dataclass
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=AttrsTenant)).build(), ScopedRegistration[Chat, AttrsTenant])  # @value-class-attrs
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=Keyed)).build(), ScopedRegistration[Chat, Keyed])  # @value-class-scope-key
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=PydanticTenant)).build(), ScopedRegistration[Chat, PydanticTenant])  # @value-class-pydantic | pyrefly: limit(pyrefly_pydantic_class)
assert_type(ScopedFactory(lambda context: context.scope, scope=attrs_tenant), ScopedFactory[AttrsTenant, AttrsTenant])  # @scope-of-lambda
assert_type(ScopedFactory(tenant_build, scope=Tenant), ScopedFactory[Chat, Tenant])  # @class-dependency
assert_type(ScopedFactory(tenant_build, scope=tenant), ScopedFactory[Chat, Tenant])  # @tenant
assert_type(ScopedFactory(tenant_build, scope=async_tenant), ScopedFactory[Chat, Tenant])  # @async-tenant
assert_type(ScopedFactory(number_build, scope=number), ScopedFactory[Chat, int])  # @number
assert_type(ScopedFactory(union_build, scope=user), ScopedFactory[Chat, str])  # @wider-factory
assert_type(ScopedFactory(union_build, scope=union), ScopedFactory[Chat, str | UUID])  # @union-factory | mypy: limit(mypy_union_join)
assert_type(ScopedFactory(union_build, scope=async_union), ScopedFactory[Chat, str | UUID])  # @async-union-factory
assert_type(ScopedFactory[Chat, str | UUID](union_build, scope=union), ScopedFactory[Chat, str | UUID])  # @union-explicit
assert_type(SingleUser(chat, owner=user), SingleUser[Chat])  # @owner
assert_type(SingleUser(chat, owner=async_user_id), SingleUser[Chat])  # @owner-async
assert_type(SingleUser(chat, owner=yielding), SingleUser[Chat])  # @owner-yielding
assert_type(SingleUser(chat, owner=union), SingleUser[Chat])  # @owner-union
assert_type(SingleUser.per_thread(build, owner=user), PerThread[Chat])  # @per-thread-owner
assert_type(PersistentShared(chat, acknowledgement=acknowledgement, access=user), PersistentShared[Chat])  # @access
assert_type(PersistentShared(chat, acknowledgement=acknowledgement, access=async_tenant), PersistentShared[Chat])  # @access-async
