"""What a builder builds: a registration, and the leases it gives out."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, Generic, final

import attrs
from typing_extensions import TypeVar, override

from scoped_registration.manifest import Description
from scoped_registration.modes import Mode, PersistentShared, PerThread, ScopedFactory, SingleUser
from scoped_registration.owner import OwnerPin
from scoped_registration.scope import ScopeValue, check_thread_id, share_of
from scoped_registration.settings import (
    UNSET,
    Settings,
    Unset,
    describe,
    given,
    leases_of,
    made,
    pool_of,
    try_samples,
)

if TYPE_CHECKING:
    from scoped_registration.runtime.life import Life
    from scoped_registration.runtime.slot import Key
    from scoped_registration.runtime.statistics import PoolStatistics
    from scoped_registration.stores.protocol import ThreadStore

# Any: what a factory returns is unwrapped on the way to the target.
__all__ = [
    "PerThreadRegistration",
    "Registration",
    "ScopedRegistration",
    "SharedRegistration",
    "SingleUserRegistration",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S", bound=ScopeValue)
_THE_ONE: Final[Key] = (("",), "")


class Registration(Generic[T_co]):
    """A target, bound to its isolation mode.

    It works without an application. After a shutdown it begins anew; only `aclose` is final.
    """

    def __init__(self, settings: Settings, life: Life[Any]) -> None:
        self._settings = settings
        self._pool = pool_of(settings, life)
        self._lease = leases_of(settings, self._pool)

    @property
    def name(self) -> str:
        """The name, unique in an application."""
        return self._settings.name

    @property
    def mode(self) -> Mode:
        """The declared mode."""
        raise NotImplementedError

    @property
    def declared_at(self) -> str:
        """``file:line`` of the declaration."""
        return self._settings.declared_at

    @property
    def store(self) -> ThreadStore | None:
        """The store of `.persisted`, if it was declared."""
        persisted = self._settings.persisted
        return None if persisted is None else persisted.store

    def statistics(self) -> PoolStatistics:
        """Return the figures of this moment."""
        return self._pool.statistics()

    def describe(self) -> Description:
        """Return this registration as data: what stands in the manifest."""
        return describe(self._settings, self.mode)

    async def shutdown(self) -> None:
        """Close every instance; the next lease begins anew. `attach` calls it.

        Raises:
            ExceptionGroup: Closings that failed or took too long.
        """
        await self._pool.drain(final=False)

    async def aclose(self) -> None:
        """Close every instance and refuse new leases for ever (``registration_closed``).

        Raises:
            ExceptionGroup: Closings that failed or took too long.
        """
        await self._pool.drain(final=True)

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


class _Guarded(Registration[T_co]):
    """One principal: the first that is seen is pinned, and any other is refused."""

    def __init__(self, settings: Settings, life: Life[Any]) -> None:
        super().__init__(settings, life)
        self._owner = OwnerPin(settings.name)

    def admit(self, principal: object) -> None:
        """Let the pinned principal pass; see `OwnerPin.admit`."""
        self._owner.admit(principal)


@final
class SingleUserRegistration(_Guarded[T_co]):
    """What `SingleUser(target)` builds: one instance, one run at a time."""

    def __init__(
        self, settings: Settings, mode: SingleUser[T_co], life: Life[Any] | None = None
    ) -> None:
        super().__init__(settings, life or given(mode.target))
        self._mode = mode

    @property
    @override
    def mode(self) -> SingleUser[T_co]:
        """The declared mode."""
        return self._mode

    def lease(self) -> AbstractAsyncContextManager[T_co]:
        """Return the right to one run: ``async with registration.lease() as target``.

        Raises:
            RegistrationError: On entering: ``thread_busy``, ``queue_full``,
                ``wait_timeout``, ``reentrant_lease``, ``draining``,
                ``registration_closed``.
        """
        return self._lease(_THE_ONE, self.name)


@final
class PerThreadRegistration(_Guarded[T_co]):
    """What `SingleUser.per_thread(factory)` builds: one principal, an instance per thread."""

    def __init__(
        self, settings: Settings, mode: PerThread[Any], life: Life[Any] | None = None
    ) -> None:
        bounds = attrs.evolve(settings.bounds, max_per_scope=None)  # one principal: no shares
        super().__init__(attrs.evolve(settings, bounds=bounds), life or made(settings, mode))
        self._mode = mode

    @property
    @override
    def mode(self) -> PerThread[Any]:
        """The declared mode."""
        return self._mode

    def lease(self, thread_id: str) -> AbstractAsyncContextManager[T_co]:
        """Return the right to one run of a thread.

        Args:
            thread_id: Names the thread: not blank, at most 512 characters.

        Raises:
            RegistrationError: ``thread_id_invalid`` at once; on entering, as
                `ScopedRegistration.lease`.
        """
        return self._lease(self._key(thread_id), self.name)

    def invalidate(self, *, thread_id: str | Unset = UNSET) -> int:
        """Retire the instances of one thread, or of all; see `ScopedRegistration.invalidate`."""
        chosen = None if thread_id is UNSET else self._key(thread_id)
        return self._pool.invalidate(lambda key: chosen in (None, key))

    def _key(self, thread_id: object) -> Key:
        return share_of(self.name), check_thread_id(thread_id)


@final
class ScopedRegistration(Registration[T_co], Generic[T_co, S]):
    """What `ScopedFactory` builds: one instance per (scope, thread id)."""

    def __init__(
        self, settings: Settings, mode: ScopedFactory[Any, Any], life: Life[Any] | None = None
    ) -> None:
        super().__init__(settings, life or made(settings, mode))
        self._mode = mode

    @property
    @override
    def mode(self) -> ScopedFactory[Any, Any]:
        """The declared mode."""
        return self._mode

    def lease(self, scope: S, thread_id: str) -> AbstractAsyncContextManager[T_co]:
        """Return the right to one run of a principal's thread.

        Args:
            scope: Who calls, as the resolver returns it.
            thread_id: Names the thread: not blank, at most 512 characters.

        Raises:
            RegistrationError: At once: ``scope_missing``, ``scope_type_unsupported``,
                ``thread_id_invalid``. On entering: ``factory_failed``,
                ``factory_returned``, ``factory_returned_shared_instance``,
                ``factory_reuses_state``, ``thread_busy``, ``queue_full``, ``pool_full``,
                ``wait_timeout``, ``reentrant_lease``, ``draining``, ``registration_closed``.

        Example:
            ```python
            async with registration.lease("alice", "thread-1") as chat:
                await chat.reply("hello")
            ```
        """
        key: Any = scope, thread_id
        if not (type(scope) is type(thread_id) is str and key in self._pool.slots):
            key = share_of(scope), check_thread_id(thread_id)  # else it was checked when it was new
        return self._lease(key, scope)

    def invalidate(self, *, scope: S | Unset = UNSET, thread_id: str | Unset = UNSET) -> int:
        """Retire instances: no new lease of them, closed as soon as they are idle.

        May be called from any thread; a logout calls it with the scope alone.

        Args:
            scope: Only those of this principal; left out, of all.
            thread_id: Only those of this thread id; left out, of all.

        Returns:
            How many instances were retired.

        Raises:
            RegistrationError: ``scope_missing``, ``scope_type_unsupported`` or
                ``thread_id_invalid``; a missing user never means *everybody*.
        """
        share = None if scope is UNSET else share_of(scope)
        thread = None if thread_id is UNSET else check_thread_id(thread_id)
        return self._pool.invalidate(lambda at: share in (None, at[0]) and thread in (None, at[1]))

    async def verify(self) -> None:
        """Build an instance for each scope of `verify_at_startup`, and close it. Start-up calls it.

        Raises:
            RegistrationError: ``factory_reuses_state``, and what else a lease is refused with.
        """
        await try_samples(self._settings, self._pool)


@final
class SharedRegistration(Registration[T_co]):
    """What `PersistentShared` builds: one instance for several principals, on purpose."""

    def __init__(
        self, settings: Settings, mode: PersistentShared[T_co], life: Life[Any] | None = None
    ) -> None:
        super().__init__(settings, life or given(mode.target))
        self._mode = mode

    @property
    @override
    def mode(self) -> PersistentShared[T_co]:
        """The declared mode."""
        return self._mode

    def lease(self) -> AbstractAsyncContextManager[T_co]:
        """Return the right to use the shared instance.

        Runs overlap unless `.concurrency` was declared.

        Raises:
            RegistrationError: On entering: ``draining``, ``registration_closed``, and
                with `.concurrency` those of a busy instance.
        """
        return self._lease(_THE_ONE, self.name)
