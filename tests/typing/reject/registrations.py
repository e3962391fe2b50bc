"""R10: an option or an argument that the mode does not have; R0: wrong types."""

# One mistake, or one example, is one line.
# fmt: off

from scoped_registration import PersistentShared, Registration, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from tests.typing.given.core import (
    Managed,
    acknowledgement,
    build,
    chat,
    managed,
    opened,
    tenant,
    tenant_build,
    user,
)

scoped = B("x").isolation(ScopedFactory(build, scope=user)).build()
tenants = B("x").isolation(ScopedFactory(tenant_build, scope=tenant)).build()
per_thread = B("x").isolation(SingleUser.per_thread(opened)).build()
single = B("x").isolation(SingleUser(managed)).build()
shared = B("x").isolation(PersistentShared(managed, acknowledgement=acknowledgement)).build()
s = B("x").isolation(ScopedFactory(build, scope=user))
t = B("x").isolation(SingleUser.per_thread(build))
o = B("x").isolation(SingleUser(chat))
p = B("x").isolation(PersistentShared(chat, acknowledgement=acknowledgement))

scoped.lease("thread")  # R10 @lease | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
scoped.lease()  # R10 @lease | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
scoped.lease(tenant(), "thread")  # R10 @lease | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
scoped.lease(None, "thread")  # R10 @lease | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
tenants.lease("user", "thread")  # R10 @lease-tenant | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_thread.lease("user", "thread")  # R10 @lease-per-thread | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
per_thread.lease()  # R10 @lease-per-thread | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
single.lease("thread")  # R10 @lease-single | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
shared.lease("thread")  # R10 @lease-shared | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
shared.lease("user", "thread")  # R10 @lease-shared | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
single.invalidate()  # R10 @invalidate-all | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
shared.invalidate()  # R10 @invalidate-all | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
scoped.invalidate(scope=None)  # R10 @invalidate | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
scoped.invalidate(scope=tenant())  # R10 @invalidate | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
scoped.invalidate("user")  # R10 @invalidate | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
per_thread.invalidate(scope="user")  # R10 @invalidate-per-thread | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
per_thread.invalidate("thread")  # R10 @invalidate-per-thread | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
o.pool(max_instances=2)  # R10 @pool-instances | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
p.pool(max_instances=2)  # R10 @pool-instances | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
t.pool(max_per_scope=2)  # R10 @thread-pool-instances | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
s.concurrency()  # R10 @queue | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
s.concurrency("cancel")  # R10 @queue | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.concurrency(policy=None)  # R10 @queue-keyword | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.pool(2)  # R10 @pool-instances | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
t.pool(2)  # R10 @thread-pool-instances | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
s.pool(maximum=2)  # R10 @pool-instances | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
s.checkpoints("queue")  # R10 @queue | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
s.build(user)  # R10 @stage-build | mypy: call-arg | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-arg

B(None)  # R0 @builder | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B()  # R0 @builder | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
scoped.lease("user", 1)  # R0 @lease | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
scoped.lease("user", None)  # R0 @lease | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_thread.lease(1)  # R0 @lease-per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
scoped.invalidate(scope="user", thread_id=1)  # R0 @invalidate-both | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
scoped.invalidate(scope="user", thread_id=None)  # R0 @invalidate-both | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_thread.invalidate(thread_id=1)  # R0 @invalidate-per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.pool(max_instances="2")  # R0 @pool-instances | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.pool(max_per_scope="2")  # R0 @pool-scope | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.pool(idle_ttl="2")  # R0 @pool-idle | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.pool(max_age="2")  # R0 @pool-age | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.pool(pin_ttl=None)  # R0 @pool-pin | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.pool(close_timeout=None)  # R0 @pool-close | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
t.pool(max_instances="2")  # R0 @thread-pool-instances | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
t.pool(idle_ttl="2")  # R0 @thread-pool-idle | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
t.pool(max_age="2")  # R0 @thread-pool-age | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
t.pool(pin_ttl=None)  # R0 @thread-pool-pin | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
t.pool(close_timeout=None)  # R0 @thread-pool-close | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.concurrency("queue", max_waiting=None)  # R0 @max-waiting | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.concurrency("queue", wait_timeout="2")  # R0 @wait-timeout | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.concurrency("queue", 2)  # R0 @queue | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
ScopedFactory(build, scope=user, shares=1)  # R0 @shares | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
single.admit()  # R0 @admit | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
shared.admit("user")  # R10 @admit | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
scoped.admit("user")  # R10 @admit | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
plain: Registration[Managed] = B("x").isolation(ScopedFactory(opened, scope=user)).build()  # R0 @registration | mypy: assignment | pyright: reportAssignmentType | ty: invalid-assignment | pyrefly: bad-assignment | zuban: assignment
s.verify_at_startup(sample_scopes=[tenant()])  # R10 @verify | mypy: list-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: list-item
s.verify_at_startup(sample_scopes=[None])  # R10 @verify | mypy: list-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: list-item
s.verify_at_startup(sample_scopes=user)  # R10 @verify | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.verify_at_startup(sample_scopes=1)  # R10 @verify | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
s.verify_at_startup()  # R10 @verify | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
s.verify_at_startup(["user"])  # R10 @verify | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: unexpected-positional-argument | zuban: call-arg
B("x").isolation(ScopedFactory(tenant_build, scope=tenant)).verify_at_startup(sample_scopes=["user"])  # R10 @verify-tenant | mypy: list-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: list-item
t.verify_at_startup(sample_scopes=["user"])  # R10 @verify | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
o.verify_at_startup(sample_scopes=["user"])  # R10 @verify | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
p.verify_at_startup(sample_scopes=["user"])  # R10 @verify | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
