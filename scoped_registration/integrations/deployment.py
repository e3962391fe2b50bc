"""How many workers serve an application, as its owner declares it, and what that asks for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, cast, get_args

from scoped_registration.errors import ReasonCode, RegistrationError, caller
from scoped_registration.registration import Registration
from scoped_registration.runtime.report import log, report_failure

# Any: registrations of targets of any type.

__all__ = [
    "Workers",
    "check_declared",
    "check_deployment",
    "close_stores",
    "is_per_process",
    "open_store",
]

Workers: TypeAlias = Literal["single", "many"]
"""How many processes serve an application."""

_VARIABLE = "WEB_CONCURRENCY"  # uvicorn and gunicorn read it, too


def check_declared(workers: object) -> Workers | None:
    """Return what was declared.

    Raises:
        RegistrationError: ``option_invalid`` for anything but ``"single"``, ``"many"`` and None.
    """
    if workers is not None and workers not in get_args(Workers):
        raise RegistrationError(
            ReasonCode.OPTION_INVALID,
            'workers is "single" or "many", and left out where nothing is to be said',
            declared_at=caller(),
        )
    return cast("Workers | None", workers)


def is_per_process(registration: Registration[Any]) -> bool:
    """Tell whether another worker would not see what this one keeps of a thread."""
    if registration.store is not None:
        return registration.store.per_process
    return registration.mode.keeps_state


def check_deployment(registration: Registration[Any], declared: Workers | None) -> None:
    """Refuse or name more workers than a registration is good for.

    Raises:
        RegistrationError: ``store_per_process``.
    """
    started = _workers_of_environment()
    if (declared != "many" and started < 2) or not is_per_process(registration):  # noqa: PLR2004
        return
    told = 'workers="many" was declared' if declared == "many" else f"{_VARIABLE} is {started}"
    keeps = "each worker keeps its instances to itself"
    if registration.store is not None:
        keeps = "the store keeps its documents in one process"
    problem = f"{told}, and {keeps}: a thread would have another state in each of them"
    instead = ".persisted(store), with a store that workers share, or one worker"
    if declared is None:
        log.warning("registration %r: %s; instead: %s", registration.name, problem, instead)
        return
    raise RegistrationError(
        ReasonCode.STORE_PER_PROCESS,
        problem,
        instead=instead,
        registration=registration.name,
        declared_at=registration.declared_at,
    )


async def open_store(registration: Registration[Any]) -> None:
    """Make sure that the store of a registration can be used, if it has one.

    Raises:
        RegistrationError: ``store_not_ready``, ``store_unavailable``.
    """
    if registration.store is None:
        return
    try:
        await registration.store.open()
    except RegistrationError as error:
        raise error.located(
            registration=registration.name, declared_at=registration.declared_at
        ) from None


async def close_stores(registrations: Iterable[Registration[Any]]) -> None:
    """Close each store once. Of one that others use, the next call makes new connections."""
    stores = {id(one.store): one.store for one in registrations if one.store is not None}
    for store in stores.values():
        try:
            await store.aclose()
        except Exception as error:
            report_failure("a store could not be closed", type(store).__name__, error)


def _workers_of_environment() -> int:
    try:
        return int(os.environ.get(_VARIABLE, "1"))
    except ValueError:
        return 1
