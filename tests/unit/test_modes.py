"""Bad declarations of a mode, promise P1: refused where they stand, with what to write instead."""

# these tests try what no type admits

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import inspect
import math
import types
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from datetime import UTC, date, datetime
from typing import Annotated, Any, NewType, Optional, overload
from uuid import UUID

import attrs
import pytest
from typing_extensions import TypeAliasType

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    ReasonCode,
    RegistrationError,
    Risk,
    ScopeContext,
    ScopedFactory,
    SingleUser,
)
from tests.unit.helpers import (
    Chat,
    UntypedAcknowledgement,
    UntypedScoped,
    UntypedShared,
    UntypedSingleUser,
    refusal_with_remedy,
    user,
)

ACKNOWLEDGED = Acknowledgement(reason="one room", owner="team-sre", risks={Risk.OBJECT_STATE})


async def _coroutine() -> Chat:
    return Chat()


def _generator() -> Iterator[Chat]:
    yield Chat()


# --- what stands for an instance -----------------------------------------------------

NO_INSTANCE: dict[str, Callable[[], object]] = {
    "none": lambda: None,
    "class": lambda: Chat,
    "alias": lambda: list[Chat],
    "function": lambda: user,
    "lambda": lambda: lambda: None,
    "method": lambda: Chat().history.append,
    "partial": lambda: functools.partial(Chat),
    "module": lambda: math,
    "coroutine": _coroutine,
    "coroutine-function": lambda: _coroutine,
    "generator": _generator,
}


@pytest.mark.parametrize("make", NO_INSTANCE.values(), ids=NO_INSTANCE)
def test_p1_single_user_wants_an_instance(make: Callable[[], object]) -> None:
    error = refusal_with_remedy(
        lambda: UntypedSingleUser(make()),
        ReasonCode.INSTANCE_REQUIRED,
        "SingleUser holds one instance",
    )
    assert "SingleUser.per_thread(factory)" in str(error)


@pytest.mark.parametrize("make", NO_INSTANCE.values(), ids=NO_INSTANCE)
def test_p1_persistent_shared_wants_an_instance(make: Callable[[], object]) -> None:
    refusal_with_remedy(
        lambda: UntypedShared(make(), acknowledgement=ACKNOWLEDGED),
        ReasonCode.INSTANCE_REQUIRED,
        "PersistentShared holds one instance",
    )


def test_an_uncalled_class_is_named() -> None:
    refusal_with_remedy(
        lambda: SingleUser(Chat), ReasonCode.INSTANCE_REQUIRED, "was given the class Chat"
    )


def test_a_parametrized_mode_is_refused_at_its_own_line() -> None:
    refusal_with_remedy(
        lambda: UntypedSingleUser[Chat](Chat), ReasonCode.INSTANCE_REQUIRED, "the class Chat"
    )


# --- what stands for a factory -------------------------------------------------------


class WorkflowBuilder:
    """A builder: what it makes shares the parts that it holds."""

    def __init__(self) -> None:
        self.part = Chat()

    def build(self) -> Chat:
        return self.part


class Calls:
    def __call__(self, context: ScopeContext[str]) -> Chat:
        return Chat(context)

    def method(self, context: ScopeContext[str]) -> Chat:
        return Chat(context)

    @classmethod
    def of(cls, context: ScopeContext[str]) -> Chat:
        return Chat(context)

    @staticmethod
    def static(context: ScopeContext[str]) -> Chat:
        return Chat(context)

    def generate(self, context: ScopeContext[str]) -> Iterator[Chat]:
        yield Chat(context)


class CallsGenerator:
    def __call__(self, context: ScopeContext[str]) -> Iterator[Chat]:
        yield Chat(context)


class NoArgument:
    def __init__(self) -> None: ...


class TakesThread:
    def __init__(self, thread_id: str) -> None: ...


class TakesThreadToo(TakesThread):
    """Its constructor is its base's."""


def no_argument() -> Chat:
    return Chat()


def two_arguments(context: object, other: object) -> Chat:
    return Chat(context)


def keyword_only(*, context: ScopeContext[str]) -> Chat:
    return Chat(context)


def more_keyword_only(context: ScopeContext[str], *, model: str) -> Chat:
    return Chat(context)


def generator(context: ScopeContext[str]) -> Iterator[Chat]:
    yield Chat(context)


async def async_generator(context: ScopeContext[str]) -> AsyncIterator[Chat]:
    yield Chat(context)


def takes_thread_id(thread_id: str) -> Chat:
    return Chat(thread_id)


def takes_list(thread_ids: list[str]) -> Chat:
    return Chat(thread_ids)


def takes_either(key: str | int) -> Chat:
    return Chat(key)


NO_FACTORY: dict[str, tuple[Callable[[], object], ReasonCode, str]] = {
    "none": (lambda: None, ReasonCode.INSTANCE_IS_NOT_A_FACTORY, "a NoneType instance"),
    "instance": (Chat, ReasonCode.INSTANCE_IS_NOT_A_FACTORY, "helpers.Chat instance"),
    "text": (lambda: "Chat", ReasonCode.INSTANCE_IS_NOT_A_FACTORY, "a str instance"),
    "coroutine": (_coroutine, ReasonCode.INSTANCE_IS_NOT_A_FACTORY, "a coroutine instance"),
    "builder": (WorkflowBuilder, ReasonCode.BUILDER_IS_NOT_A_FACTORY, "builds from parts"),
    "builder-method": (
        lambda: WorkflowBuilder().build,
        ReasonCode.BUILDER_IS_NOT_A_FACTORY,
        "WorkflowBuilder.build, whose products share",
    ),
    "no-argument": (lambda: no_argument, ReasonCode.FACTORY_SIGNATURE, "no_argument cannot be"),
    "lambda": (lambda: lambda: None, ReasonCode.FACTORY_SIGNATURE, "one positional argument"),
    "class": (lambda: NoArgument, ReasonCode.FACTORY_SIGNATURE, "NoArgument cannot be called"),
    "two": (lambda: two_arguments, ReasonCode.FACTORY_SIGNATURE, "one positional argument"),
    "keyword-only": (lambda: keyword_only, ReasonCode.FACTORY_SIGNATURE, "one positional"),
    "keyword-too": (lambda: more_keyword_only, ReasonCode.FACTORY_SIGNATURE, "one positional"),
    "full-partial": (
        lambda: functools.partial(two_arguments, 1, 2),
        ReasonCode.FACTORY_SIGNATURE,
        "one positional",
    ),
    "generator": (lambda: generator, ReasonCode.FACTORY_SIGNATURE, "is a generator function"),
    "async-generator": (
        lambda: async_generator,
        ReasonCode.FACTORY_SIGNATURE,
        "contextlib.asynccontextmanager",
    ),
    "generator-partial": (
        lambda: functools.partial(generator),
        ReasonCode.FACTORY_SIGNATURE,
        "is a generator function",
    ),
    "generator-method": (
        lambda: Calls().generate,
        ReasonCode.FACTORY_SIGNATURE,
        "is a generator function",
    ),
    "generator-object": (
        CallsGenerator,
        ReasonCode.FACTORY_SIGNATURE,
        "is a generator function",
    ),
    "annotation": (
        lambda: takes_thread_id,
        ReasonCode.FACTORY_SIGNATURE,
        "takes a str, and is given a ScopeContext",
    ),
    "generic-annotation": (lambda: takes_list, ReasonCode.FACTORY_SIGNATURE, "takes a list"),
    "union-annotation": (lambda: takes_either, ReasonCode.FACTORY_SIGNATURE, "takes a str or a"),
    "class-annotation": (lambda: TakesThread, ReasonCode.FACTORY_SIGNATURE, "takes a str"),
    "inherited-annotation": (lambda: TakesThreadToo, ReasonCode.FACTORY_SIGNATURE, "takes a str"),
}


@pytest.mark.parametrize(("make", "code", "fragment"), NO_FACTORY.values(), ids=NO_FACTORY)
def test_p1_scoped_factory_wants_a_factory(
    make: Callable[[], object], code: ReasonCode, fragment: str
) -> None:
    error = refusal_with_remedy(lambda: UntypedScoped(make(), scope=user), code, fragment)
    assert "context" in str(error.instead) or "contextlib" in str(error.instead)


@pytest.mark.parametrize(("make", "code", "fragment"), NO_FACTORY.values(), ids=NO_FACTORY)
def test_p1_per_thread_wants_a_factory(
    make: Callable[[], object], code: ReasonCode, fragment: str
) -> None:
    refusal_with_remedy(lambda: UntypedSingleUser.per_thread(make()), code, fragment)


@contextlib.contextmanager
def managed(context: ScopeContext[str]) -> Generator[Chat]:
    yield Chat(context)


@contextlib.asynccontextmanager
async def async_managed(context: ScopeContext[str]) -> AsyncGenerator[Chat]:
    yield Chat(context)


async def async_build(context: ScopeContext[str]) -> Chat:
    return Chat(context)


def with_default(context: ScopeContext[str], model: str = "small") -> Chat:
    return Chat(context)


def variadic(*args: Any, **kwargs: Any) -> Chat:
    return Chat(args)


def takes_object(context: object) -> Chat:
    return Chat(context)


def takes_optional(context: ScopeContext[str] | None) -> Chat:
    return Chat(context)


FACTORIES: dict[str, object] = {
    "function": with_default,
    "lambda": lambda *_: Chat(),  # pyright: ignore[reportUnknownLambdaType]
    "async": async_build,
    "context-manager": managed,
    "async-context-manager": async_managed,
    "class": Chat,
    "callable-object": Calls(),
    "bound-method": Calls().method,
    "classmethod": Calls.of,
    "staticmethod": Calls.static,
    "partial": functools.partial(two_arguments, other=1),
    "partial-of-class": functools.partial(Chat),
    "variadic": variadic,
    "object-annotation": takes_object,
    "optional-annotation": takes_optional,
    "builtin": dict,
}


@pytest.mark.parametrize("factory", FACTORIES.values(), ids=FACTORIES)
def test_p1_factories_that_are_accepted(factory: object) -> None:
    assert UntypedScoped(factory, scope=user).factory is factory
    assert UntypedSingleUser.per_thread(factory).factory is factory


# --- who calls -----------------------------------------------------------------------


def _build(context: ScopeContext[Any]) -> Chat:
    return Chat(context)


def _returning(annotation: object) -> Any:
    """Return a resolver with this annotation; a declaration never calls it."""

    def current_user() -> Any:
        raise AssertionError

    current_user.__annotations__["return"] = annotation
    return current_user


def _object_returning(annotation: object) -> Any:
    class Dependency:
        __call__ = staticmethod(_returning(annotation))

    return Dependency()


FORMS: dict[str, Callable[[object], Any]] = {
    "function": _returning,
    "callable-object": _object_returning,
    "partial": lambda annotation: functools.partial(_returning(annotation)),
    "awaitable": lambda annotation: _returning(types.GenericAlias(Awaitable, (annotation,))),
    "generator": lambda annotation: _returning(types.GenericAlias(AsyncIterator, (annotation,))),
}


@dataclasses.dataclass
class Mutable:
    user: str


@attrs.frozen
class Tenant:
    name: str


async def async_optional() -> str | None:
    return None


async def async_list() -> list[str]:
    return []


class UserDict(dict[str, str]):
    """A class dependency: what it makes is the scope."""


MaybeUser = TypeAliasType("MaybeUser", str | None)
Claims = NewType("Claims", dict[str, str])

NONE_RESULTS: dict[str, object] = {
    "none": None,
    "none-type": type(None),
    "optional": str | None,
    "old-optional": Optional[str],  # noqa: UP045  # the old spelling
    "annotated": Annotated[str | None, "who"],
    "alias": MaybeUser,
    "text": "str | None",
    "awaitable-of-optional": str | Awaitable[UUID | None],
    "in-tuple": tuple[str, str | None],
}
NEVER_RESULTS: dict[str, tuple[object, str]] = {
    "list": (list, "a list"),
    "list-of": (list[str], "a list"),
    "dict": (dict[str, str], "a dict"),
    "set": (set[str], "a set"),
    "frozenset": (frozenset[str], "a frozenset"),
    "bool": (bool, "a bool"),
    "float": (float, "a float"),
    "bytes": (bytes, "a bytes"),
    "text": ("dict[str, str]", "a dict"),
    "union": (str | list[str], "a list"),
    "new-type": (Claims, "a dict"),
    "in-tuple": (tuple[str, bool], "a bool"),
    "subclass": (UserDict, "a UserDict"),
    "dataclass": (Mutable, "a Mutable"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("result", NONE_RESULTS.values(), ids=NONE_RESULTS)
def test_p1_a_resolver_that_may_return_none(form: Callable[[object], Any], result: object) -> None:
    resolver = form(result)
    refusal_with_remedy(
        lambda: UntypedScoped(_build, scope=resolver),
        ReasonCode.SCOPE_RESOLVER_INVALID,
        "may return None, and None is nobody",
        "HTTPException(401)",
    )


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("result", "named"), NEVER_RESULTS.values(), ids=NEVER_RESULTS)
def test_p1_a_resolver_that_returns_what_is_never_a_scope(
    form: Callable[[object], Any], result: object, named: str
) -> None:
    resolver = form(result)
    refusal_with_remedy(
        lambda: UntypedScoped(_build, scope=resolver),
        ReasonCode.SCOPE_TYPE_UNSUPPORTED,
        f"returns {named}, which cannot name a principal",
        "frozen class",
    )


@pytest.mark.parametrize("option", ["owner", "access"])
@pytest.mark.parametrize(
    ("resolver", "code"),
    [
        (async_optional, ReasonCode.SCOPE_RESOLVER_INVALID),
        (async_list, ReasonCode.SCOPE_TYPE_UNSUPPORTED),
        (UserDict, ReasonCode.SCOPE_TYPE_UNSUPPORTED),
        (functools.partial(UserDict), ReasonCode.SCOPE_TYPE_UNSUPPORTED),
        (True, ReasonCode.SCOPE_RESOLVER_INVALID),
        ("alice", ReasonCode.SCOPE_RESOLVER_INVALID),
    ],
    ids=["async-optional", "async-list", "class", "partial-of-class", "true", "text"],
)
def test_p1_owner_and_access_obey_the_rules_of_a_resolver(
    option: str, resolver: object, code: ReasonCode
) -> None:
    if option == "owner":
        refusal_with_remedy(lambda: UntypedSingleUser(Chat(), owner=resolver), code)
        refusal_with_remedy(lambda: UntypedSingleUser.per_thread(Chat, owner=resolver), code)
        return
    given = {"acknowledgement": ACKNOWLEDGED, "access": resolver}
    refusal_with_remedy(lambda: UntypedShared(Chat(), **given), code)


@pytest.mark.parametrize(
    ("resolver", "code", "fragment"),
    [
        (lambda: None, ReasonCode.SCOPE_RESOLVER_REQUIRED, "scope is None"),
        (lambda: "alice", ReasonCode.SCOPE_RESOLVER_INVALID, "scope is a str"),
        (lambda: True, ReasonCode.SCOPE_RESOLVER_INVALID, "scope is a bool"),
        (Chat, ReasonCode.SCOPE_RESOLVER_INVALID, "helpers.Chat, not a dependency"),
        (_coroutine, ReasonCode.SCOPE_RESOLVER_INVALID, "without calling it"),
    ],
    ids=["none", "text", "true", "object", "coroutine"],
)
def test_p1_a_scope_resolver_is_a_callable(
    resolver: Callable[[], object], code: ReasonCode, fragment: str
) -> None:
    refusal_with_remedy(lambda: UntypedScoped(_build, scope=resolver()), code, fragment)


def test_p1_scoped_factory_without_scope() -> None:
    refusal_with_remedy(
        lambda: UntypedScoped(_build),
        ReasonCode.SCOPE_RESOLVER_REQUIRED,
        "missing a required argument: 'scope'",
        "scope=current_user",
    )


@pytest.mark.parametrize(
    "result",
    [str, int, UUID, Tenant, str | UUID, tuple[str, int], Any, "Unknown", Awaitable[str], object],
    ids=str,
)
def test_p1_resolvers_that_are_accepted(result: object) -> None:
    resolver = _returning(result)
    assert UntypedScoped(_build, scope=resolver).scope is resolver


def test_p1_an_annotation_that_cannot_be_read_hides_no_other() -> None:
    resolver = _returning("str | None")
    resolver.__annotations__["session"] = "OnlyForCheckers"
    refusal_with_remedy(
        lambda: UntypedScoped(_build, scope=resolver), ReasonCode.SCOPE_RESOLVER_INVALID
    )


@overload
def overloaded(token: str) -> str: ...
@overload
def overloaded(token: int) -> str | None: ...
def overloaded(token: object) -> object:
    return token


class Overloaded:
    @overload
    def __call__(self, token: str) -> str: ...
    @overload
    def __call__(self, token: int) -> list[str]: ...
    def __call__(self, token: object) -> object:
        return token


@pytest.mark.parametrize(
    ("resolver", "code"),
    [
        (overloaded, ReasonCode.SCOPE_RESOLVER_INVALID),
        (functools.partial(overloaded, "token"), ReasonCode.SCOPE_RESOLVER_INVALID),
        (Overloaded(), ReasonCode.SCOPE_TYPE_UNSUPPORTED),
        (Overloaded().__call__, ReasonCode.SCOPE_TYPE_UNSUPPORTED),
    ],
    ids=["function", "partial", "object", "method"],
)
def test_p1_each_overload_of_a_resolver_is_read(resolver: object, code: ReasonCode) -> None:
    refusal_with_remedy(lambda: UntypedScoped(_build, scope=resolver), code)


@pytest.mark.parametrize("builtin", [str, "".join, len])
def test_p1_a_resolver_without_annotations_is_not_judged(builtin: object) -> None:
    assert UntypedScoped(_build, scope=builtin).scope is builtin


@pytest.mark.parametrize("scope_class", [Tenant, functools.partial(Tenant, "acme")])
def test_p1_a_class_may_be_the_resolver(scope_class: object) -> None:
    assert UntypedScoped(_build, scope=scope_class).scope is scope_class


# --- the scope of the factory and of the resolver ------------------------------------


def _wanting(annotation: object) -> Any:
    def build(context: Any) -> Chat:
        return Chat(context)

    build.__annotations__["context"] = annotation
    return build


@pytest.mark.parametrize(
    ("wanted", "returned"),
    [
        (Tenant, str),
        (str, Tenant),
        (str, UUID),
        (str, int),
        (str, str | UUID),
        (str | int, Tenant),
        (str, Awaitable[Tenant]),
    ],
    ids=str,
)
def test_p1_a_resolver_of_another_type_than_the_factory_s(wanted: Any, returned: object) -> None:
    build, resolver = _wanting(ScopeContext[wanted]), _returning(returned)
    error = refusal_with_remedy(
        lambda: UntypedScoped(build, scope=resolver),
        ReasonCode.SCOPE_TYPE_MISMATCH,
        "build takes a ScopeContext[",
        "current_user returns a",
    )
    assert "ScopeContext[" in str(error.instead)


@pytest.mark.parametrize(
    ("wanted", "returned"),
    [
        (str, str),
        (object, Tenant),
        (str | UUID, UUID),
        (str | UUID, UUID | str),
        (tuple[str, str], tuple[str, str]),
        (NewType("UserId", str), str),
        (str, Any),
        (Any, Tenant),
    ],
    ids=str,
)
def test_p1_a_resolver_of_the_factory_s_type(wanted: Any, returned: object) -> None:
    build = _wanting(ScopeContext[wanted])
    assert UntypedScoped(build, scope=_returning(returned)).factory is build


def test_p1_a_class_dependency_of_another_type() -> None:
    build = _wanting(ScopeContext[str])
    refusal_with_remedy(
        lambda: UntypedScoped(build, scope=Tenant),
        ReasonCode.SCOPE_TYPE_MISMATCH,
        "returns a Tenant",
    )


def test_p1_the_scope_of_per_thread_is_a_str() -> None:
    build = _wanting(ScopeContext[UUID])
    refusal_with_remedy(
        lambda: UntypedSingleUser.per_thread(build),
        ReasonCode.SCOPE_TYPE_MISMATCH,
        "a thread's scope is the registration's name, a str",
    )


# --- options of the modes ------------------------------------------------------------


def test_p1_single_user_has_no_scope() -> None:
    refusal_with_remedy(
        lambda: UntypedSingleUser(Chat(), scope=user), ReasonCode.MODE_CONFLICT, "'scope'"
    )
    refusal_with_remedy(
        lambda: UntypedSingleUser.per_thread(Chat, scope=user), ReasonCode.MODE_CONFLICT, "'scope'"
    )


@pytest.mark.parametrize(
    "shares", [None, 7, "client", Chat()], ids=["none", "int", "str", "object"]
)
def test_p9_shares_is_a_sequence(shares: object) -> None:
    refusal_with_remedy(
        lambda: UntypedScoped(_build, scope=user, shares=shares),
        ReasonCode.OPTION_INVALID,
        "not a sequence of objects or types",
    )


def test_a_mode_shows_its_target_s_class_and_nothing_it_holds() -> None:
    room = Chat("canary")
    shown = [
        repr(SingleUser(room)),
        repr(SingleUser.per_thread(Chat)),
        repr(ScopedFactory(Chat, scope=user)),
        repr(PersistentShared(room, acknowledgement=ACKNOWLEDGED)),
    ]
    assert shown == [
        "SingleUser(tests.unit.helpers.Chat)",
        "SingleUser.per_thread(tests.unit.helpers.Chat)",
        "ScopedFactory(tests.unit.helpers.Chat)",
        "PersistentShared(tests.unit.helpers.Chat)",
    ]


# --- sharing on purpose --------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [None, True, "we know", {"reason": "x"}, Acknowledgement], ids=str
)
def test_p10_persistent_shared_wants_an_acknowledgement(given: object) -> None:
    refusal_with_remedy(
        lambda: UntypedShared(Chat(), acknowledgement=given),
        ReasonCode.ACKNOWLEDGEMENT_REQUIRED,
        "not an Acknowledgement",
        "Acknowledgement(reason=..., owner=..., risks={Risk....})",
    )


def test_p10_persistent_shared_without_acknowledgement() -> None:
    refusal_with_remedy(
        lambda: UntypedShared(Chat()),
        ReasonCode.ACKNOWLEDGEMENT_REQUIRED,
        "missing a required argument: 'acknowledgement'",
    )


_PARTS: dict[str, Any] = {"reason": "one room", "owner": "team-sre", "risks": {Risk.OBJECT_STATE}}


@pytest.mark.parametrize("part", ["reason", "owner", "risks"])
def test_p10_an_acknowledgement_with_a_part_missing(part: str) -> None:
    given = {name: value for name, value in _PARTS.items() if name != part}
    refusal_with_remedy(
        lambda: UntypedAcknowledgement(**given),
        ReasonCode.ACKNOWLEDGEMENT_INVALID,
        f"missing a required argument: '{part}'",
    )


@pytest.mark.parametrize(
    ("part", "value", "fragment"),
    [
        ("reason", "", "reason must be a text that is not blank"),
        ("reason", " \u200b", "reason must be a text that is not blank"),
        ("reason", True, "reason must be a text"),
        ("reason", None, "reason must be a text"),
        ("owner", "  ", "owner must be a text that is not blank"),
        ("owner", ["team"], "owner must be a text"),
        ("risks", [], "risks is empty"),
        ("risks", frozenset[Risk](), "risks is empty"),
        ("risks", None, "risks must be a collection"),
        ("risks", True, "risks must be a collection"),
        ("risks", Risk.OBJECT_STATE, "risks must be a collection"),
        ("risks", "object_state", "risks must be a collection"),
        ("risks", {"object_state"}, "risks holds a str, not a Risk member"),
        ("risks", [Risk.OBJECT_STATE, 7], "risks holds a int"),
        ("review_by", "2030-01-01", "review_by must be a datetime.date"),
        ("review_by", datetime(2030, 1, 1, tzinfo=UTC), "review_by must be a datetime.date"),
        ("review_by", 2030, "review_by must be a datetime.date"),
    ],
    ids=str,
)
def test_p10_an_acknowledgement_with_a_wrong_part(part: str, value: object, fragment: str) -> None:
    given = {**_PARTS, part: value}
    refusal_with_remedy(
        lambda: UntypedAcknowledgement(**given), ReasonCode.ACKNOWLEDGEMENT_INVALID, fragment
    )


def test_p10_an_acknowledgement_takes_no_positional_argument() -> None:
    refusal_with_remedy(
        lambda: UntypedAcknowledgement("why", "who"), ReasonCode.ACKNOWLEDGEMENT_INVALID
    )


def test_p10_an_acknowledgement_is_a_value() -> None:
    given = Acknowledgement(
        reason="one room",
        owner="team-sre",
        risks=(risk for risk in Risk),
        review_by=date(2030, 1, 31),
    )
    assert given.risks == frozenset(Risk)
    assert given == Acknowledgement(
        reason="one room", owner="team-sre", risks=list(Risk), review_by=date(2030, 1, 31)
    )
    assert hash(given)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        given.reason = "another"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("today", "overdue"),
    [(date(2030, 1, 30), False), (date(2030, 1, 31), False), (date(2030, 2, 1), True)],
    ids=str,
)
def test_p10_a_review_is_overdue_after_its_day(today: date, overdue: bool) -> None:
    given = Acknowledgement(**_PARTS, review_by=date(2030, 1, 31))
    assert given.overdue(today) is overdue
    assert not Acknowledgement(**_PARTS).overdue(today)


# --- no refusal leaves a coroutine behind --------------------------------------------

LEFT: dict[str, Callable[[object], object]] = {
    "target": UntypedSingleUser,
    "shared": lambda coroutine: UntypedShared(coroutine, acknowledgement=ACKNOWLEDGED),
    "shared-without-acknowledgement": UntypedShared,
    "acknowledgement": lambda coroutine: UntypedShared(Chat(), acknowledgement=coroutine),
    "reason": lambda coroutine: UntypedAcknowledgement(**{**_PARTS, "reason": coroutine}),
    "factory": lambda coroutine: UntypedScoped(coroutine, scope=user),
    "per-thread": UntypedSingleUser.per_thread,
    "scope": lambda coroutine: UntypedScoped(_build, scope=coroutine),
    "scope-beside-a-bad-factory": lambda coroutine: UntypedScoped(None, scope=coroutine),
    "owner": lambda coroutine: UntypedSingleUser(Chat(), owner=coroutine),
    "per-thread-owner": lambda coroutine: UntypedSingleUser.per_thread(Chat, owner=coroutine),
    "unknown": lambda coroutine: UntypedSingleUser(Chat(), scope=coroutine),
}


@pytest.mark.parametrize("declare", LEFT.values(), ids=LEFT)
def test_a_refused_coroutine_is_closed(declare: Callable[[object], object]) -> None:
    coroutine = _coroutine()
    with pytest.raises(RegistrationError):
        declare(coroutine)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del coroutine
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def test_an_accepted_coroutine_function_is_not_called() -> None:
    async def build(context: ScopeContext[str]) -> Chat:
        raise AssertionError

    assert inspect.iscoroutinefunction(ScopedFactory(build, scope=user).factory)


@pytest.mark.parametrize("everything", [object, dict, list, set])
def test_p9_shares_names_what_is_shared_and_not_everything(everything: type) -> None:
    refusal_with_remedy(
        lambda: UntypedScoped(_build, scope=user, shares=[Chat, everything]),
        ReasonCode.OPTION_INVALID,
        "nothing would be compared",
    )


def test_p1_an_annotated_alias_is_no_resolver() -> None:
    refusal_with_remedy(
        lambda: UntypedScoped(_build, scope=Annotated[str, user]), ReasonCode.SCOPE_RESOLVER_INVALID
    )
