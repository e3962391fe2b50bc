"""State in a store: the modes that have it, and codecs that fit the target."""

# One mistake, or one example, is one line.
# fmt: off

from typing import assert_type

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from scoped_registration.builder import ScopedBuilder, SingleUserBuilder
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder as A
from scoped_registration.integrations.agent_framework import per_run
from scoped_registration.integrations.fastapi import attach
from scoped_registration.persistence import TargetCodec
from scoped_registration.registration import (
    PerThreadRegistration,
    ScopedRegistration,
    SingleUserRegistration,
)
from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.stores.sqlite import SQLiteStore
from tests.typing.given import agui
from tests.typing.given.core import (
    Chat,
    acknowledgement,
    async_build,
    build,
    chat,
    opened,
    sub_chat,
    sync_opened,
    user,
)
from tests.typing.given.stores import codec, memory_store, store

chats: TargetCodec[Chat] = codec
own_store: ThreadStore = memory_store  # @own-store
engines: list[ThreadStore] = [MemoryStore(), SQLiteStore("threads.db")]

assert_type(B("x").isolation(SingleUser(chat)).persisted(store, codec=codec), SingleUserBuilder[Chat])
assert_type(B("x").isolation(SingleUser(chat)).persisted(store, codec=codec).build(), SingleUserRegistration[Chat])
assert_type(B("x").isolation(ScopedFactory(build, scope=user)).persisted(store, codec=codec), ScopedBuilder[Chat, str])
assert_type(B("x").isolation(ScopedFactory(build, scope=user)).persisted(store, codec=codec).build(), ScopedRegistration[Chat, str])
assert_type(B("x").isolation(ScopedFactory(async_build, scope=user)).persisted(store, codec=codec).build(), ScopedRegistration[Chat, str])
assert_type(B("x").isolation(ScopedFactory(opened, scope=user)).persisted(store, codec=codec).build(), ScopedRegistration[Chat, str])
assert_type(B("x").isolation(ScopedFactory(sync_opened, scope=user)).persisted(store, codec=codec).build(), ScopedRegistration[Chat, str])
assert_type(B("x").isolation(SingleUser.per_thread(build)).persisted(store, codec=codec).build(), PerThreadRegistration[Chat])
assert_type(B("x").isolation(SingleUser.per_thread(opened)).persisted(store, codec=codec).build(), PerThreadRegistration[Chat])
assert_type(B("x").isolation(SingleUser.per_thread(sync_opened)).persisted(store, codec=codec).build(), PerThreadRegistration[Chat])
assert_type(B("x").isolation(SingleUser.per_thread(async_build)).persisted(store, codec=codec).build(), PerThreadRegistration[Chat])

B("x").isolation(SingleUser(sub_chat)).persisted(store, codec=codec).build()
B("x").isolation(SingleUser(chat)).persisted(store, codec=codec).build()  # @persisted-single
B("x").isolation(SingleUser.per_thread(build)).persisted(store, codec=codec).build()  # @persisted-per-thread
B("x").isolation(ScopedFactory(build, scope=user)).persisted(store, codec=codec).build()  # @persisted-scoped
B("x").isolation(ScopedFactory(build, scope=user)).persisted(store, codec=codec, ttl=5.0).pool(idle_ttl=1.0).build()
B("x").isolation(ScopedFactory(build, scope=user)).pool(idle_ttl=1.0).persisted(store, codec=codec).concurrency("reject").build()
B("x").isolation(PersistentShared(chat, acknowledgement=acknowledgement)).build()  # @not-persisted-shared

A("x").isolation(ScopedFactory(agui.build, scope=user)).persisted(store).mount(agui.app)  # @persisted-agui
A("x").isolation(ScopedFactory(agui.build_agent, scope=user)).persisted(store, ttl=5.0).mount(agui.app)
A("x").isolation(SingleUser.per_thread(agui.build)).persisted(store, checkpoint_types=[Chat]).mount(agui.app)
A("x").isolation(per_run(agui.agent, scope=user)).persisted(store).mount(agui.app)
A("x").isolation(ScopedFactory(agui.build, scope=user)).persisted(store).detached(max_runs_per_scope=2).mount(agui.app)
A("x").isolation(SingleUser(agui.workflow)).mount(agui.app)  # @not-persisted-agui-single
A("x").isolation(ScopedFactory(agui.build, scope=user)).mount(agui.app, workers="many")  # @workers-mount
attach(agui.app, B("x").isolation(SingleUser(chat)).build(), workers="single")  # @workers-attach
