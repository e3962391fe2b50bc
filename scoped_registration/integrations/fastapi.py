"""FastAPI: a registration's life follows the application, its leases follow requests.

`attach` joins registrations to an application; `leased` is the dependency that hands an
endpoint its instance. Scope and thread id are sub-dependencies of it, so they stand in
the OpenAPI document and can be overridden in tests.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from http import HTTPStatus
from typing import Annotated, Any, Generic, NoReturn, TypeAlias, TypeVar, cast, overload

from fastapi import Depends, FastAPI, HTTPException, WebSocketException
from starlette.requests import HTTPConnection
from starlette.status import (
    WS_1008_POLICY_VIOLATION,
    WS_1011_INTERNAL_ERROR,
    WS_1013_TRY_AGAIN_LATER,
)
from typing_extensions import override

from scoped_registration.errors import ReasonCode, RegistrationError, caller, describe_type
from scoped_registration.integrations.application import Application
from scoped_registration.integrations.deployment import Workers, check_declared
from scoped_registration.integrations.operations import check_type
from scoped_registration.registration import (
    PerThreadRegistration,
    Registration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from scoped_registration.runtime.lease import Lease, own_context
from scoped_registration.runtime.report import log
from scoped_registration.scope import check_thread_id, scope_text

# Any: what is done with every registration alike does not depend on its target's type.

__all__ = ["Leased", "Thread", "attach", "leased"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_LEASES = "scoped_registration.leases"

Thread: TypeAlias = str | Callable[..., str | Awaitable[str]]
"""A dependency that returns the thread id, or one constant id for every caller."""


def attach(app: FastAPI, *registrations: Registration[Any], workers: Workers | None = None) -> None:
    """Join registrations to an application.

    Their instances are closed when the application shuts down, inside the application's
    own lifespan; their modes stand in the start-up log and on the OpenAPI operations
    that use them (``x-scoped-registration``, promise P10). Attach the registrations of a
    mounted sub-application to the root application, whose lifespan runs.

    Args:
        app: The root application.
        registrations: What `build()` returned.
        workers: ``"many"`` if several processes serve the application: a registration that
            keeps its state in one of them is refused then. ``"single"`` if one does:
            ``WEB_CONCURRENCY`` may not say otherwise. Left out, more workers than one are
            named in the start-up log where the environment tells.

    Raises:
        RegistrationError: ``duplicate_name`` for a name that the application has already.
            At start-up, ``single_user_behind_authentication`` for a `SingleUser` without
            an owner on a route that authenticates, ``lease_ends_too_early`` for a lease
            with ``Depends(..., scope="function")``, ``store_per_process``, and what the
            store cannot be opened with.

    Example:
        ```python
        app = FastAPI()
        attach(app, chat_registration)
        ```
    """
    Application.of(app).add(registrations, check_declared(workers))


@overload
def leased(registration: SingleUserRegistration[T] | SharedRegistration[T]) -> Leased[T]: ...
@overload
def leased(
    registration: PerThreadRegistration[T] | ScopedRegistration[T, Any],
    thread: Thread | None = None,
) -> Leased[T]: ...
def leased(registration: Registration[T], thread: Thread | None = None) -> Leased[T]:
    """Return the dependency that leases an instance for as long as the response lives.

    The lease ends when the last byte has left and the background tasks are done, or
    when the client is gone (promise P5); in a WebSocket route it ends with the handler.

    Args:
        registration: An attached registration.
        thread: A dependency that returns the thread id; by default the path or query
            parameter ``thread_id``. A string is a constant: one instance per principal.
            Only registrations with an instance per thread take one.

    Returns:
        A dependency, equal to any other of the same arguments: FastAPI calls it once
        per request, and ``app.dependency_overrides`` finds it.

    Raises:
        RegistrationError: ``thread_id_invalid`` for a constant that is no thread id,
            ``option_unavailable`` for a thread where one instance serves all.

    Example:
        ```python
        @app.post("/chat/{thread_id}")
        async def chat(chat: Annotated[Chat, Depends(leased(chat_registration))]) -> Reply: ...
        ```
    """
    return Leased(registration, thread)


class Leased(Generic[T_co]):
    """The dependency that `leased` returns."""

    def __init__(self, registration: Registration[T_co], thread: Thread | None) -> None:
        check_type(registration, Registration, "leased(...), with what .build() returned")
        keyed = isinstance(registration, PerThreadRegistration | ScopedRegistration)
        if not keyed and thread is not None:
            raise RegistrationError(
                ReasonCode.OPTION_UNAVAILABLE,
                "one instance serves all threads here, so leased() takes no thread",
                registration=registration.name,
                declared_at=caller(),
            )
        if isinstance(thread, str):
            check_thread_id(thread)
        self.registration = registration
        self._thread = thread
        self._resolver = resolver_of(registration)
        self.__signature__: inspect.Signature = self._signature(keyed)

    async def __call__(
        self, connection: HTTPConnection, principal: object = None, thread_id: object = None
    ) -> AsyncIterator[T_co]:
        """Lease the instance for one request."""
        try:
            Application.admit(self.registration, connection.scope)
            if inspect.isawaitable(principal):
                principal = await principal
            if isinstance(self._thread, str):
                thread_id = self._thread
            elif inspect.isawaitable(thread_id):
                thread_id = await thread_id
            lease = lease_for(self.registration, principal, thread_id)
        except RegistrationError as error:
            refuse(error, connection)
        leases: dict[object, T_co] = connection.scope.setdefault(_LEASES, {})
        if lease.place in leases:  # another dependency of this request holds it, and for longer
            yield leases[lease.place]
            return
        with nullcontext() if leases else own_context():
            try:
                target = leases[lease.place] = await lease.__aenter__()
            except RegistrationError as error:
                refuse(error, connection)
            try:
                yield target
            except BaseException as error:
                del leases[lease.place]
                await lease.__aexit__(type(error), error, error.__traceback__)
                raise
            del leases[lease.place]
            await lease.__aexit__(None, None, None)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leased) and self._identity() == other._identity()

    @override
    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[int, object]:
        return id(self.registration), self._thread

    def _signature(self, keyed: bool) -> inspect.Signature:
        """Return the parameters by which FastAPI finds the sub-dependencies."""
        annotations: dict[str, Any] = {"connection": HTTPConnection}
        if self._resolver is not None:
            annotations["principal"] = Annotated[Any, Depends(self._resolver)]
        if keyed:
            thread = self._thread
            if thread is None:
                annotations["thread_id"] = str  # the path or query parameter
            elif not isinstance(thread, str):
                annotations["thread_id"] = Annotated[Any, Depends(thread)]
        return inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
                for name, annotation in annotations.items()
            ]
        )


def resolver_of(registration: Registration[Any]) -> Callable[..., object] | None:
    """Return the user's dependency that says who calls, if the mode has one."""
    match registration:
        case ScopedRegistration():
            return registration.mode.scope
        case SharedRegistration():
            return registration.mode.access
        case SingleUserRegistration() | PerThreadRegistration():
            return registration.mode.owner
        case _:
            return None


def lease_for(registration: Registration[T], principal: object, thread_id: object) -> Lease[T]:
    """Return the lease of a request, once it is clear who calls.

    Raises:
        RegistrationError: ``scope_missing``, ``scope_type_unsupported``,
            ``owner_mismatch`` or ``thread_id_invalid``.
    """
    # Every registration gives out leases of its pool, which its public signature calls a
    # context manager.
    return cast("Lease[T]", _lease(registration, principal, thread_id))


def _lease(registration: Registration[T], principal: object, thread_id: object) -> object:
    if isinstance(registration, ScopedRegistration):
        scoped = cast("ScopedRegistration[T, str]", registration)
        return scoped.lease(cast("str", principal), cast("str", thread_id))  # it checks both
    resolver = resolver_of(registration)
    if resolver is not None:
        scope_text(principal)  # first: whoever is nobody hears nothing of threads
    match registration:
        case PerThreadRegistration():
            thread = check_thread_id(thread_id)
            if resolver is not None:
                registration.admit(principal)  # last: a refused request pins nobody
            return registration.lease(thread)
        case SingleUserRegistration():
            if resolver is not None:
                registration.admit(principal)
            return registration.lease()
        case SharedRegistration():
            return registration.lease()
        case _:
            raise TypeError(describe_type(registration))


def refuse(error: RegistrationError, connection: HTTPConnection) -> NoReturn:
    """Answer a refusal, on HTTP by its status and on a WebSocket by its close code.

    What lies with the server is logged by its code, and the client learns nothing of it.
    """
    status = _STATUS.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR)
    ours = status is HTTPStatus.INTERNAL_SERVER_ERROR
    if ours:
        log.error("a request was refused: %s", error)
    if connection.scope["type"] == "websocket":
        code = _CLOSE_CODES.get(status, WS_1008_POLICY_VIOLATION)
        raise WebSocketException(code, reason=None if ours else error.code) from None
    detail: object = {"code": str(error.code), "message": error.problem}
    if ours:
        detail = "Internal Server Error"
    elif status is HTTPStatus.UNPROCESSABLE_ENTITY:
        detail = [{"type": str(error.code), "loc": ["thread_id"], "msg": error.problem}]
    headers = {"Retry-After": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else None
    raise HTTPException(status, detail=detail, headers=headers) from None


_STATUS = {
    ReasonCode.SCOPE_MISSING: HTTPStatus.UNAUTHORIZED,
    ReasonCode.OWNER_MISMATCH: HTTPStatus.FORBIDDEN,
    ReasonCode.THREAD_BUSY: HTTPStatus.CONFLICT,
    ReasonCode.THREAD_ID_INVALID: HTTPStatus.UNPROCESSABLE_ENTITY,
    ReasonCode.QUEUE_FULL: HTTPStatus.SERVICE_UNAVAILABLE,
    ReasonCode.POOL_FULL: HTTPStatus.SERVICE_UNAVAILABLE,
    ReasonCode.DETACHED_RUNS_FULL: HTTPStatus.SERVICE_UNAVAILABLE,
    ReasonCode.STORE_UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ReasonCode.LEASE_LOST: HTTPStatus.CONFLICT,
    ReasonCode.WAIT_TIMEOUT: HTTPStatus.SERVICE_UNAVAILABLE,
    ReasonCode.DRAINING: HTTPStatus.SERVICE_UNAVAILABLE,
    ReasonCode.REGISTRATION_CLOSED: HTTPStatus.SERVICE_UNAVAILABLE,
}
_CLOSE_CODES = {
    HTTPStatus.INTERNAL_SERVER_ERROR: WS_1011_INTERNAL_ERROR,
    HTTPStatus.CONFLICT: WS_1013_TRY_AGAIN_LATER,
    HTTPStatus.SERVICE_UNAVAILABLE: WS_1013_TRY_AGAIN_LATER,
}
