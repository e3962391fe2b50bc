"""The three isolation modes, a closed union: who may share an instance.

| mode | holds | meaning |
|---|---|---|
| `SingleUser` | an instance, or a factory per thread | every caller is one and the same principal |
| `ScopedFactory` | a factory and a scope resolver | one instance per (scope, thread id) |
| `PersistentShared` | an instance and an acknowledgement | one instance for all, on purpose |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeGuard, final

from typing_extensions import TypeVar, override

from scoped_registration.acknowledgement import (
    HOW_TO_SHARE,
    Acknowledgement,
    check_acknowledgement,
)
from scoped_registration.errors import (
    ReasonCode,
    caller,
    describe_callable,
    describe_type,
    source_of,
)
from scoped_registration.inspection import (
    check_factory,
    check_instance,
    check_shares,
    refuse_bad_calls,
)
from scoped_registration.resolvers import check_resolver, check_same_scope
from scoped_registration.scope import ScopeContext, ScopeResolver, ScopeValue

if TYPE_CHECKING:
    # The one upward import, for types alone: a mode names the stage that it opens, so that
    # `isolation` needs no overloads, and a checker reports a mistake where it was made.
    from scoped_registration.builder import (
        PerThreadBuilder,  # noqa: F401  # named in a base class below, as a string
        ScopedBuilder,  # noqa: F401
        SharedBuilder,  # noqa: F401
        SingleUserBuilder,  # noqa: F401
    )

__all__ = [
    "IsolationMode",
    "Mode",
    "PerThread",
    "PersistentShared",
    "Resolver",
    "ScopedFactory",
    "SingleUser",
]

T_co = TypeVar("T_co", covariant=True)
# What a factory returns: an instance, an awaitable of one or a context manager around one.
# `build` and `mount` unwrap it, so that no call which a user can get wrong is overloaded:
# a checker reports an overloaded call as a whole, and a plain one on the argument at fault.
P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)
S = TypeVar("S", bound=ScopeValue)
StageT_co = TypeVar("StageT_co", covariant=True)

Resolver: TypeAlias = ScopeResolver[ScopeValue]
"""A FastAPI dependency callable that returns who calls."""


class IsolationMode(Generic[StageT_co]):
    """What every mode is: it says which stage of the builder it opens."""

    keeps_state: ClassVar[bool] = True  # of a thread, between its runs

    if TYPE_CHECKING:
        # A member that has the parameter: without one, checkers disagree on its variance.
        def _opens(self) -> StageT_co: ...


@final
class SingleUser(IsolationMode["SingleUserBuilder[T_co]"], Generic[T_co]):
    """Every caller is one and the same principal; one instance serves all threads.

    Args:
        target: The instance. It stays yours: the library never closes it.
        owner: A resolver used as a guard. The first principal seen is pinned and any
            other is answered 403. Without it, a route that authenticates is refused.

    Raises:
        RegistrationError: ``instance_required`` for a class or a function,
            ``scope_resolver_invalid`` or ``scope_type_unsupported`` for the owner.

    Example:
        ```python
        SingleUser(Assistant())
        ```
    """

    label: ClassVar[str] = "SingleUser"
    meaning: ClassVar[str] = (
        "every caller is one and the same principal, and all threads share one instance"
    )

    def __init__(self, target: T_co, *, owner: Resolver | None = None) -> None:
        check_instance(target, "SingleUser")
        if owner is not None:
            check_resolver(owner, "owner")
        self.declared_at: str = caller()
        self.target: T_co = target
        self.owner = owner

    @staticmethod
    def per_thread(
        factory: Callable[[ScopeContext[str]], P], *, owner: Resolver | None = None
    ) -> PerThread[P]:
        """Return the mode of one principal with an instance per thread.

        Args:
            factory: Takes a `ScopeContext`, whose scope is the registration's name.
            owner: See `SingleUser`.

        Raises:
            RegistrationError: ``instance_is_not_a_factory``, ``factory_signature``, ...

        Example:
            ```python
            SingleUser.per_thread(lambda context: Assistant(context.thread_id))
            ```
        """
        return PerThread(factory, owner=owner)

    @override
    def __repr__(self) -> str:
        return f"SingleUser({describe_type(self.target)})"


@final
class PerThread(IsolationMode["PerThreadBuilder[P_co]"], Generic[P_co]):
    """`SingleUser.per_thread`: one principal, an instance per thread."""

    label: ClassVar[str] = "SingleUser.per_thread"
    meaning: ClassVar[str] = (
        "every caller is one and the same principal, with one instance per thread"
    )

    def __init__(
        self, factory: Callable[[ScopeContext[str]], P_co], *, owner: Resolver | None
    ) -> None:
        check_factory(factory, "SingleUser.per_thread")
        check_same_scope(factory, str)
        if owner is not None:
            check_resolver(owner, "owner")
        self.declared_at: str = caller()
        self.factory: Callable[[ScopeContext[str]], object] = factory
        self.owner = owner

    @override
    def __repr__(self) -> str:
        return f"SingleUser.per_thread({describe_callable(self.factory)})"


class ScopedFactory(IsolationMode["ScopedBuilder[P_co, S]"], Generic[P_co, S]):
    """One instance per (authorization scope, thread id), built by a factory.

    Args:
        factory: Takes one `ScopeContext`. A function, an async function, an (async)
            context-manager factory, a class, a `functools.partial` or a lambda. A
            synchronous one runs on the event loop, never in a thread.
        scope: A FastAPI dependency callable that returns who calls. It alone decides
            whose instance is served; no field of a request body can.
        shares: Objects or types that instances share on purpose, such as a connection pool.
            Any other mutable object in two instances is refused. Named in the manifest.

    Raises:
        RegistrationError: ``instance_is_not_a_factory``, ``builder_is_not_a_factory``,
            ``factory_signature``, ``scope_resolver_required``,
            ``scope_resolver_invalid``, ``scope_type_unsupported``,
            ``scope_type_mismatch``.

    Example:
        ```python
        def build_chat(context: ScopeContext[str]) -> Chat:
            return Chat(owner=context.scope)

        ScopedFactory(build_chat, scope=current_user)
        ```
    """

    label: ClassVar[str] = "ScopedFactory"
    meaning: ClassVar[str] = "one instance per (authorization scope, thread id)"

    def __init__(
        self,
        factory: Callable[[ScopeContext[S]], P_co],
        *,
        scope: ScopeResolver[S],
        shares: Sequence[object] = (),
    ) -> None:
        check_factory(factory, "ScopedFactory")
        check_resolver(scope, "scope")
        check_same_scope(factory, scope)
        declared = check_shares(shares)
        self.declared_at: str = caller()
        self.factory: Callable[[ScopeContext[S]], object] = factory
        self.scope: Callable[..., object] = scope
        self.shares: tuple[object, ...] = declared

    def describe_target(self) -> str:
        """Return what serves a key, for the manifest."""
        return source_of(self.factory)

    def describe_shares(self) -> tuple[str, ...]:
        """Return the types of what instances share, for the manifest."""
        return tuple(
            shared.__qualname__ if isinstance(shared, type) else describe_type(shared)
            for shared in self.shares
        )

    @override
    def __repr__(self) -> str:
        return f"ScopedFactory({describe_callable(self.factory)})"


@final
class PersistentShared(IsolationMode["SharedBuilder[T_co]"], Generic[T_co]):
    """One instance for several principals, on purpose, with the risks named.

    Args:
        target: The instance. It stays yours: the library never closes it.
        acknowledgement: Who accepts which risks, and why.
        access: A resolver that says who calls. It is access control, not isolation.

    Raises:
        RegistrationError: ``instance_required``, ``acknowledgement_required``, and
            ``scope_resolver_invalid`` or ``scope_type_unsupported`` for `access`.

    Example:
        ```python
        PersistentShared(
            room,
            acknowledgement=Acknowledgement(
                reason="one shared incident room", owner="team-sre", risks={Risk.OBJECT_STATE}
            ),
        )
        ```
    """

    label: ClassVar[str] = "PersistentShared"
    meaning: ClassVar[str] = (
        "ONE INSTANCE IS SHARED by all callers, on purpose; this is not isolation"
    )

    def __init__(
        self,
        target: T_co,
        *,
        acknowledgement: Acknowledgement,
        access: Resolver | None = None,
    ) -> None:
        check_instance(target, "PersistentShared")
        check_acknowledgement(acknowledgement)
        if access is not None:
            check_resolver(access, "access")
        self.declared_at: str = caller()
        self.target: T_co = target
        self.acknowledgement = acknowledgement
        self.access = access

    @override
    def __repr__(self) -> str:
        return f"PersistentShared({describe_type(self.target)})"


# Any: the union says which mode, whatever it holds.
Mode: TypeAlias = SingleUser[Any] | PerThread[Any] | ScopedFactory[Any, Any] | PersistentShared[Any]
"""The closed union of the modes."""


def is_mode(value: object) -> TypeGuard[Mode]:
    """Tell whether a value is an isolation mode."""
    return isinstance(value, SingleUser | PerThread | ScopedFactory | PersistentShared)


_ONE_PRINCIPAL = (
    "SingleUser(target) or SingleUser.per_thread(factory) for one principal, "
    "ScopedFactory(factory, scope=...) for several"
)

refuse_bad_calls(SingleUser, ReasonCode.MODE_CONFLICT, _ONE_PRINCIPAL)
refuse_bad_calls(SingleUser, ReasonCode.MODE_CONFLICT, _ONE_PRINCIPAL, method="per_thread")
refuse_bad_calls(
    ScopedFactory,
    ReasonCode.SCOPE_RESOLVER_REQUIRED,
    "ScopedFactory(factory, scope=current_user)",
)
refuse_bad_calls(PersistentShared, ReasonCode.ACKNOWLEDGEMENT_REQUIRED, HOW_TO_SHARE)
