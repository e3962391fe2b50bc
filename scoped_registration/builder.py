"""The builder: a registration declares who may share its target, or it is not built.

    RegistrationBuilder(name)          has only .isolation(mode)
        .isolation(mode)               leads to the stage of that mode
            .pool(...).concurrency(..) the options that are safe in it
            .build()                   a Registration of that mode

A wrong answer fails in a type checker, because the method does not exist or no overload
fits; else here, with a `RegistrationError` that says the same.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, cast, overload

import attrs
from typing_extensions import TypeVar

from scoped_registration.acknowledgement import Risk
from scoped_registration.errors import (
    MissingStageError,
    ReasonCode,
    RegistrationError,
    caller,
    describe_type,
)
from scoped_registration.inspection import refuse_bad_calls
from scoped_registration.modes import (
    IsolationMode,
    PersistentShared,
    PerThread,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.registration import (
    ScopedRegistration,
    Settings,
    SharedRegistration,
    SingleUserRegistration,
    PerThreadRegistration,
    check_risks,
)
from scoped_registration.runtime.eviction import Bounds
from scoped_registration.runtime.slot import Policy
from scoped_registration.scope import ScopeValue

# Any: a stage holds whichever mode opened it; the implementation of an overload is seen by nobody.

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
SettingsT = TypeVar("SettingsT", bound=Settings)
StageT = TypeVar("StageT")

_MODES = "SingleUser(...), ScopedFactory(..., scope=...) or PersistentShared(...)"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_UNAVAILABLE = {
    "isolation": ReasonCode.MODE_CONFLICT,
    "checkpoints": ReasonCode.CHECKPOINT_NEEDS_WORKFLOW,
}
_STAGES = frozenset(
    {"build", "mount", "isolation", "pool", "concurrency", "snapshots", "checkpoints"}
)


class Declaration(Generic[SettingsT]):
    """The first stage of every builder: a name, and nothing to build yet."""

    def __init__(self, settings: SettingsT) -> None:
        self._settings = settings
        self._declared = False
        given: object = settings.name
        if not isinstance(given, str) or not _NAME.fullmatch(given):
            raise RegistrationError(
                ReasonCode.NAME_INVALID,
                "a registration's name has 1 to 63 letters, digits, '-' or '_', "
                "and begins with a letter",
                instead='RegistrationBuilder("support-chat")',
                declared_at=settings.declared_at,
            )

    def _declare(self, mode: object) -> SettingsT:
        """Note that a mode was declared: a second one is a conflict."""
        settings = self._settings
        if not isinstance(mode, SingleUser | PerThread | ScopedFactory | PersistentShared):
            raise RegistrationError(
                ReasonCode.MODE_REQUIRED,
                f"isolation() takes a mode, and was given a {describe_type(mode)}",
                instead=_MODES,
                registration=settings.name,
                declared_at=settings.declared_at,
            )
        if self._declared:
            raise RegistrationError(
                ReasonCode.MODE_CONFLICT,
                "an isolation mode was declared already, and there is exactly one",
                instead="one RegistrationBuilder for each registration",
                registration=settings.name,
                declared_at=settings.declared_at,
            )
        self._declared = True
        return settings

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise missing_stage(
                self,
                name,
                ReasonCode.MODE_REQUIRED,
                "no isolation mode was declared",
                f".isolation(SingleUser(...) | ScopedFactory(...) | PersistentShared(...)).{name}",
            )


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
        settings = self._declare(mode)
        stage: object
        match mode:
            case SingleUser():
                stage = SingleUserBuilder(settings, mode)
            case PerThread():
                stage = PerThreadBuilder(settings, mode)
            case ScopedFactory():
                stage = ScopedBuilder(settings, mode)
            case _:  # PersistentShared: `_declare` let no other class pass
                stage = SharedBuilder(attrs.evolve(settings, policy=None), mode)
        return cast(StageT, stage)  # the base class of each mode names this very stage


class Stage(Generic[SettingsT]):
    """A stage after the mode. Each option returns a new stage."""

    def __init__(self, settings: SettingsT, mode: Any) -> None:
        self._settings = settings
        self._mode = mode

    def concurrency(
        self,
        policy: Literal["queue", "reject"],
        *,
        max_waiting: int = 16,
        wait_timeout: float = 30.0,
    ) -> Self:
        """Decide what a second run of a busy thread gets (promise P6).

        Args:
            policy: ``"queue"`` lets it wait its turn; ``"reject"`` refuses it at once
                (409, before a response starts).
            max_waiting: How many may wait for one thread; one more is refused (503).
            wait_timeout: Seconds a caller waits at most, for its turn, a build or room.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        chosen = Policy(mode=policy, max_waiting=max_waiting, wait_timeout=wait_timeout)
        return self._with(policy=chosen)

    def _with(self, **changes: Any) -> Self:
        return type(self)(attrs.evolve(self._settings, **changes), self._mode)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            code = _UNAVAILABLE.get(name, ReasonCode.OPTION_UNAVAILABLE)
            problem = f"{type(self).__name__} has no .{name}()"
            offered = ", ".join(f".{one}()" for one in dir(self) if one in _STAGES)
            raise missing_stage(self, name, code, problem, f"one of {offered}")


class PoolStage(Stage[SettingsT]):
    """A stage whose instances are built on demand, and therefore bounded."""

    def pool(
        self,
        *,
        max_instances: int | None = 1000,
        max_per_scope: int | None = 100,
        idle_ttl: float | None = 3600.0,
        max_age: float | None = None,
        pin_ttl: float = 86400.0,
        close_timeout: float = 10.0,
    ) -> Self:
        """Bound how many instances live, and for how long (promises P4 and P7).

        Args:
            max_instances: Live instances in all; None, spelled out, for no bound.
            max_per_scope: Live instances of one principal; None for no bound.
            idle_ttl: Seconds after its last use at which an instance is closed.
            max_age: Seconds after its build at which an instance is closed when idle.
            pin_ttl: Seconds for which a pending human request keeps its instance.
            close_timeout: Seconds that closing an instance may take.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        return self._with(
            bounds=Bounds(
                max_instances=max_instances,
                max_per_scope=max_per_scope,
                idle_ttl=idle_ttl,
                max_age=max_age,
                pin_ttl=pin_ttl,
                close_timeout=close_timeout,
            )
        )


class ThreadPoolStage(Stage[SettingsT]):
    """A stage with instances per thread of one principal: no share to divide."""

    def pool(
        self,
        *,
        max_instances: int | None = 1000,
        idle_ttl: float | None = 3600.0,
        max_age: float | None = None,
        pin_ttl: float = 86400.0,
        close_timeout: float = 10.0,
    ) -> Self:
        """Bound how many instances live, and for how long; see `PoolStage.pool`."""
        return self._with(
            bounds=Bounds(
                max_instances=max_instances,
                max_per_scope=None,
                idle_ttl=idle_ttl,
                max_age=max_age,
                pin_ttl=pin_ttl,
                close_timeout=close_timeout,
            )
        )


class SingleUserBuilder(Stage[Settings], Generic[T_co]):
    """The stage of `SingleUser(target)`."""

    def build(self) -> SingleUserRegistration[T_co]:
        """Return the registration. Nothing is started."""
        return SingleUserRegistration(self._settings, self._mode)


class PerThreadBuilder(ThreadPoolStage[Settings], Generic[P_co]):
    """The stage of `SingleUser.per_thread(factory)`."""

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


class ScopedBuilder(PoolStage[Settings], Generic[P_co, S]):
    """The stage of `ScopedFactory(factory, scope=...)`."""

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
        check_risks(
            self._settings.name,
            self._settings.declared_at,
            self._mode,
            frozenset({Risk.OBJECT_STATE}),
        )
        return SharedRegistration(self._settings, self._mode)


refuse_bad_calls(RegistrationBuilder, ReasonCode.MODE_REQUIRED, _MODES, method="isolation")


def missing_stage(
    stage: Any, name: str, code: ReasonCode, problem: str, instead: str
) -> AttributeError:
    """Return what an attribute that a stage does not have is answered with."""
    if name not in _STAGES:
        return AttributeError(f"{type(stage).__name__!r} object has no attribute {name!r}")
    settings: Settings = vars(stage)["_settings"]
    return MissingStageError(
        code,
        problem,
        instead=instead,
        registration=settings.name,
        declared_at=settings.declared_at,
    )
