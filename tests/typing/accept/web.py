"""FastAPI: attaching registrations, and dependencies that lease them."""

# One mistake, or one example, is one line.
# fmt: off

from typing import Annotated, assert_type

from fastapi import Depends, FastAPI

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from scoped_registration.integrations.fastapi import Leased, Thread, attach, leased
from tests.typing.given.core import (
    Chat,
    Managed,
    acknowledgement,
    async_user,
    build,
    chat_,
    managed,
    sub_chat,
    user,
)

app = FastAPI()
scoped = B("scoped").isolation(ScopedFactory(build, scope=user)).build()
per_thread = B("thread").isolation(SingleUser.per_thread(build)).build()
single = B("single").isolation(SingleUser(managed)).build()
shared = B("shared").isolation(PersistentShared(managed, acknowledgement=acknowledgement)).build()
attach(app)  # @attach-none
attach(app, scoped)  # @attach
attach(app, scoped, per_thread, single, shared)  # @attach-all
assert_type(leased(scoped), Leased[Chat])  # @leased
assert_type(leased(scoped, user), Leased[Chat])  # @leased-thread
assert_type(leased(scoped, async_user), Leased[Chat])  # @leased-thread-async
assert_type(leased(scoped, "thread"), Leased[Chat])  # @leased-constant
assert_type(leased(scoped, thread="thread"), Leased[Chat])  # @leased-keyword
assert_type(leased(scoped, None), Leased[Chat])  # @leased-none
assert_type(leased(per_thread), Leased[Chat])  # @leased-per-thread
assert_type(leased(per_thread, "thread"), Leased[Chat])  # @leased-per-thread-constant
assert_type(leased(single), Leased[Managed])  # @leased-single
assert_type(leased(shared), Leased[Managed])  # @leased-shared
same: Leased[Chat] = leased(scoped)  # @leased-annotated
wide: Leased[Chat] = leased(B("x").isolation(SingleUser(sub_chat)).build())  # @leased-covariant
thread: Thread = user  # @thread
constant_thread: Thread = "thread"  # @thread-constant
async_thread: Thread = async_user  # @thread-async
app.dependency_overrides[leased(scoped)] = chat_  # @override


@app.post("/chat/{thread_id}")
async def endpoint(target: Annotated[Chat, Depends(leased(scoped))]) -> str:
    assert_type(target, Chat)  # @endpoint
    return ""


def by_default(target: Chat = Depends(leased(scoped))) -> Chat: return target  # @endpoint-default
