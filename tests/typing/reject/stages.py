"""R1, R2: no mode, a second mode, or something that is no mode."""

# One mistake, or one example, is one line.
# fmt: off

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from tests.typing.given.core import (
    Chat,
    acknowledgement,
    build,
    callable_target,
    chat,
    managed,
    opened,
    user,
)

B("x").build()  # R1 @single-build | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").pool()  # R1 @chain-pool | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").concurrency("queue")  # R1 @chain-concurrency | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").isolation()  # R1 @single | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
B("x").isolation(SingleUser(chat), SingleUser(chat))  # R1 @single | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
B("x").isolation(SingleUser(chat)).isolation(SingleUser(chat))  # R1 @single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").isolation(SingleUser.per_thread(build)).isolation(SingleUser(chat))  # R1 @stage-per-thread | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").isolation(ScopedFactory(build, scope=user)).isolation(SingleUser(chat))  # R1 @stage-scoped | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").isolation(PersistentShared(chat, acknowledgement=acknowledgement)).isolation(SingleUser(chat))  # R1 @stage-shared | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").isolation(SingleUser(chat)).concurrency("queue").isolation(SingleUser(chat))  # R1 @chain-concurrency | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
B("x").isolation(chat)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(Chat)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(build)  # R2 @stage-scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(opened)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(lambda context: chat)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(None)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation("single_user")  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(SingleUser)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(callable_target)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
B("x").isolation(managed)  # R2 @single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
