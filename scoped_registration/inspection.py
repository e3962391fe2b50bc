"""What can be read off a factory or a resolver without calling it.

A checker sees the same things; these checks repeat its rules for callers that are
untyped, cast or silenced. What cannot be read is not refused here.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from scoped_registration.errors import ReasonCode, RegistrationError, caller, describe_callable
from scoped_registration.errors import describe_type as type_of
from scoped_registration.scope import ScopeContext

__all__ = [
    "check_factory",
    "check_instance",
    "check_resolver",
    "check_same_scope",
    "refuse_bad_calls",
]

_NEVER_A_SCOPE = (bool, float, complex, bytes, bytearray, list, dict, set, frozenset)


def refuse_bad_calls(cls: type, code: ReasonCode, instead: str) -> None:
    """Make a constructor answer a missing or unknown argument with a `RegistrationError`.

    A checker reports such a call; this repeats it for callers that no checker sees.
    """
    name = "__init__" if "__init__" in vars(cls) else "__new__"
    original = vars(cls)[name]
    signature = inspect.signature(original)

    @functools.wraps(original)
    def checked(*args: object, **kwargs: object) -> object:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise RegistrationError(
                code, f"{cls.__qualname__}: {error}", instead=instead, declared_at=caller()
            ) from None
        return original(*args, **kwargs)

    setattr(cls, name, checked)


def check_instance(target: object, where: str) -> None:
    """Refuse what is no instance: nothing, a class, a function, a module, a coroutine.

    Raises:
        RegistrationError: ``instance_required``.
    """
    if target is not None and not isinstance(
        target,
        type
        | types.FunctionType
        | types.MethodType
        | types.BuiltinFunctionType
        | types.ModuleType
        | types.CoroutineType
        | functools.partial,
    ):
        return
    if inspect.iscoroutine(target):
        target.close()
    what = (
        f"the class {target.__qualname__}" if isinstance(target, type) else f"a {type_of(target)}"
    )
    raise RegistrationError(
        ReasonCode.INSTANCE_REQUIRED,
        f"{where} holds one instance, and was given {what}",
        instead=f"{where}(the_object, ...), SingleUser.per_thread(factory) or "
        "ScopedFactory(factory, scope=...)",
        declared_at=caller(),
    )


def check_factory(factory: object, where: str) -> None:
    """Refuse what cannot be called with one `ScopeContext`.

    Raises:
        RegistrationError: ``instance_is_not_a_factory``, ``builder_is_not_a_factory``
            or ``factory_signature``.
    """
    if inspect.iscoroutine(factory):
        factory.close()
    if not callable(factory):
        # An object with build() makes a new one per call from parts it holds: it shares them.
        is_builder = callable(getattr(type(factory), "build", None))
        code = (
            ReasonCode.BUILDER_IS_NOT_A_FACTORY
            if is_builder
            else (ReasonCode.INSTANCE_IS_NOT_A_FACTORY)
        )
        raise RegistrationError(
            code,
            f"{where} wants a factory, and was given a {type_of(factory)} "
            f"{'that builds from parts of its own' if is_builder else 'instance'}",
            instead="def build(context: ScopeContext[...]) -> ...: construct everything here",
            declared_at=caller(),
        )
    name = describe_callable(factory)
    function = factory.func if isinstance(factory, functools.partial) else factory
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise _bad_factory(
            f"the factory {name} is a generator function",
            "decorate it with contextlib.asynccontextmanager or contextmanager",
        )
    signature = _signature(factory)
    if signature is None:
        return
    try:
        bound = signature.bind(object())
    except TypeError:
        if _is_builder_method(factory):
            raise RegistrationError(
                ReasonCode.BUILDER_IS_NOT_A_FACTORY,
                f"{where} was given {name}, whose products share the parts that its builder holds",
                instead="def build(context: ScopeContext[...]) -> ...: construct everything here",
                declared_at=caller(),
            ) from None
        raise _bad_factory(
            f"the factory {name} cannot be called with one positional argument, the context",
            f"def {getattr(factory, '__name__', 'build')}(context: ScopeContext[...]) -> ...",
        ) from None
    first = next(iter(bound.arguments))
    wanted = _hints(factory).get(first)
    if isinstance(wanted, type) and not _is_subclass(ScopeContext, wanted):
        raise _bad_factory(
            f"the factory {name} takes a {wanted.__qualname__}, and is given a ScopeContext",
            "def build(context: ScopeContext[...]) -> ...; context.thread_id is the thread id",
        )


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
    if not callable(resolver):
        raise RegistrationError(
            ReasonCode.SCOPE_RESOLVER_INVALID,
            f"{where} is a {type_of(resolver)}, not a dependency callable",
            instead=f"{where}=current_user, without calling it",
            declared_at=caller(),
        )
    returned = _returned(resolver)
    members = typing.get_args(returned) if _is_union(returned) else (returned,)
    for member in members:
        if member is None or member is types.NoneType:
            raise RegistrationError(
                ReasonCode.SCOPE_RESOLVER_INVALID,
                f"the resolver {describe_callable(resolver)} may return None, and None is nobody",
                instead="raise HTTPException(401) where there is no principal",
                declared_at=caller(),
            )
        plain = typing.get_origin(member) or member
        if isinstance(plain, type) and issubclass(plain, _NEVER_A_SCOPE):
            raise RegistrationError(
                ReasonCode.SCOPE_TYPE_UNSUPPORTED,
                f"the resolver {describe_callable(resolver)} returns a {plain.__qualname__}, "
                "which cannot name a principal",
                instead="return a str, int, UUID, enum member, tuple or frozen class",
                declared_at=caller(),
            )


def check_same_scope(factory: object, resolver: object) -> None:
    """Refuse a resolver whose scope type the factory's context does not hold.

    Raises:
        RegistrationError: ``scope_type_mismatch``.
    """
    signature = _signature(factory)
    if signature is None or not signature.parameters:
        return
    context = _hints(factory).get(next(iter(signature.parameters)))
    wanted = next(iter(typing.get_args(context)), None)
    returned = _returned(resolver)
    if (
        typing.get_origin(context) is ScopeContext
        and isinstance(wanted, type)
        and isinstance(returned, type)
        and typing.get_origin(wanted) is None
        and typing.get_origin(returned) is None
        and not _is_subclass(returned, wanted)
    ):
        raise RegistrationError(
            ReasonCode.SCOPE_TYPE_MISMATCH,
            f"the factory {describe_callable(factory)} takes a "
            f"ScopeContext[{wanted.__qualname__}], and the resolver "
            f"{describe_callable(resolver)} returns a {returned.__qualname__}",
            instead=f"ScopeContext[{returned.__qualname__}] in the factory, or another resolver",
            declared_at=caller(),
        )


def _is_builder_method(factory: object) -> bool:
    return (
        inspect.ismethod(factory)
        and factory.__name__ == "build"
        and not isinstance(factory.__self__, type)
    )


def _is_subclass(cls: type, wanted: type) -> bool:
    try:
        return issubclass(cls, wanted)
    except TypeError:  # a protocol that is not made for it
        return True


def _bad_factory(problem: str, instead: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.FACTORY_SIGNATURE, problem, instead=instead, declared_at=caller()
    )


def _signature(function: Callable[..., object] | object) -> inspect.Signature | None:
    try:
        return inspect.signature(typing.cast(Callable[..., object], function))
    except (TypeError, ValueError):  # some builtins have none
        return None


def _hints(function: object) -> dict[str, Any]:
    """Return the annotations of a callable; nothing where they cannot be resolved."""
    if isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        function = vars(function).get("__init__", function)
    elif not inspect.isroutine(function):
        function = getattr(type(function), "__call__", function)
    try:
        return typing.get_type_hints(inspect.unwrap(typing.cast(Callable[..., Any], function)))
    except Exception:  # names under TYPE_CHECKING, or a user's own __annotations__
        return {}


def _returned(resolver: object) -> Any:
    """Return the annotated result of a resolver, without the awaitable around it."""
    if isinstance(resolver, type):
        return resolver
    returned = _hints(resolver).get("return", Any)
    if typing.get_origin(returned) in (Awaitable, Coroutine):
        return typing.get_args(returned)[-1]
    return returned


def _is_union(annotation: object) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)
