"""The modes, the stages they open and what those build."""

# One mistake, or one example, is one line.
# fmt: off

from datetime import date
from typing import assert_type

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    Registration,
    Risk,
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
from scoped_registration.modes import IsolationMode, Mode, PerThread, Resolver
from scoped_registration.registration import (
    PerThreadRegistration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from tests.typing.given.core import (
    Chat,
    Managed,
    ManagedSync,
    SubChat,
    abstract_opened,
    abstract_sync_opened,
    acknowledgement,
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
    sub_chat,
    sync_opened,
    user,
)

assert_type(B("x"), B)  # @builder
assert_type(B("x").isolation(SingleUser(chat)), SingleUserBuilder[Chat])  # @single
assert_type(B("x").isolation(ScopedFactory(build, scope=user)), ScopedBuilder[Chat, str])  # @stage-scoped
assert_type(B("x").isolation(SingleUser.per_thread(build)), PerThreadBuilder[Chat])  # @stage-per-thread
assert_type(B("x").isolation(PersistentShared(chat, acknowledgement=acknowledgement)), SharedBuilder[Chat])  # @stage-shared
assert_type(B("x").isolation(SingleUser(chat)).build(), SingleUserRegistration[Chat])  # @single-build
assert_type(B("x").isolation(ScopedFactory(build, scope=user)).build(), ScopedRegistration[Chat, str])  # @scoped-build
assert_type(B("x").isolation(PersistentShared(chat, acknowledgement=acknowledgement)).build(), SharedRegistration[Chat])  # @shared-build
assert_type(B("x").isolation(SingleUser(sub_chat)).build(), SingleUserRegistration[SubChat])  # @single-sub
assert_type(B("x").isolation(SingleUser(managed)).build(), SingleUserRegistration[Managed])  # @single-managed
assert_type(B("x").isolation(SingleUser.per_thread(build)).build(), PerThreadRegistration[Chat])  # @per-thread-function
assert_type(B("x").isolation(SingleUser.per_thread(async_build)).build(), PerThreadRegistration[Chat])  # @per-thread-async-function
assert_type(B("x").isolation(SingleUser.per_thread(opened)).build(), PerThreadRegistration[Chat])  # @per-thread-asynccontextmanager
assert_type(B("x").isolation(SingleUser.per_thread(sync_opened)).build(), PerThreadRegistration[Chat])  # @per-thread-contextmanager
assert_type(B("x").isolation(SingleUser.per_thread(Chat)).build(), PerThreadRegistration[Chat])  # @per-thread-class
assert_type(B("x").isolation(SingleUser.per_thread(Chat.of)).build(), PerThreadRegistration[Chat])  # @per-thread-classmethod
assert_type(B("x").isolation(SingleUser.per_thread(Chat.make)).build(), PerThreadRegistration[Chat])  # @per-thread-staticmethod
assert_type(B("x").isolation(SingleUser.per_thread(builders.build)).build(), PerThreadRegistration[Chat])  # @per-thread-bound-method
assert_type(B("x").isolation(SingleUser.per_thread(builders.async_build)).build(), PerThreadRegistration[Chat])  # @per-thread-async-bound-method
assert_type(B("x").isolation(SingleUser.per_thread(partial_build)).build(), PerThreadRegistration[Chat])  # @per-thread-partial
assert_type(B("x").isolation(SingleUser.per_thread(async_partial_build)).build(), PerThreadRegistration[Chat])  # @per-thread-async-partial
assert_type(B("x").isolation(SingleUser.per_thread(lambda context: chat)).build(), PerThreadRegistration[Chat])  # @per-thread-lambda
assert_type(B("x").isolation(SingleUser.per_thread(lambda context: async_build(context))).build(), PerThreadRegistration[Chat])  # @per-thread-lambda-async
assert_type(B("x").isolation(SingleUser.per_thread(lambda context: opened(context))).build(), PerThreadRegistration[Chat])  # @per-thread-lambda-async-cm
assert_type(B("x").isolation(SingleUser.per_thread(lambda context: sync_opened(context))).build(), PerThreadRegistration[Chat])  # @per-thread-lambda-cm
assert_type(B("x").isolation(SingleUser.per_thread(callable_builder)).build(), PerThreadRegistration[Chat])  # @per-thread-callable-object
assert_type(B("x").isolation(SingleUser.per_thread(async_callable_builder)).build(), PerThreadRegistration[Chat])  # @per-thread-async-callable-object
assert_type(B("x").isolation(SingleUser.per_thread(cached_build)).build(), PerThreadRegistration[Chat])  # @per-thread-cached
assert_type(B("x").isolation(SingleUser.per_thread(build_with_default)).build(), PerThreadRegistration[Chat])  # @per-thread-default-parameter
assert_type(B("x").isolation(SingleUser.per_thread(build_managed)).build(), PerThreadRegistration[Managed])  # @per-thread-product-async-cm
assert_type(B("x").isolation(SingleUser.per_thread(build_managed_sync)).build(), PerThreadRegistration[ManagedSync])  # @per-thread-product-cm
assert_type(B("x").isolation(SingleUser.per_thread(abstract_opened)).build(), PerThreadRegistration[Chat])  # @per-thread-abstract-async-cm
assert_type(B("x").isolation(SingleUser.per_thread(abstract_sync_opened)).build(), PerThreadRegistration[Chat])  # @per-thread-abstract-cm
assert_type(SingleUser(chat), SingleUser[Chat])  # @single-user
assert_type(SingleUser.per_thread(build), PerThread[Chat])  # @per-thread
assert_type(SingleUser.per_thread(lambda context: chat), PerThread[Chat])  # @per-thread-l
SingleUser.per_thread(opened)  # @per-thread-cm
assert_type(SingleUser.per_thread(lambda context: context.scope), PerThread[str])  # @per-thread-scope
assert_type(PersistentShared(chat, acknowledgement=acknowledgement), PersistentShared[Chat])  # @shared
assert_type(Acknowledgement(reason="r", owner="o", risks={Risk.OBJECT_STATE}), Acknowledgement)  # @ack
assert_type(Acknowledgement(reason="r", owner="o", risks=[Risk.OBJECT_STATE], review_by=date(2030, 1, 1)), Acknowledgement)  # @ack-review
assert_type(acknowledgement.reason, str)  # @ack-reason
assert_type(acknowledgement.owner, str)  # @ack-owner
assert_type(acknowledgement.risks, frozenset[Risk])  # @ack-risks
assert_type(acknowledgement.review_by, date | None)  # @ack-review-by
assert_type(acknowledgement.overdue(date(2030, 1, 1)), bool)  # @ack-overdue
PersistentShared(chat, acknowledgement=Acknowledgement(reason="r", owner="o", risks={Risk.OBJECT_STATE}))  # @shared-ack
wider: SingleUser[Chat] = SingleUser(sub_chat)  # @covariant-single
shared_wider: PersistentShared[Chat] = PersistentShared(sub_chat, acknowledgement=acknowledgement)  # @covariant-shared
plain: Registration[Chat] = B("x").isolation(ScopedFactory(opened, scope=user)).build()  # @registration
modes: list[Mode] = [SingleUser(chat), SingleUser.per_thread(build), ScopedFactory(build, scope=user), PersistentShared(chat, acknowledgement=acknowledgement)]  # @closed-union
list[Resolver]()  # @name-resolver-alias
list[SingleUser[Chat]]()  # @name-single
list[PerThread[Chat]]()  # @name-per-thread
list[PersistentShared[Chat]]()  # @name-shared
list[IsolationMode[ScopedBuilder[Chat, str]]]()  # @name-isolation
