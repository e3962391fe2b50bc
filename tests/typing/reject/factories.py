"""R3, R7: an instance where a factory is wanted, and factories of another signature."""

# One mistake, or one example, is one line.
# fmt: off

from scoped_registration import ScopedFactory, SingleUser
from tests.typing.given.core import (
    Builders,
    NoContext,
    async_no_context,
    builders,
    callable_target,
    callable_without_context,
    chat,
    chat_,
    keyword_only,
    managed,
    model_build,
    no_context,
    of_thread_id,
    opened_without_context,
    partial_no_context,
    pending,
    sync_opened_of_thread_id,
    two_contexts,
    user,
)

ScopedFactory(chat, scope=user)  # R3 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(managed, scope=user)  # R3 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory("chat", scope=user)  # R3 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(None, scope=user)  # R3 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(chat_(), scope=user)  # R3 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(pending, scope=user)  # R3 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(callable_target, scope=user)  # R3 @scoped-object | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(chat)  # R3 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(managed)  # R3 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(callable_target)  # R3 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(None)  # R3 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(no_context, scope=user)  # R7 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(async_no_context, scope=user)  # R7 @scoped-async | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(two_contexts, scope=user)  # R7 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(of_thread_id, scope=user)  # R7 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(keyword_only, scope=user)  # R7 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(model_build, scope=user)  # R7 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(opened_without_context, scope=user)  # R7 @scoped-opened | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(sync_opened_of_thread_id, scope=user)  # R7 @scoped-sync-opened | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(NoContext, scope=user)  # R7 @scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(builders.without_context, scope=user)  # R7 @scoped-method | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(Builders.build, scope=user)  # R7 @scoped-method | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(callable_without_context, scope=user)  # R7 @scoped-object | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(partial_no_context, scope=user)  # R7 @scoped-partial | mypy: limit(partial_arity) | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: limit(partial_arity) | zuban: limit(partial_arity)
ScopedFactory(lambda: chat, scope=user)  # R7 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context, second: chat, scope=user)  # R7 @scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
ScopedFactory(lambda context: context.no_such_thing, scope=user)  # R7 @context-thread | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
SingleUser.per_thread(no_context)  # R7 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(of_thread_id)  # R7 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(opened_without_context)  # R7 @per-thread-cm | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(NoContext)  # R7 @per-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
SingleUser.per_thread(lambda: chat)  # R7 @per-thread-l | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
