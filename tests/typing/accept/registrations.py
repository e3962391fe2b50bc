"""What a registration offers in its mode, and the options of each stage."""

# One mistake, or one example, is one line.
# fmt: off

from typing import Any, assert_type

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    ReasonCode,
    Registration,
    RegistrationError,
    ScopeContext,
    ScopedFactory,
    SingleUser,
)
from scoped_registration import RegistrationBuilder as B
from scoped_registration.builder import (
    PerThreadBuilder,
    ScopedBuilder,
    SharedBuilder,
    SingleUserBuilder,
)
from scoped_registration.manifest import Description
from scoped_registration.modes import PerThread
from scoped_registration.registration import (
    PerThreadRegistration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from scoped_registration.runtime.statistics import PoolStatistics
from scoped_registration.scope import ScopeValue, SupportsScopeKey
from tests.typing.given.core import (
    Chat,
    Managed,
    Tenant,
    acknowledgement,
    build,
    chat,
    managed,
    opened,
    sub_chat,
    tenant,
    tenant_build,
    user,
)

scoped = B("x").isolation(ScopedFactory(build, scope=user)).build()
tenants = B("x").isolation(ScopedFactory(tenant_build, scope=tenant)).build()
per_thread = B("x").isolation(SingleUser.per_thread(opened)).build()
single = B("x").isolation(SingleUser(managed)).build()
shared = B("x").isolation(PersistentShared(managed, acknowledgement=acknowledgement)).build()


async def leases() -> None:
    async with scoped.lease("user", "thread") as target: assert_type(target, Chat)  # @lease-target
    async with per_thread.lease("thread") as thread_target: assert_type(thread_target, Chat)  # @lease-thread-target
    async with single.lease() as single_target: assert_type(single_target, Managed)  # @lease-single-target
    async with shared.lease() as shared_target: assert_type(shared_target, Managed)  # @lease-shared-target
    assert_type(await scoped.shutdown(), None)  # @shutdown
    assert_type(await scoped.aclose(), None)  # @aclose
    assert_type(await scoped.verify(), None)  # @verify-now


scoped.lease("user", "thread")  # @lease
scoped.lease(user("user"), "thread")  # @lease-call
scoped.lease(scope="user", thread_id="thread")  # @lease-keywords
tenants.lease(tenant(), "thread")  # @lease-tenant
per_thread.lease("thread")  # @lease-per-thread
single.lease()  # @lease-single
shared.lease()  # @lease-shared
assert_type(scoped.invalidate(), int)  # @invalidate-all
assert_type(scoped.invalidate(scope="user"), int)  # @invalidate
assert_type(scoped.invalidate(scope="user", thread_id="thread"), int)  # @invalidate-both
assert_type(per_thread.invalidate(), int)  # @invalidate-per-thread-all
assert_type(per_thread.invalidate(thread_id="thread"), int)  # @invalidate-per-thread
assert_type(scoped.name, str)  # @name
assert_type(scoped.declared_at, str)  # @declared-at
assert_type(scoped.mode, ScopedFactory[Any, Any])  # @mode
assert_type(per_thread.mode, PerThread[Any])  # @mode-per-thread
assert_type(single.mode, SingleUser[Managed])  # @mode-single
assert_type(shared.mode, PersistentShared[Managed])  # @mode-shared
assert_type(single.mode.target, Managed)  # @target
assert_type(shared.mode.target, Managed)  # @target-shared
assert_type(shared.mode.acknowledgement, Acknowledgement)  # @shared-acknowledgement
assert_type(scoped.statistics(), PoolStatistics)  # @statistics
assert_type(scoped.describe(), Description)  # @describe
assert_type(per_thread.describe(), Description)  # @describe-per-thread
assert_type(single.describe(), Description)  # @describe-single
assert_type(shared.describe(), Description)  # @describe-shared
list[Registration[Chat]]()  # @type-registration
list[ScopedRegistration[Chat, str]]()  # @type-scoped
list[ScopedBuilder[Chat, str]]()  # @type-builder
wide: Registration[Chat] = B("x").isolation(SingleUser(sub_chat)).build()  # @registration-covariant
wide_shared: Registration[Chat] = B("x").isolation(PersistentShared(sub_chat, acknowledgement=acknowledgement)).build()  # @registration-covariant-shared

s = B("x").isolation(ScopedFactory(build, scope=user))
t = B("x").isolation(SingleUser.per_thread(build))
o = B("x").isolation(SingleUser(chat))
p = B("x").isolation(PersistentShared(chat, acknowledgement=acknowledgement))
assert_type(s.build(), ScopedRegistration[Chat, str])  # @stage-build
assert_type(o.build(), SingleUserRegistration[Chat])  # @single-stage-build
assert_type(s.concurrency(policy="queue"), ScopedBuilder[Chat, str])  # @queue-keyword
assert_type(B("x").isolation(ScopedFactory(build, scope=user)).pool(), ScopedBuilder[Chat, str])  # @chain-pool
assert_type(B("x").isolation(SingleUser(chat)).concurrency("queue"), SingleUserBuilder[Chat])  # @chain-concurrency
assert_type(s.pool(), ScopedBuilder[Chat, str])  # @pool
assert_type(s.pool(max_instances=2), ScopedBuilder[Chat, str])  # @pool-instances
assert_type(s.pool(max_instances=None), ScopedBuilder[Chat, str])  # @pool-instances-none
assert_type(s.pool(max_per_scope=2), ScopedBuilder[Chat, str])  # @pool-scope
assert_type(s.pool(max_per_scope=None), ScopedBuilder[Chat, str])  # @pool-scope-none
assert_type(s.pool(idle_ttl=2), ScopedBuilder[Chat, str])  # @pool-idle
assert_type(s.pool(idle_ttl=None), ScopedBuilder[Chat, str])  # @pool-idle-none
assert_type(s.pool(max_age=2.5), ScopedBuilder[Chat, str])  # @pool-age
assert_type(s.pool(max_age=None), ScopedBuilder[Chat, str])  # @pool-age-none
assert_type(s.pool(pin_ttl=2.5), ScopedBuilder[Chat, str])  # @pool-pin
assert_type(s.pool(close_timeout=2.5), ScopedBuilder[Chat, str])  # @pool-close
assert_type(t.pool(), PerThreadBuilder[Chat])  # @thread-pool
assert_type(t.pool(max_instances=2), PerThreadBuilder[Chat])  # @thread-pool-instances
assert_type(t.pool(idle_ttl=2), PerThreadBuilder[Chat])  # @thread-pool-idle
assert_type(t.pool(max_age=2.5), PerThreadBuilder[Chat])  # @thread-pool-age
assert_type(t.pool(pin_ttl=2.5), PerThreadBuilder[Chat])  # @thread-pool-pin
assert_type(t.pool(close_timeout=2.5), PerThreadBuilder[Chat])  # @thread-pool-close
assert_type(s.concurrency("queue"), ScopedBuilder[Chat, str])  # @queue
assert_type(s.concurrency("reject"), ScopedBuilder[Chat, str])  # @reject
assert_type(s.concurrency("queue", max_waiting=2), ScopedBuilder[Chat, str])  # @max-waiting
assert_type(s.concurrency("queue", wait_timeout=2.5), ScopedBuilder[Chat, str])  # @wait-timeout
assert_type(s.verify_at_startup(sample_scopes=["user", "other"]), ScopedBuilder[Chat, str])  # @verify
assert_type(s.verify_at_startup(sample_scopes=("user",)).pool().build(), ScopedRegistration[Chat, str])  # @verify-build
assert_type(B("x").isolation(ScopedFactory(tenant_build, scope=tenant)).verify_at_startup(sample_scopes=[tenant()]), ScopedBuilder[Chat, Tenant])  # @verify-tenant
assert_type(t.concurrency("queue"), PerThreadBuilder[Chat])  # @thread-concurrency
assert_type(o.concurrency("queue"), SingleUserBuilder[Chat])  # @single-concurrency
assert_type(p.concurrency("queue"), SharedBuilder[Chat])  # @shared-concurrency
assert_type(s.pool().concurrency("queue").build(), ScopedRegistration[Chat, str])  # @options-build
assert_type(s.concurrency("reject").pool().build(), ScopedRegistration[Chat, str])  # @options-build-other-order
assert_type(o.concurrency("queue").build(), SingleUserRegistration[Chat])  # @single-options-build
assert_type(t.pool().build(), PerThreadRegistration[Chat])  # @thread-options-build
assert_type(p.concurrency("reject").build(), SharedRegistration[Chat])  # @shared-options-build


def contexts(context: ScopeContext[Tenant]) -> None:
    assert_type(context.scope, Tenant)  # @context-scope
    assert_type(context.current, Tenant)  # @context-current-value
    assert_type(context.thread_id, str)  # @context-thread-id
    assert_type(context.storage_key, str)  # @context-key
    assert_type(context.registration, str)  # @context-name


def wider(context: ScopeContext[Tenant]) -> ScopeContext[Tenant | str]: return context  # @context-covariant
def as_value(value: SupportsScopeKey) -> ScopeValue: return value  # @scope-key-value


def errors(error: RegistrationError) -> None:
    assert_type(error.code, ReasonCode)  # @error-code


def values(value: SupportsScopeKey) -> None:
    assert_type(value.scope_key(), str)  # @scope-key-method
assert_type(scoped.mode.describe_target(), str)  # @describe-target
single.admit("user")  # @admit
per_thread.admit("user")  # @admit-per-thread
assert_type(scoped.mode.describe_shares(), tuple[str, ...])  # @describe-shares


def described(registration: Registration[Chat]) -> None:
    assert_type(registration.describe(), Description)  # @describe-any
