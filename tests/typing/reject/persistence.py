"""State in a store: modes that do not have it (R10), and codecs that do not fit."""

# One mistake, or one example, is one line.
# fmt: off

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder as A
from scoped_registration.integrations.fastapi import attach
from scoped_registration.stores.protocol import ThreadStore
from tests.typing.given import agui
from tests.typing.given.core import acknowledgement, build, chat, user
from tests.typing.given.stores import (
    codec,
    half_codec,
    store,
    sub_codec,
    text_codec,
    text_version_store,
)

own_store: ThreadStore = text_version_store  # R0 @own-store | mypy: assignment | pyright: reportAssignmentType | ty: invalid-assignment | pyrefly: bad-assignment | zuban: assignment
B("x").isolation(PersistentShared(chat, acknowledgement=acknowledgement)).persisted(store, codec=codec).build()  # R10 @not-persisted-shared | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
A("x").isolation(SingleUser(agui.workflow)).persisted(store).mount(agui.app)  # R10 @not-persisted-agui-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").isolation(ScopedFactory(build, scope=user)).persisted(store).build()  # R0 @persisted-scoped | mypy: call-arg | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-arg
B("x").isolation(ScopedFactory(build, scope=user)).persisted(store, codec=text_codec).build()  # R0 @persisted-scoped | mypy: arg-type | pyright: reportArgumentType | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: arg-type
B("x").isolation(ScopedFactory(build, scope=user)).persisted(store, codec=half_codec).build()  # R0 @persisted-scoped | mypy: arg-type | pyright: reportArgumentType | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: arg-type
B("x").isolation(ScopedFactory(build, scope=user)).persisted(store, codec=sub_codec).build()  # R0 @persisted-scoped | mypy: arg-type | pyright: reportArgumentType | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: arg-type
B("x").isolation(ScopedFactory(build, scope=user)).persisted("threads.db", codec=codec).build()  # R0 @persisted-scoped | mypy: arg-type | pyright: reportArgumentType | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: arg-type
B("x").isolation(SingleUser(chat)).persisted(store, codec=sub_codec).build()  # R0 @persisted-single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(SingleUser.per_thread(build)).persisted(store, codec=sub_codec).build()  # R0 @persisted-per-thread | mypy: arg-type | pyright: reportArgumentType | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: arg-type
A("x").isolation(ScopedFactory(agui.build, scope=user)).persisted("threads.db").mount(agui.app)  # R0 @persisted-agui | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
A("x").isolation(ScopedFactory(agui.build, scope=user)).mount(agui.app, workers=4)  # R0 @workers-mount | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
attach(agui.app, B("x").isolation(SingleUser(chat)).build(), workers="four")  # R0 @workers-attach | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
