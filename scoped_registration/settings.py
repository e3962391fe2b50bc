"""What a builder has collected, and the pool that is made of it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, assert_never

import attrs

from scoped_registration.errors import describe_type, source_of
from scoped_registration.manifest import Description, Json
from scoped_registration.modes import Mode, PersistentShared, PerThread, ScopedFactory, SingleUser
from scoped_registration.runtime.options import Bounds, Policy, invalid_option, seconds
from scoped_registration.scope import share_of

if TYPE_CHECKING:
    from scoped_registration.persistence.codec import TargetCodec
    from scoped_registration.persistence.hold import Persistence, State
    from scoped_registration.runtime.life import Life
    from scoped_registration.runtime.pool import Pool
    from scoped_registration.runtime.slot import Key
    from scoped_registration.stores.protocol import ThreadStore

# Any: what a factory returns is unwrapped on the way to the target, so a life's own product
# type is not the registration's.

__all__ = [
    "UNSET",
    "Persisted",
    "Settings",
    "Unset",
    "describe",
    "given",
    "leases_of",
    "made",
    "persistence_of",
    "pool_of",
    "try_samples",
]


class _Absent(enum.Enum):
    UNSET = "unset"


UNSET: Final = _Absent.UNSET
"""Not given: `None` would be a missing user, who must never stand for everybody."""

_SAMPLE_THREADS: Final = ("scoped-registration-sample-1", "scoped-registration-sample-2")

Unset: TypeAlias = Literal[_Absent.UNSET]


def _store(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    from scoped_registration.stores.protocol import ThreadStore  # noqa: PLC0415

    if isinstance(value, type) or not isinstance(value, ThreadStore):
        raise invalid_option(attribute.name, "a store: a MemoryStore, SQLiteStore, ...")


@attrs.frozen(kw_only=True)
class Persisted:
    """Where the state of each thread is kept, and how it is written."""

    store: ThreadStore = attrs.field(validator=_store)
    ttl: float = attrs.field(default=15.0, validator=seconds)
    codec: TargetCodec[Any] | None = None  # None where an integration knows how

    def describe(self) -> dict[str, Json]:
        """Return the option for the manifest."""
        return {"store": describe_type(self.store), "store_ttl": self.ttl}


@attrs.frozen(kw_only=True)
class Settings:
    """What the stages of a builder have collected."""

    name: str
    declared_at: str
    path: str | None = None
    bounds: Bounds = attrs.field(factory=Bounds)
    policy: Policy | None = attrs.field(factory=Policy)
    sample_scopes: tuple[Any, ...] = ()
    persisted: Persisted | None = None
    notes: tuple[str, ...] = ()  # what is told of the registration, and is no reason to refuse it
    before_closing: tuple[Callable[[], None], ...] = ()  # called before leased instances close

    def options(self, *, bounded: bool) -> dict[str, Json]:
        """Return the options in force; bounds only where instances are built."""
        options: dict[str, Json] = dict(attrs.asdict(self.bounds)) if bounded else {}
        if self.policy is not None:
            options |= {
                "concurrency": self.policy.mode,
                "max_waiting": self.policy.max_waiting,
                "wait_timeout": self.policy.wait_timeout,
            }
        if self.sample_scopes:
            options["sample_scopes"] = len(self.sample_scopes)  # never their values
        return options | (self.persisted.describe() if self.persisted is not None else {})


# The runtime brings asyncio, which costs more to import than all the rest of the package. It
# is imported when the first registration is built.


def pool_of(settings: Settings, life: Life[Any]) -> Pool[Any]:
    """Return the empty pool of a registration."""
    from scoped_registration.runtime.pool import Pool  # noqa: PLC0415

    return Pool(
        settings.name,
        life,
        bounds=settings.bounds,
        policy=settings.policy,
        before_closing=settings.before_closing,
    )


def leases_of(
    settings: Settings, pool: Pool[Any]
) -> Callable[[Key, object], AbstractAsyncContextManager[Any]]:
    """Return what makes a lease: the pool, or one that loads and commits around it."""
    persisted = settings.persisted
    if persisted is None or persisted.codec is None:
        return pool.lease
    from scoped_registration.persistence.lease import CodecState, PersistedLease  # noqa: PLC0415

    codec = persisted.codec
    persistence = persistence_of(
        settings, persisted, lambda target: CodecState(target, codec, settings.name)
    )
    return lambda key, scope: PersistedLease(lambda: pool.lease(key, scope), persistence)


def persistence_of(
    settings: Settings, persisted: Persisted, state: Callable[[Any], State]
) -> Persistence:
    """Return where the state of threads is kept; `state` makes that of a new instance."""
    from scoped_registration.persistence.hold import Persistence  # noqa: PLC0415

    return Persistence(
        registration=settings.name,
        store=persisted.store,
        ttl=persisted.ttl,
        policy=settings.policy or Policy(),
        state=state,
    )


def describe(settings: Settings, mode: Mode) -> Description:
    """Return a registration as data."""
    more: dict[str, Any]
    match mode:
        case SingleUser():
            more = {"target": describe_type(mode.target)}
        case PerThread():
            more = {"target": source_of(mode.factory)}
        case ScopedFactory():
            more = {
                "target": mode.describe_target(),
                "scope": source_of(mode.scope),
                "shares": mode.describe_shares(),
            }
        case PersistentShared():
            access = mode.access
            more = {
                "target": describe_type(mode.target),
                "scope": None if access is None else f"access only: {source_of(access)}",
                "acknowledgement": mode.acknowledgement,
            }
        case _:
            assert_never(mode)
    return Description(
        name=settings.name,
        mode=mode.label,
        meaning=mode.meaning,
        path=settings.path,
        options=settings.options(bounded=isinstance(mode, PerThread | ScopedFactory)),
        notes=settings.notes,
        declared_at=settings.declared_at,
        **more,
    )


def given(target: object) -> Life[Any]:
    """Return the life of an instance that the user made and closes."""
    from scoped_registration.runtime.life import Given  # noqa: PLC0415

    return Given(target)


def made(settings: Settings, mode: PerThread[Any] | ScopedFactory[Any, Any]) -> Life[Any]:
    """Return the life of instances that a factory makes and the pool closes.

    Those of several principals are compared with each other.
    """
    from scoped_registration.runtime.life import Made  # noqa: PLC0415

    if isinstance(mode, PerThread):
        return Made(mode.factory)
    from scoped_registration.runtime.comparison import Comparison  # noqa: PLC0415

    return Made(mode.factory, comparison=Comparison(settings.name, mode.shares))


async def try_samples(settings: Settings, pool: Pool[Any]) -> None:
    """Have an instance built for each sample scope, and a second one for the first.

    All are built for one thread id: a factory may keep a cache by that, or by the scope.

    Raises:
        RegistrationError: What the pool refuses one with.
    """
    scopes = settings.sample_scopes
    samples = [(scope, _SAMPLE_THREADS[0]) for scope in scopes]
    samples += [(scope, _SAMPLE_THREADS[1]) for scope in scopes[:1]]
    keys = {(share_of(scope), thread_id): scope for scope, thread_id in samples}
    try:
        for key, scope in keys.items():
            async with pool.lease(key, scope):
                pass
    finally:
        pool.invalidate(keys.__contains__)
