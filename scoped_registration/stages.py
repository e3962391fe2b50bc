"""The stages of a builder: what each offers, and what it answers where it offers nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, cast

import attrs
from typing_extensions import TypeVar

from scoped_registration.errors import (
    MissingStageError,
    ReasonCode,
    RegistrationError,
    caller,
    describe_type,
)
from scoped_registration.inspection import refuse_bad_calls
from scoped_registration.modes import Mode, is_mode
from scoped_registration.runtime.options import Bounds, Policy
from scoped_registration.scope import scope_text
from scoped_registration.settings import Persisted, Settings

if TYPE_CHECKING:
    from scoped_registration.stores.protocol import ThreadStore

# Any: a stage holds whichever mode opened it.

__all__ = ["MODES", "Declaration", "PoolStage", "ScopedStage", "Stage", "ThreadPoolStage"]

SettingsT = TypeVar("SettingsT", bound=Settings)
S = TypeVar("S")

MODES = "SingleUser(...), ScopedFactory(..., scope=...) or PersistentShared(...)"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
_UNAVAILABLE = {
    "isolation": ReasonCode.MODE_CONFLICT,
    "checkpoints": ReasonCode.CHECKPOINT_NEEDS_WORKFLOW,
}
_STAGES = frozenset(
    {
        "build",
        "checkpoints",
        "concurrency",
        "detached",
        "isolation",
        "mount",
        "options",
        "persisted",
        "pool",
        "snapshots",
        "verify_at_startup",
    }
)
_MOST_SAMPLES = 16


class Declaration(Generic[SettingsT]):
    """The first stage of every builder: a name, and nothing to build yet."""

    def __init__(self, settings: SettingsT) -> None:
        self._settings = settings
        self._declared = False
        if not _is_name(settings.name):
            raise RegistrationError(
                ReasonCode.NAME_INVALID,
                "a registration's name has 1 to 63 letters, digits, '-' or '_', "
                "and begins with a letter",
                instead='RegistrationBuilder("support-chat")',
                declared_at=settings.declared_at,
            )

    def _declare(self, mode: object) -> tuple[SettingsT, Mode]:
        """Note that a mode was declared: a second one is a conflict."""
        settings = self._settings
        if not is_mode(mode):
            raise RegistrationError(
                ReasonCode.MODE_REQUIRED,
                f"isolation() takes a mode, and was given a {describe_type(mode)}",
                instead=MODES,
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
        return settings, mode

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise missing_stage(
                self,
                name,
                ReasonCode.MODE_REQUIRED,
                "no isolation mode was declared",
                f".isolation(SingleUser(...) | ScopedFactory(...) | PersistentShared(...)).{name}",
            )


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
            wait_timeout: Seconds a caller waits at most, for its turn, a build or room. A
                build that still runs so long after a caller has left is cancelled if nobody
                waits for it then, and as late again in any case: it may hang.

        Raises:
            RegistrationError: ``option_invalid``.
        """
        chosen = Policy(mode=policy, max_waiting=max_waiting, wait_timeout=wait_timeout)
        return self._with(policy=chosen)

    def _persist(self, store: ThreadStore, codec: object, ttl: float) -> Self:
        """Declare where the state is kept, once the codec is known to be one."""
        from scoped_registration.persistence.codec import check_codec  # noqa: PLC0415

        check_codec(codec)
        self._check_no_owner()
        return self._with(persisted=Persisted(store=store, codec=cast(Any, codec), ttl=ttl))

    def _check_no_owner(self) -> None:
        """Refuse a store beside an owner, who is pinned in one process alone."""
        if getattr(self._mode, "owner", None) is not None:
            raise RegistrationError(
                ReasonCode.OPTION_UNAVAILABLE,
                "owner pins the first principal that this process sees, and another worker would "
                "pin another one, who then has the same threads",
                instead="ScopedFactory(factory, scope=...), or leave owner out",
                registration=self._settings.name,
                declared_at=caller(),
            )

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
            max_per_scope: Live instances of one principal; None for no bound. Only a
                number below `max_instances` keeps one principal from taking all of it.
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


class ScopedStage(PoolStage[SettingsT], Generic[SettingsT, S]):
    """A stage with instances of several principals, which must not share what they keep."""

    def verify_at_startup(self, *, sample_scopes: Sequence[S]) -> Self:
        """Try the factory when the application starts: a leak fails the start (promise P9).

        An instance is built for each sample scope, and a second one for the first, through the
        pool. They are compared as every instance is, and closed.

        Args:
            sample_scopes: Principals for whom the factory can build, such as two users of two
                tenants. At most 16, and no two that are one principal.

        Raises:
            RegistrationError: ``option_invalid``; ``scope_missing`` or
                ``scope_type_unsupported`` for a value that is no scope. At start-up,
                ``factory_reuses_state`` and what else a lease is refused with.
        """
        return self._with(sample_scopes=self._checked_samples(sample_scopes))

    def _checked_samples(self, samples: object) -> tuple[object, ...]:
        try:
            if not isinstance(samples, list | tuple):
                raise _bad_samples(f"was given a {describe_type(samples)}")
            chosen = tuple(cast("Sequence[object]", samples))
            if not 0 < len(chosen) <= _MOST_SAMPLES:
                raise _bad_samples(f"was given {len(chosen)}")
            if len({scope_text(scope) for scope in chosen}) < len(chosen):
                raise _bad_samples("was given one principal twice")
        except RegistrationError as error:
            raise error.located(registration=self._settings.name, declared_at=caller()) from None
        return chosen


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


def missing_stage(
    stage: object, name: str, code: ReasonCode, problem: str, instead: str
) -> AttributeError:
    """Return what an attribute that a stage does not have is answered with."""
    if name not in _STAGES:
        return AttributeError(f"{type(stage).__name__!r} object has no attribute {name!r}")
    settings = cast(Settings, vars(stage)["_settings"])
    return MissingStageError(
        code,
        problem,
        instead=instead,
        registration=settings.name,
        declared_at=settings.declared_at,
    )


def _bad_samples(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.OPTION_INVALID,
        f"verify_at_startup takes a list of 1 to {_MOST_SAMPLES} scopes, and {problem}",
        instead=".verify_at_startup(sample_scopes=[...]), with scopes as the resolver returns them",
    )


def _is_name(name: object) -> bool:
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


_OPTIONS = "an option of this mode, by its keyword"
refuse_bad_calls(Stage, ReasonCode.OPTION_INVALID, _OPTIONS, method="concurrency")
refuse_bad_calls(PoolStage, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="pool")
refuse_bad_calls(ThreadPoolStage, ReasonCode.OPTION_UNAVAILABLE, _OPTIONS, method="pool")
refuse_bad_calls(ScopedStage, ReasonCode.OPTION_INVALID, _OPTIONS, method="verify_at_startup")
