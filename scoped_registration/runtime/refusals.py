"""What a pool says when it refuses: one text for each reason."""

from __future__ import annotations

from collections.abc import Sequence

from scoped_registration.errors import ReasonCode, RegistrationError

__all__ = ["BUSY", "build_refusal", "refusal", "reuse_refusal"]

BUSY = frozenset(
    {
        ReasonCode.THREAD_BUSY,
        ReasonCode.QUEUE_FULL,
        ReasonCode.WAIT_TIMEOUT,
        ReasonCode.POOL_FULL,
        ReasonCode.DRAINING,
        ReasonCode.REGISTRATION_CLOSED,
    }
)
"""Reasons that lie in the load and not in the request."""

_MOST_TOLD = 3

_TEXTS: dict[ReasonCode, tuple[str, str | None]] = {
    ReasonCode.THREAD_BUSY: (
        "a run of this thread is active, and the policy is to reject a second one",
        'retry when it has ended, or declare .concurrency("queue")',
    ),
    ReasonCode.QUEUE_FULL: (
        "max_waiting callers wait for this thread already",
        "retry later, or raise max_waiting in .concurrency(...)",
    ),
    ReasonCode.WAIT_TIMEOUT: (
        "the instance was not free within wait_timeout",
        "retry later, or raise wait_timeout in .concurrency(...)",
    ),
    ReasonCode.POOL_FULL: (
        "every instance that the bounds of the pool permit is in use",
        "retry later, or raise max_instances or max_per_scope in .pool(...)",
    ),
    ReasonCode.DRAINING: ("the registration is shutting down", "retry later"),
    ReasonCode.REGISTRATION_CLOSED: (
        "the registration was closed with aclose(), which is final",
        "build a new registration",
    ),
    ReasonCode.FACTORY_RETURNED_SHARED_INSTANCE: (
        "the factory returned an object that is already the instance of another key",
        "build a new object on each call, or declare PersistentShared on purpose",
    ),
}


def refusal(code: ReasonCode, registration: str) -> RegistrationError:
    """Return a refusal of a registration's pool."""
    problem, instead = _TEXTS[code]
    return RegistrationError(code, problem, instead=instead, registration=registration)


def reuse_refusal(registration: str, shared: Sequence[str]) -> RegistrationError:
    """Return the refusal of a product that reaches what another key's product reaches.

    Args:
        registration: The name of the registration.
        shared: What both reach, each by its path and its class, without a principal. It need not
            be all: there may be very much.
    """
    told = "; ".join(shared[:_MOST_TOLD])
    return RegistrationError(
        ReasonCode.FACTORY_REUSES_STATE,
        "the factory built an instance that shares mutable state with the instance of another "
        f"key: {told}" + ("; and more" if len(shared) > _MOST_TOLD else ""),
        instead="build it inside the factory, on each call; or declare what is shared on purpose "
        "in ScopedFactory(..., shares=[...])",
        registration=registration,
    )


def build_refusal(registration: str, error: BaseException, *, refused: bool) -> RegistrationError:
    """Return what one waiting caller gets for a failed build: an error of its own.

    Args:
        registration: The name of the registration.
        error: Why there is no instance.
        refused: A check of this library raised it. What a factory raises is its failure,
            whatever it is: a refusal of something else must not pass for one of this.
    """
    if refused and isinstance(error, RegistrationError):
        own = RegistrationError(
            error.code, error.problem, instead=error.instead, registration=registration
        )
    else:
        own = RegistrationError(
            ReasonCode.FACTORY_FAILED,
            f"the factory failed with {type(error).__qualname__}",
            registration=registration,
        )
    own.__cause__ = error
    return own
