"""FastAPI: attaching and leasing what cannot be."""

# One mistake, or one example, is one line.
# fmt: off

from fastapi import FastAPI

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
from scoped_registration import RegistrationBuilder as B
from scoped_registration.integrations.fastapi import Leased, Thread, attach, leased
from tests.typing.given.core import Managed, acknowledgement, build, chat, managed, number, user

app = FastAPI()
stage = B("x").isolation(ScopedFactory(build, scope=user))
scoped = stage.build()
single = B("single").isolation(SingleUser(managed)).build()
shared = B("shared").isolation(PersistentShared(managed, acknowledgement=acknowledgement)).build()
attach(app, B("x"))  # R1 @attach | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
attach(app, stage)  # R1 @attach | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
attach(app, chat)  # R2 @attach | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
attach(app, ScopedFactory(build, scope=user))  # R1 @attach | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
leased(stage)  # R1 @leased | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
leased(B("x"))  # R1 @leased | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
leased(chat)  # R2 @leased | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
leased(build)  # R2 @leased | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
leased(single, "thread")  # R10 @leased-constant | mypy: call-overload | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: call-overload
leased(shared, "thread")  # R10 @leased-constant | mypy: call-overload | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: call-overload
leased(scoped, 1)  # R0 @leased-constant | mypy: call-overload | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: call-overload
leased(scoped, number)  # R0 @leased-thread | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: call-overload
attach(None, scoped)  # R0 @attach | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
attach(scoped)  # R0 @attach | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
leased()  # R0 @leased | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
same: Leased[Managed] = leased(scoped)  # R0 @leased-annotated | mypy: arg-type | pyright: reportAssignmentType | ty: invalid-assignment | pyrefly: bad-assignment | zuban: arg-type
constant_thread: Thread = 1  # R0 @thread-constant | mypy: assignment | pyright: reportAssignmentType | ty: invalid-assignment | pyrefly: bad-assignment | zuban: assignment
attach()  # R0 @attach-none | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
