"""What can be read off a factory or a resolver without calling it.

A checker sees the same things; these checks repeat its rules for callers that are
untyped, cast or silenced. What cannot be read is not refused here.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from scoped_registration.errors import (
    ReasonCode,
    RegistrationError,
    caller,
    close_coroutine,
    describe_callable,
    describe_type,
)
from scoped_registration.scope import ScopeContext
from scoped_registration.signatures import hints_of, members, results_of, returned_by, signature_of

__all__ = [
    "check_factory",
    "check_instance",
    "check_resolver",
    "check_same_scope",
    "check_shares",
    "refuse_bad_calls",
]

_NEVER_A_SCOPE = (bool, float, complex, bytes, bytearray, list, dict, set, frozenset)
_NEVER_AN_INSTANCE: tuple[type, ...] = (
    type,
    types.NoneType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.CoroutineType,
    types.GeneratorType,
    types.AsyncGeneratorType,
    functools.partial,
)


def refuse_bad_calls(
    cls: type, code: ReasonCode, instead: str, *, method: str = "__init__"
) -> None:
    """Make a method answer a missing or unknown argument with a `RegistrationError`.

    A checker reports such a call; this repeats it for callers that no checker sees. A
    coroutine among the arguments of a refused call is closed.
    """
    found = vars(cls)[method]
    original: Callable[..., object] = getattr(found, "__func__", found)
    called = cls.__qualname__ if method == "__init__" else f"{cls.__qualname__}.{method}"

    @functools.wraps(original)
    def checked(*args: object, **kwargs: object) -> object:
        try:
            return original(*args, **kwargs)
        except RegistrationError:
            _close_coroutines(*args, *kwargs.values())
            raise
        except TypeError:
            try:
                inspect.signature(original).bind(*args, **kwargs)
            except TypeError as error:
                _close_coroutines(*args, *kwargs.values())
                raise RegistrationError(
                    code, f"{called}: {error}", instead=instead, declared_at=caller()
                ) from None
            raise  # the arguments fit: it is the user's own

    setattr(cls, method, staticmethod(checked) if isinstance(found, staticmethod) else checked)


def _close_coroutines(*arguments: object) -> None:
    for argument in arguments:
        close_coroutine(argument)


def check_instance(target: object, where: str) -> None:
    """Refuse what is no instance: nothing, a class, a function, a module, a coroutine.

    Raises:
        RegistrationError: ``instance_required``.
    """
    if not isinstance(target, _NEVER_AN_INSTANCE) and typing.get_origin(target) is None:
        return
    kind = describe_type(target)
    what = f"the class {target.__qualname__}" if isinstance(target, type) else f"a {kind}"
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
            f"{where} wants a factory, and was given a {describe_type(factory)} "
            f"{'that builds from parts of its own' if is_builder else 'instance'}",
            instead="def build(context: ScopeContext[...]) -> ...: construct everything here",
            declared_at=caller(),
        )
    name = describe_callable(factory)
    called = getattr(type(factory), "__call__", None)  # noqa: B004  # to read it
    if any(map(inspect.isgeneratorfunction, (factory, called))) or any(
        map(inspect.isasyncgenfunction, (factory, called))
    ):
        raise _bad_factory(
            f"the factory {name} is a generator function",
            "decorate it with contextlib.asynccontextmanager or contextmanager",
        )
    signature = signature_of(factory)
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
            "def build(context: ScopeContext[...]) -> ..., or lambda context: ...",
        ) from None
    first = next(iter(bound.arguments))
    wanted = [typing.get_origin(one) or one for one in members(hints_of(factory).get(first))]
    if all(_is_plain(one) and not _is_subclass(ScopeContext, one) for one in wanted):
        taken = " or a ".join(one.__qualname__ for one in wanted)
        raise _bad_factory(
            f"the factory {name} takes a {taken}, and is given a ScopeContext",
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
    if not callable(resolver) or typing.get_origin(resolver) is not None:
        raise RegistrationError(
            ReasonCode.SCOPE_RESOLVER_INVALID,
            f"{where} is a {describe_type(resolver)}, not a dependency callable",
            instead=f"{where}=current_user, without calling it",
            declared_at=caller(),
        )
    for returned in results_of(resolver):
        _check_result(returned, describe_callable(resolver))


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
    if not all(map(_is_plain, wanted)):
        return
    for returned in filter(_is_plain, members(returned_by(resolver))):
        if not any(_is_subclass(returned, one) for one in wanted):
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


def _is_plain(annotation: object) -> bool:
    # `Any` is a class at run time.
    return (
        isinstance(annotation, type)
        and annotation is not Any
        and typing.get_origin(annotation) is None
    )


def check_shares(shares: object) -> tuple[object, ...]:
    """Return a sequence of objects or types, and refuse another thing.

    Raises:
        RegistrationError: ``option_invalid``.
    """
    problem = f"shares is a {describe_type(shares)}, not a sequence of objects or types"
    if isinstance(shares, Iterable) and not isinstance(shares, str):
        declared = tuple(typing.cast("Iterable[object]", shares))
        if not any(shared is one for shared in declared for one in (object, dict, list, set)):
            return declared
        problem = "shares names a type of nearly everything, so nothing would be compared"
    raise RegistrationError(
        ReasonCode.OPTION_INVALID,
        problem,
        instead="shares=(chat_client,), or the class of what is shared",
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
