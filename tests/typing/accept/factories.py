"""Every kind of factory, and what a lambda sees of its context."""

# One mistake, or one example, is one line.
# fmt: off

from typing import assert_type

from scoped_registration import RegistrationBuilder as B
from scoped_registration import ScopeContext, ScopedFactory
from scoped_registration.registration import ScopedRegistration
from scoped_registration.scope import ScopeResolver
from tests.typing.given.core import (
    Chat,
    Managed,
    ManagedSync,
    abstract_opened,
    abstract_sync_opened,
    async_build,
    async_callable_builder,
    async_partial_build,
    build,
    build_managed,
    build_managed_sync,
    build_with_default,
    builders,
    cached_build,
    callable_builder,
    chat,
    managed,
    opened,
    partial_build,
    register,
    sub_chat,
    sync_opened,
    user,
)

assert_type(B("x").isolation(ScopedFactory(build, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-function
assert_type(B("x").isolation(ScopedFactory(async_build, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-async-function
assert_type(B("x").isolation(ScopedFactory(opened, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-asynccontextmanager
assert_type(B("x").isolation(ScopedFactory(sync_opened, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-contextmanager
assert_type(B("x").isolation(ScopedFactory(Chat, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-class
assert_type(B("x").isolation(ScopedFactory(Chat.of, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-classmethod
assert_type(B("x").isolation(ScopedFactory(Chat.make, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-staticmethod
assert_type(B("x").isolation(ScopedFactory(builders.build, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-bound-method
assert_type(B("x").isolation(ScopedFactory(builders.async_build, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-async-bound-method
assert_type(B("x").isolation(ScopedFactory(partial_build, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-partial
assert_type(B("x").isolation(ScopedFactory(async_partial_build, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-async-partial
assert_type(B("x").isolation(ScopedFactory(lambda context: chat, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-lambda
assert_type(B("x").isolation(ScopedFactory(lambda context: async_build(context), scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-lambda-async
assert_type(B("x").isolation(ScopedFactory(lambda context: opened(context), scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-lambda-async-cm
assert_type(B("x").isolation(ScopedFactory(lambda context: sync_opened(context), scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-lambda-cm
assert_type(B("x").isolation(ScopedFactory(callable_builder, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-callable-object
assert_type(B("x").isolation(ScopedFactory(async_callable_builder, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-async-callable-object
assert_type(B("x").isolation(ScopedFactory(cached_build, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-cached
assert_type(B("x").isolation(ScopedFactory(build_with_default, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-default-parameter
assert_type(B("x").isolation(ScopedFactory(build_managed, scope=user)).build(), ScopedRegistration[Managed, str])  # @factory-product-async-cm
assert_type(B("x").isolation(ScopedFactory(build_managed_sync, scope=user)).build(), ScopedRegistration[ManagedSync, str])  # @factory-product-cm
assert_type(B("x").isolation(ScopedFactory(abstract_opened, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-abstract-async-cm
assert_type(B("x").isolation(ScopedFactory(abstract_sync_opened, scope=user)).build(), ScopedRegistration[Chat, str])  # @factory-abstract-cm
assert_type(B("x").isolation(ScopedFactory(lambda context: context.scope, scope=user)).build(), ScopedRegistration[str, str])  # @factory-lambda-scope
assert_type(B("x").isolation(ScopedFactory(lambda context: managed, scope=user)).build(), ScopedRegistration[Managed, str])  # @factory-lambda-managed
assert_type(ScopedFactory(build, scope=user), ScopedFactory[Chat, str])  # @scoped
assert_type(ScopedFactory(lambda context: chat, scope=user), ScopedFactory[Chat, str])  # @scoped-lambda
ScopedFactory(partial_build, scope=user)  # @scoped-partial
assert_type(ScopedFactory(builders.build, scope=user), ScopedFactory[Chat, str])  # @scoped-method
assert_type(ScopedFactory(callable_builder, scope=user), ScopedFactory[Chat, str])  # @scoped-object
ScopedFactory(opened, scope=user)  # @scoped-opened
ScopedFactory(async_build, scope=user)  # @scoped-async
ScopedFactory(sync_opened, scope=user)  # @scoped-sync-opened
assert_type(ScopedFactory(build, scope=user, shares=[Managed, managed]), ScopedFactory[Chat, str])  # @shares
covariant: ScopedFactory[Chat, str] = ScopedFactory(lambda context: sub_chat, scope=user)  # @covariant
def returned() -> ScopedFactory[Chat, str]: return ScopedFactory(build, scope=user)  # @returned
assert_type(ScopedFactory[Chat, str](build, scope=user), ScopedFactory[Chat, str])  # @explicit
assert_type(ScopedFactory(lambda context: context.thread_id, scope=user), ScopedFactory[str, str])  # @context-thread
assert_type(ScopedFactory(lambda context: context.current, scope=user), ScopedFactory[str, str])  # @context-current
assert_type(ScopedFactory(lambda context: context.registration, scope=user), ScopedFactory[str, str])  # @context-registration
assert_type(ScopedFactory(lambda context: context.storage_key, scope=user), ScopedFactory[str, str])  # @context-storage-key
assert_type(register(build, user).build(), ScopedRegistration[Chat, str])  # @helper
assert_type(register(opened, user).build(), ScopedRegistration[Chat, str])  # @helper-opened
list[ScopeContext[str]]()  # @name-context
list[ScopeResolver[str]]()  # @name-resolver
list[ScopedFactory[Chat, str]]()  # @name-scoped
