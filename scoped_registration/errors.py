"""Every refusal of the library: one exception, one closed set of reason codes.

A refusal says what is wrong, where the registration was declared, what to write
instead, and carries a code that never changes its spelling. No text here is ever
built from a scope, a thread id or any other value that names a principal.
"""

from __future__ import annotations

import inspect
import os
import types
import typing
from collections.abc import Callable
from enum import StrEnum

from typing_extensions import override

__all__ = ["ReasonCode", "RegistrationError"]

# Frames that stand between a declaration and this package: its own, the constructors that
# attrs writes, and the call of `SingleUser[Chat](...)`.
_INSIDE = (os.path.dirname(__file__) + os.sep, "<attrs generated", typing.__file__)  # noqa: PTH120


class ReasonCode(StrEnum):
    """Why something was refused. The strings are stable and may be matched on.

    Each code is a heading of the page *Errors* in the documentation.
    """

    # Declaring: the builder and its modes.
    MODE_REQUIRED = "mode_required"
    MODE_CONFLICT = "mode_conflict"
    NAME_INVALID = "name_invalid"
    OPTION_INVALID = "option_invalid"
    OPTION_UNAVAILABLE = "option_unavailable"
    INSTANCE_REQUIRED = "instance_required"
    INSTANCE_IS_NOT_A_FACTORY = "instance_is_not_a_factory"
    BUILDER_IS_NOT_A_FACTORY = "builder_is_not_a_factory"
    FACTORY_SIGNATURE = "factory_signature"
    SCOPE_RESOLVER_REQUIRED = "scope_resolver_required"
    SCOPE_RESOLVER_INVALID = "scope_resolver_invalid"
    SCOPE_TYPE_UNSUPPORTED = "scope_type_unsupported"
    SCOPE_TYPE_MISMATCH = "scope_type_mismatch"
    ACKNOWLEDGEMENT_REQUIRED = "acknowledgement_required"
    ACKNOWLEDGEMENT_INVALID = "acknowledgement_invalid"
    RISK_NOT_ACKNOWLEDGED = "risk_not_acknowledged"

    # Starting up: an application and its registrations.
    DUPLICATE_NAME = "duplicate_name"
    DUPLICATE_ROUTE = "duplicate_route"
    NOT_ATTACHED = "not_attached"
    SINGLE_USER_BEHIND_AUTHENTICATION = "single_user_behind_authentication"
    LEASE_ENDS_TOO_EARLY = "lease_ends_too_early"

    # Starting up: AG-UI endpoints.
    TARGET_UNSUPPORTED = "target_unsupported"
    STATEFUL_TARGET = "stateful_target"
    AGENT_WRAPS_STATEFUL_WORKFLOW = "agent_wraps_stateful_workflow"
    UNKNOWN_AGENT_TYPE = "unknown_agent_type"
    OPAQUE_RUNNER = "opaque_runner"
    SESSION_KEY_IGNORES_SCOPE = "session_key_ignores_scope"
    FACTORY_WITH_SHARED_MODE = "factory_with_shared_mode"
    SHARED_MODE_NEEDS_A_STATEFUL_TARGET = "shared_mode_needs_a_stateful_target"
    CHECKPOINT_NEEDS_WORKFLOW = "checkpoint_needs_workflow"
    CHECKPOINT_OF_SHARED_STATE = "checkpoint_of_shared_state"
    CAPABILITY_NEEDS_SESSION = "capability_needs_session"
    STORE_ALREADY_CONFIGURED = "store_already_configured"
    RUNNER_ALREADY_REGISTERED = "runner_already_registered"

    # Serving: who calls, and for which thread.
    SCOPE_MISSING = "scope_missing"
    OWNER_MISMATCH = "owner_mismatch"
    THREAD_ID_INVALID = "thread_id_invalid"

    # Serving: building and leasing.
    FACTORY_FAILED = "factory_failed"
    FACTORY_RETURNED = "factory_returned"
    FACTORY_RETURNED_SHARED_INSTANCE = "factory_returned_shared_instance"
    FACTORY_REUSES_STATE = "factory_reuses_state"
    THREAD_BUSY = "thread_busy"
    REENTRANT_LEASE = "reentrant_lease"
    QUEUE_FULL = "queue_full"
    WAIT_TIMEOUT = "wait_timeout"
    POOL_FULL = "pool_full"
    DETACHED_RUNS_FULL = "detached_runs_full"
    DRAINING = "draining"
    REGISTRATION_CLOSED = "registration_closed"
    LEASE_SPENT = "lease_spent"
    NO_CURRENT_LEASE = "no_current_lease"

    # State that outlives a worker.
    STORE_NOT_READY = "store_not_ready"
    STORE_PER_PROCESS = "store_per_process"
    STORE_UNAVAILABLE = "store_unavailable"
    LEASE_LOST = "lease_lost"
    DOCUMENT_UNREADABLE = "document_unreadable"
    DOCUMENT_UNWRITABLE = "document_unwritable"


class RegistrationError(Exception):
    """A registration, or one use of it, was refused.

    Args:
        code: The stable reason.
        problem: What is wrong, in one sentence.
        instead: What to write or do instead.
        registration: The name of the registration, where one is known.
        declared_at: ``file:line`` of the declaration, where one is known.

    Example:
        ```python
        try:
            RegistrationBuilder("chat").build()  # type: ignore[attr-defined]
        except RegistrationError as error:
            assert error.code is ReasonCode.MODE_REQUIRED
        ```
    """

    def __init__(
        self,
        code: ReasonCode,
        problem: str,
        *,
        instead: str | None = None,
        registration: str | None = None,
        declared_at: str | None = None,
    ) -> None:
        self.code = code
        self.problem = problem
        self.instead = instead
        self.registration = registration
        self.declared_at = declared_at
        super().__init__(code, problem)

    @override
    def __str__(self) -> str:
        subject = f"registration {self.registration!r}: " if self.registration else ""
        lines = [f"[{self.code}] {subject}{self.problem}"]
        if self.declared_at:
            lines.append(f"  declared at: {self.declared_at}")
        if self.instead:
            lines.append(f"  instead: {self.instead}")
        lines.append(f"  documentation: errors/#{self.code}")
        return "\n".join(lines)

    def located(self, *, registration: str, declared_at: str) -> RegistrationError:
        """Return this error with the registration's name and place filled in.

        Modes are checked before they know which registration they will belong to.
        """
        self.registration = self.registration or registration
        self.declared_at = self.declared_at or declared_at
        return self


class MissingStageError(RegistrationError, AttributeError):
    """A stage of the builder was asked for a method that only another stage has.

    It is an ``AttributeError`` too, so ``hasattr`` keeps its meaning.
    """


def caller() -> str:
    """Return ``file:line`` of the nearest caller outside this package."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return "?:0" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def close_coroutine(value: object) -> None:
    """Close what will not be awaited because it is refused: no warning follows the error."""
    if isinstance(value, types.CoroutineType):
        value.close()


def describe_callable(function: object) -> str:
    """Return a name for a factory or resolver that can stand in an error text.

    Only names written in source are used: a value's own ``repr`` may hold a secret.
    """
    for candidate in (function, getattr(function, "func", None), type(function)):
        name = getattr(candidate, "__qualname__", None)
        if isinstance(name, str):
            return f"{getattr(candidate, '__module__', '?')}.{name}"
    return "a callable"


def describe_type(value: object) -> str:
    """Return the qualified name of a value's class, never the value."""
    cls = type(value)
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def source_of(function: object) -> str:
    """Return a callable's name and, where it has one, its place in the source."""
    name = describe_callable(function)
    code = getattr(inspect.unwrap(typing.cast(Callable[..., object], function)), "__code__", None)
    if code is None:
        return name
    return f"{name} ({short_place(f'{code.co_filename}:{code.co_firstlineno}')})"


def short_place(place: str) -> str:
    """Name a file without the directories of this machine."""
    path, _, line = place.rpartition(":")
    return f"{os.path.basename(path)}:{line}"  # noqa: PTH119
