"""What can be read off a target or a factory without calling it.

A checker sees the same things; these checks repeat its rules for callers that are
untyped, cast or silenced. What cannot be read is not refused here.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable

from scoped_registration.errors import (
    ReasonCode,
    RegistrationError,
    caller,
    close_coroutine,
    describe_callable,
    describe_type,
)
from scoped_registration.scope import ScopeContext
from scoped_registration.signatures import (
    hints_of,
    is_plain,
    is_subclass,
    members,
    signature_of,
)

__all__ = [
    "check_factory",
    "check_instance",
    "check_shares",
    "refuse_bad_calls",
]

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
    if all(is_plain(one) and not is_subclass(ScopeContext, one) for one in wanted):
        taken = " or a ".join(one.__qualname__ for one in wanted)
        raise _bad_factory(
            f"the factory {name} takes a {taken}, and is given a ScopeContext",
            "def build(context: ScopeContext[...]) -> ...; context.thread_id is the thread id",
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


def _bad_factory(problem: str, instead: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.FACTORY_SIGNATURE, problem, instead=instead, declared_at=caller()
    )
