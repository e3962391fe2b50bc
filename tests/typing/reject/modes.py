"""R8, R9: a scope for one principal, and sharing without saying so."""

# One mistake, or one example, is one line.
# fmt: off

from scoped_registration import Acknowledgement, PersistentShared, Risk, SingleUser
from tests.typing.given.core import acknowledgement, build, chat, user

SingleUser(chat, scope=user)  # R8 @owner | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
SingleUser(chat, user)  # R8 @single-user | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
SingleUser(build, scope=user)  # R8 @scoped | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
SingleUser.per_thread(build, scope=user)  # R8 @per-thread-owner | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
SingleUser.per_thread(build, user)  # R8 @per-thread | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
SingleUser(chat, access=user)  # R8 @owner | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
PersistentShared(chat)  # R9 @shared | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
PersistentShared(chat, acknowledgement=True)  # R9 @shared | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement="on purpose")  # R9 @shared | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement=None)  # R9 @shared | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement={Risk.OBJECT_STATE})  # R9 @shared | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement=Acknowledgement)  # R9 @shared | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement)  # R9 @shared | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: unexpected-positional-argument | zuban: call-arg
PersistentShared(chat, acknowledgement=acknowledgement, scope=user)  # R9 @access | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
PersistentShared(chat, acknowledgement=acknowledgement, access="user")  # R9 @access | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
PersistentShared(chat, acknowledgement=Acknowledgement(owner="o", risks={Risk.OBJECT_STATE}))  # R9 @shared-ack | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
PersistentShared(chat, acknowledgement=Acknowledgement(reason="r", risks={Risk.OBJECT_STATE}))  # R9 @shared-ack | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
PersistentShared(chat, acknowledgement=Acknowledgement(reason="r", owner="o"))  # R9 @shared-ack | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg

Acknowledgement(owner="o", risks={Risk.OBJECT_STATE})  # R9 @ack | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
Acknowledgement(reason="r", risks={Risk.OBJECT_STATE})  # R9 @ack | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
Acknowledgement(reason="r", owner="o")  # R9 @ack | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
Acknowledgement("r", owner="o", risks={Risk.OBJECT_STATE})  # R9 @ack | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: unexpected-positional-argument | zuban: call-arg
Acknowledgement(reason=None, owner="o", risks={Risk.OBJECT_STATE})  # R9 @ack | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
Acknowledgement(reason="r", owner=None, risks={Risk.OBJECT_STATE})  # R9 @ack | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
Acknowledgement(reason="r", owner="o", risks=Risk.OBJECT_STATE)  # R9 @ack | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
Acknowledgement(reason="r", owner="o", risks={"object_state"})  # R9 @ack | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
Acknowledgement(reason="r", owner="o", risks=None)  # R9 @ack | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
Acknowledgement(reason="r", owner="o", risks=[Risk.OBJECT_STATE], review_by="2030-01-01")  # R9 @ack-review | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
acknowledgement.overdue("2030-01-01")  # R0 @ack-overdue | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
acknowledgement.overdue()  # R0 @ack-overdue | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
SingleUser()  # R0 @single-user | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
SingleUser.per_thread()  # R0 @per-thread | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
PersistentShared(acknowledgement=acknowledgement)  # R0 @shared | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
