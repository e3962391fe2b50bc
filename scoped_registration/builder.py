"""The builder: a registration declares who may share its target, or it is not built.

    RegistrationBuilder(name)          has only .isolation(mode)
        .isolation(mode)               leads to the stage of that mode
            .pool(...).concurrency(..) the options that are safe in it
            .build()                   a Registration of that mode

A wrong answer fails in a type checker, because the method does not exist or no overload
fits; else here, with a `RegistrationError` that says the same.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, cast, overload

import attrs
from typing_extensions import TypeVar

from scoped_registration.acknowledgement import Risk, check_risks
from scoped_registration.errors import ReasonCode, caller
from scoped_registration.inspection import refuse_bad_calls
from scoped_registration.modes import (
    IsolationMode,
    PersistentShared,
    PerThread,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.registration import (
    PerThreadRegistration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from scoped_registration.scope import ScopeValue
from scoped_registration.settings import Settings
from scoped_registration.stages import MODES, Declaration, ScopedStage, Stage, ThreadPoolStage

if TYPE_CHECKING:
    from scoped_registration.persistence.codec import TargetCodec
    from scoped_registration.stores.protocol import ThreadStore

# Any: the implementation of an overload is seen by nobody.

__all__ = [
    "PerThreadBuilder",
    "RegistrationBuilder",
    "ScopedBuilder",
    "SharedBuilder",
    "SingleUserBuilder",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)
S = TypeVar("S", bound=ScopeValue)
StageT = TypeVar("StageT")


class RegistrationBuilder(Declaration[Settings]):
    """Declares a registration; there is nothing to build before its isolation mode.

    Args:
        name: Unique in an application, and stable: it is part of every storage key.
            1 to 63 letters, digits, ``-`` or ``_``, beginning with a letter.

    Raises:
        RegistrationError: ``name_invalid``; and ``mode_required`` for any use before
            `isolation` (promise P1).

    Example:
        ```python
        chat_registration = (
            RegistrationBuilder("chat")
            .isolation(ScopedFactory(build_chat, scope=current_user))
            .pool(max_instances=500)
            .build()
        )
        ```
    """

    def __init__(self, name: str) -> None:
        super().__init__(Settings(name=name, declared_at=caller()))

    def isolation(self, mode: IsolationMode[StageT]) -> StageT:
        """Declare who may share the target.

        Args:
            mode: `SingleUser`, `SingleUser.per_thread`, `ScopedFactory` or
                `PersistentShared`.

        Returns:
            The stage of that mode, with the options that are safe in it.

        Raises:
            RegistrationError: ``mode_required`` for anything else, ``mode_conflict``
                for a second mode.
        """
        settings, declared = self._declare(mode)
        stage: object
        match declared:
            case SingleUser():
                stage = SingleUserBuilder[Any](settings, declared)
            case PerThread():
                stage = PerThreadBuilder[Any](settings, declared)
            case ScopedFactory():
                stage = ScopedBuilder[Any, Any](settings, declared)
            case PersistentShared():
                stage = SharedBuilder[Any](attrs.evolve(settings, policy=None), declared)
        return cast(StageT, stage)  # the base class of each mode names this very stage


class SingleUserBuilder(Stage[Settings], Generic[T_co]):
    """The stage of `SingleUser(target)`."""

    def persisted(
        self: SingleUserBuilder[T],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = 15.0,
    ) -> SingleUserBuilder[T]:
        """Keep the state of the instance in a store, so that it outlives the worker (promise P11).

        A run begins with what was committed last, and commits at its end. A run that fails
        commits nothing, and the next one restores the instance.

        Args:
            store: See `ScopedBuilder.persisted`.
            codec: Likewise; its `restore` replaces the whole state of the instance.
            ttl: Likewise.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        return self._persist(store, codec, ttl)

    def build(self) -> SingleUserRegistration[T_co]:
        """Return the registration. Nothing is started."""
        return SingleUserRegistration(self._settings, self._mode)


class PerThreadBuilder(ThreadPoolStage[Settings], Generic[P_co]):
    """The stage of `SingleUser.per_thread(factory)`."""

    @overload
    def persisted(
        self: PerThreadBuilder[AbstractAsyncContextManager[T, bool | None]],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> PerThreadBuilder[AbstractAsyncContextManager[T, bool | None]]: ...
    @overload
    def persisted(
        self: PerThreadBuilder[AbstractContextManager[T, bool | None]],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> PerThreadBuilder[AbstractContextManager[T, bool | None]]: ...
    @overload
    def persisted(
        self: PerThreadBuilder[Awaitable[T]],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> PerThreadBuilder[Awaitable[T]]: ...
    @overload
    def persisted(
        self: PerThreadBuilder[T],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> PerThreadBuilder[T]: ...
    def persisted(self, store: ThreadStore, *, codec: Any, ttl: float = 15.0) -> Any:
        """Keep the state of each thread in a store; see `ScopedBuilder.persisted`."""
        return self._persist(store, codec, ttl)

    @overload
    def build(
        self: PerThreadBuilder[AbstractAsyncContextManager[T, bool | None]],
    ) -> PerThreadRegistration[T]: ...
    @overload
    def build(
        self: PerThreadBuilder[AbstractContextManager[T, bool | None]],
    ) -> PerThreadRegistration[T]: ...
    @overload
    def build(self: PerThreadBuilder[Awaitable[T]]) -> PerThreadRegistration[T]: ...
    @overload
    def build(self) -> PerThreadRegistration[P_co]: ...
    def build(self) -> PerThreadRegistration[Any]:
        """Return the registration. Nothing is started."""
        return PerThreadRegistration(self._settings, self._mode)


class ScopedBuilder(ScopedStage[Settings, S], Generic[P_co, S]):
    """The stage of `ScopedFactory(factory, scope=...)`."""

    @overload
    def persisted(
        self: ScopedBuilder[AbstractAsyncContextManager[T, bool | None], S],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> ScopedBuilder[AbstractAsyncContextManager[T, bool | None], S]: ...
    @overload
    def persisted(
        self: ScopedBuilder[AbstractContextManager[T, bool | None], S],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> ScopedBuilder[AbstractContextManager[T, bool | None], S]: ...
    @overload
    def persisted(
        self: ScopedBuilder[Awaitable[T], S],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> ScopedBuilder[Awaitable[T], S]: ...
    @overload
    def persisted(
        self: ScopedBuilder[T, S],
        store: ThreadStore,
        *,
        codec: TargetCodec[T],
        ttl: float = ...,
    ) -> ScopedBuilder[T, S]: ...
    def persisted(self, store: ThreadStore, *, codec: Any, ttl: float = 15.0) -> Any:
        """Keep the state of each thread in a store, so that it outlives the worker (promise P11).

        Before its first run, and when another worker has run it since, an instance is built
        anew and restored from what was committed last. A run commits at its end, when a
        response has been sent. One that fails, or loses its thread to another worker, commits
        nothing, and its instance is not used again. While another worker holds a thread, a
        run waits or is refused as `.concurrency` says.

        Args:
            store: A `MemoryStore`, `SQLiteStore`, `PostgresStore` or `RedisStore`, or one of
                your own.
            codec: Writes and restores a target.
            ttl: Seconds after which another worker may take a thread over from one that has
                died in a run. A run that goes on renews its hold.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        return self._persist(store, codec, ttl)

    @overload
    def build(
        self: ScopedBuilder[AbstractAsyncContextManager[T, bool | None], S],
    ) -> ScopedRegistration[T, S]: ...
    @overload
    def build(
        self: ScopedBuilder[AbstractContextManager[T, bool | None], S],
    ) -> ScopedRegistration[T, S]: ...
    @overload
    def build(self: ScopedBuilder[Awaitable[T], S]) -> ScopedRegistration[T, S]: ...
    @overload
    def build(self) -> ScopedRegistration[P_co, S]: ...
    def build(self) -> ScopedRegistration[Any, S]:
        """Return the registration. Nothing is started."""
        return ScopedRegistration(self._settings, self._mode)


class SharedBuilder(Stage[Settings], Generic[T_co]):
    """The stage of `PersistentShared(target, acknowledgement=...)`."""

    def build(self) -> SharedRegistration[T_co]:
        """Return the registration. Nothing is started.

        Raises:
            RegistrationError: ``risk_not_acknowledged`` unless the acknowledgement
                names `Risk.OBJECT_STATE`, which every shared object carries.
        """
        settings = self._settings
        notes = check_risks(
            self._mode.acknowledgement,
            frozenset({Risk.OBJECT_STATE}),
            registration=settings.name,
            declared_at=settings.declared_at,
        )
        return SharedRegistration(attrs.evolve(settings, notes=notes), self._mode)


refuse_bad_calls(RegistrationBuilder, ReasonCode.MODE_REQUIRED, MODES, method="isolation")
