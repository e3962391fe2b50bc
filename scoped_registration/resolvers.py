"""Whether a resolver can say who calls, as far as its signature tells (R5 and R6, once more)."""

from __future__ import annotations

import types
import typing
from enum import Enum
from typing import Any
from uuid import UUID

import attrs

from scoped_registration.errors import (
    ReasonCode,
    RegistrationError,
    caller,
    describe_callable,
    describe_type,
)
from scoped_registration.scope import ScopeContext
from scoped_registration.signatures import (
    hints_of,
    is_plain,
    is_subclass,
    members,
    results_of,
    returned_by,
    signature_of,
    without_partial,
)

__all__ = ["check_resolver", "check_same_scope"]

_NEVER_A_SCOPE = (bool, float, complex, bytes, bytearray, list, dict, set, frozenset)


def check_resolver(resolver: object, where: str) -> None:
    """Refuse what cannot be a dependency that returns a scope.

    Raises:
        RegistrationError: ``scope_resolver_required`` for ``None``,
            ``scope_resolver_invalid`` for what cannot be called or may return ``None``,
            ``scope_type_unsupported`` for a return type that is never a scope.
    """
    if resolver is None:
        raise RegistrationError(
            ReasonCode.SCOPE_RESOLVER_REQUIRED,
            f"{where} is None: without a scope there is no isolation",
            instead=f"{where}=current_user, a dependency that returns the principal",
            declared_at=caller(),
        )
    if not callable(resolver) or typing.get_origin(resolver) is not None:
        raise RegistrationError(
            ReasonCode.SCOPE_RESOLVER_INVALID,
            f"{where} is a {describe_type(resolver)}, not a dependency callable",
            instead=f"{where}=current_user, without calling it",
            declared_at=caller(),
        )
    for returned in results_of(resolver):
        _check_result(returned, describe_callable(resolver))
    made = without_partial(resolver)
    if isinstance(made, type) and not _may_be_a_scope(made):  # its instances are the scopes
        raise RegistrationError(
            ReasonCode.SCOPE_TYPE_UNSUPPORTED,
            f"the resolver is the class {made.__qualname__}, which cannot name a principal",
            instead="give the class a scope_key() -> str, make it a frozen dataclass, attrs class "
            "or pydantic model, or return a str, int, UUID, enum member or tuple",
            declared_at=caller(),
        )


def _may_be_a_scope(cls: type[Any]) -> bool:
    # Any: whatever a class is generic over.
    plain: tuple[type[Any], ...] = (str, int, UUID, Enum, tuple)
    if callable(getattr(cls, "scope_key", None)) or issubclass(cls, plain):
        return True
    return (
        attrs.has(cls)
        or hasattr(cls, "__dataclass_params__")
        or hasattr(cls, "__pydantic_fields__")  # whether it is frozen is told when it is read
    )


def _check_result(returned: object, resolver: str) -> None:
    for member in members(returned):
        if member is None or member is types.NoneType:
            raise RegistrationError(
                ReasonCode.SCOPE_RESOLVER_INVALID,
                f"the resolver {resolver} may return None, and None is nobody",
                instead="raise HTTPException(401) where there is no principal",
                declared_at=caller(),
            )
        plain: Any = typing.get_origin(member) or member
        if plain is tuple:
            for part in typing.get_args(member):
                _check_result(part, resolver)
        parameters: Any = getattr(plain, "__dataclass_params__", None)
        mutable = parameters is not None and not parameters.frozen
        if mutable or (isinstance(plain, type) and issubclass(plain, _NEVER_A_SCOPE)):
            raise RegistrationError(
                ReasonCode.SCOPE_TYPE_UNSUPPORTED,
                f"the resolver {resolver} returns a {plain.__qualname__}, "
                "which cannot name a principal",
                instead="return a str, int, UUID, enum member, tuple or frozen class",
                declared_at=caller(),
            )


def check_same_scope(factory: object, resolver: object) -> None:
    """Refuse a resolver whose scope type the factory's context does not hold.

    Args:
        factory: What takes the context.
        resolver: What makes its scope; `str` itself where a text is the scope.

    Raises:
        RegistrationError: ``scope_type_mismatch``.
    """
    signature = signature_of(factory)
    if signature is None or not signature.parameters:
        return
    context = hints_of(factory).get(next(iter(signature.parameters)))
    if typing.get_origin(context) is not ScopeContext:
        return
    wanted = list(members(typing.get_args(context)[0]))
    if not all(map(is_plain, wanted)):
        return
    for returned in filter(is_plain, members(returned_by(resolver))):
        if not any(is_subclass(returned, one) for one in wanted):
            held = " | ".join(one.__qualname__ for one in wanted)
            source = (
                "a thread's scope is the registration's name,"
                if resolver is str
                else f"the resolver {describe_callable(resolver)} returns"
            )
            raise RegistrationError(
                ReasonCode.SCOPE_TYPE_MISMATCH,
                f"the factory {describe_callable(factory)} takes a ScopeContext[{held}], "
                f"and {source} a {returned.__qualname__}",
                instead=f"ScopeContext[{returned.__qualname__}] in the factory, "
                "or another resolver",
                declared_at=caller(),
            )
