"""The builder, promise P1: exactly one mode, declared; and options that are safe in it."""

from __future__ import annotations

import asyncio
import copy
import gc
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    ReasonCode,
    RegistrationError,
    Risk,
    ScopedFactory,
    SingleUser,
)
from tests.unit.helpers import Chat, UntypedBuilder, refusal, refusal_with_remedy, user


def _acknowledged(*risks: Risk) -> Acknowledgement:
    return Acknowledgement(reason="one room", owner="team-sre", risks=risks)


MODES: dict[str, Callable[[], Any]] = {
    "SingleUser": lambda: SingleUser(Chat()),
    "SingleUser.per_thread": lambda: SingleUser.per_thread(Chat),
    "ScopedFactory": lambda: ScopedFactory(Chat, scope=user),
    "PersistentShared": lambda: PersistentShared(
        Chat(), acknowledgement=_acknowledged(Risk.OBJECT_STATE)
    ),
}


# --- the name ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "Chat", "support-chat_2", "x" * 63], ids=lambda it: it[:16])
def test_names_that_pass(name: str) -> None:
    assert UntypedBuilder(name).isolation(SingleUser(Chat())).build().name == name


@pytest.mark.parametrize(
    "name",
    [
        "", " ", "x" * 64, "1st", "-x", "_x", "a b", "a.b", "a/b", "a:b", "caf\u00e9", "a\u0661",
        "chat\n", "\nchat", "chat\x00", None, 7, True, b"chat", ["chat"], Chat(),
    ],
    ids=lambda it: ascii(it)[:16],
)  # fmt: skip
def test_names_that_are_refused(name: object) -> None:
    refusal_with_remedy(
        lambda: UntypedBuilder(name),
        ReasonCode.NAME_INVALID,
        "1 to 63 letters, digits, '-' or '_'",
        'RegistrationBuilder("support-chat")',
    )


# --- exactly one mode ----------------------------------------------------------------


@pytest.mark.parametrize(
    "stage",
    ["build", "mount", "pool", "concurrency", "snapshots", "checkpoints", "verify_at_startup"],
)
def test_p1_nothing_is_built_before_a_mode(stage: str) -> None:
    error = refusal_with_remedy(
        lambda: getattr(UntypedBuilder("chat"), stage),
        ReasonCode.MODE_REQUIRED,
        "registration 'chat': no isolation mode was declared",
        ".isolation(SingleUser(...) | ScopedFactory(...) | PersistentShared(...))",
    )
    assert isinstance(error, AttributeError)


@pytest.mark.parametrize(
    "mode",
    [None, True, "SingleUser", Chat(), Chat, ScopedFactory, user],
    ids=["none", "true", "text", "instance", "class", "mode-class", "function"],
)
def test_p1_isolation_takes_a_mode(mode: object) -> None:
    refusal_with_remedy(
        lambda: UntypedBuilder("chat").isolation(mode),
        ReasonCode.MODE_REQUIRED,
        "isolation() takes a mode, and was given a",
        "SingleUser(...), ScopedFactory(..., scope=...) or PersistentShared(...)",
    )


def test_p1_isolation_without_a_mode() -> None:
    refusal_with_remedy(
        lambda: UntypedBuilder("chat").isolation(),
        ReasonCode.MODE_REQUIRED,
        "missing a required argument: 'mode'",
        "PersistentShared(...)",
    )


def test_p1_two_modes_in_one_call() -> None:
    refusal_with_remedy(
        lambda: UntypedBuilder("chat").isolation(MODES["SingleUser"](), MODES["ScopedFactory"]()),
        ReasonCode.MODE_REQUIRED,
        "too many positional arguments",
    )


@pytest.mark.parametrize("first", MODES)
@pytest.mark.parametrize("second", MODES)
def test_p1_two_modes_in_a_chain(first: str, second: str) -> None:
    error = refusal_with_remedy(
        lambda: UntypedBuilder("chat").isolation(MODES[first]()).isolation(MODES[second]()),
        ReasonCode.MODE_CONFLICT,
        "registration 'chat'",
        "has no .isolation()",
    )
    assert isinstance(error, AttributeError)


@pytest.mark.parametrize("second", MODES)
def test_p1_two_modes_on_one_builder(second: str) -> None:
    builder = UntypedBuilder("chat")
    builder.isolation(MODES["ScopedFactory"]())
    with pytest.raises(RegistrationError, match="declared already") as caught:
        builder.isolation(MODES[second]())
    assert caught.value.code is ReasonCode.MODE_CONFLICT
    assert caught.value.instead == "one RegistrationBuilder for each registration"
    assert caught.value.declared_at is not None
    assert caught.value.declared_at.startswith(f"{__file__}:")


def test_p1_a_refused_mode_declares_nothing() -> None:
    builder = UntypedBuilder("chat")
    with pytest.raises(RegistrationError):
        builder.isolation(None)
    assert builder.isolation(SingleUser(Chat())).build().name == "chat"


def test_a_refused_coroutine_is_closed() -> None:
    async def coroutine() -> None: ...

    given = coroutine()
    with pytest.raises(RegistrationError):
        UntypedBuilder("chat").isolation(given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del given
        gc.collect()
    assert caught == []


# --- what a stage does not have ------------------------------------------------------

UNAVAILABLE = [
    ("SingleUser", "pool", ReasonCode.OPTION_UNAVAILABLE),
    ("PersistentShared", "pool", ReasonCode.OPTION_UNAVAILABLE),
    *(
        (mode, "verify_at_startup", ReasonCode.OPTION_UNAVAILABLE)
        for mode in MODES
        if mode != "ScopedFactory"
    ),
    *((mode, "mount", ReasonCode.OPTION_UNAVAILABLE) for mode in MODES),
    *((mode, "snapshots", ReasonCode.OPTION_UNAVAILABLE) for mode in MODES),
    *((mode, "checkpoints", ReasonCode.CHECKPOINT_NEEDS_WORKFLOW) for mode in MODES),
]


@pytest.mark.parametrize(("mode", "option", "code"), UNAVAILABLE)
def test_p1_an_option_that_the_mode_does_not_have(mode: str, option: str, code: ReasonCode) -> None:
    error = refusal_with_remedy(
        lambda: getattr(UntypedBuilder("chat").isolation(MODES[mode]()), option),
        code,
        f"has no .{option}()",
        "one of .build(), .concurrency()",
    )
    assert isinstance(error, AttributeError)


@pytest.mark.parametrize("mode", MODES)
def test_hasattr_and_copy_keep_their_meaning(mode: str) -> None:
    builder = UntypedBuilder("chat")
    stage = builder.isolation(MODES[mode]())
    assert not hasattr(builder, "build")
    assert hasattr(stage, "build")
    assert not hasattr(stage, "isolation")
    for one in (builder, stage):
        with pytest.raises(AttributeError, match="nonsense") as caught:
            _ = one.nonsense
        assert not isinstance(caught.value, RegistrationError)
    assert copy.copy(stage).build().name == "chat"


# --- values of options ---------------------------------------------------------------

_LIMITS = ("max_instances", "max_per_scope")
_OPTIONAL_SECONDS = ("idle_ttl", "max_age")
_SECONDS = ("pin_ttl", "close_timeout")
_NO_INT: list[object] = [0, -1, True, False, 1.5, "10", math.inf, math.nan]
_NO_SECONDS: list[object] = [0, -1, 0.0, -0.5, True, False, "10", math.inf, -math.inf, math.nan]

BAD_POOL = [
    *((name, value, "a positive int, or None") for name in _LIMITS for value in _NO_INT),
    *(
        (name, value, "a positive number of seconds, or None")
        for name in _OPTIONAL_SECONDS
        for value in _NO_SECONDS
    ),
    *(
        (name, value, "a positive number of seconds")
        for name in _SECONDS
        for value in (*_NO_SECONDS, None)
    ),
]


@pytest.mark.parametrize(("name", "value", "wanted"), BAD_POOL)
def test_p7_a_bound_out_of_range(name: str, value: object, wanted: str) -> None:
    stage = UntypedBuilder("chat").isolation(MODES["ScopedFactory"]())
    refusal(
        lambda: stage.pool(**{name: value}), ReasonCode.OPTION_INVALID, f"{name} must be {wanted}"
    )


@pytest.mark.parametrize(("name", "value", "wanted"), [it for it in BAD_POOL if "per" not in it[0]])
def test_p7_a_bound_out_of_range_per_thread(name: str, value: object, wanted: str) -> None:
    stage = UntypedBuilder("chat").isolation(MODES["SingleUser.per_thread"]())
    refusal(
        lambda: stage.pool(**{name: value}), ReasonCode.OPTION_INVALID, f"{name} must be {wanted}"
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("policy", "options", "wanted"),
    [
        ("drop", {}, 'must be "queue" or "reject"'),
        (None, {}, 'must be "queue" or "reject"'),
        (True, {}, 'must be "queue" or "reject"'),
        ("queue", {"max_waiting": -1}, "max_waiting must be an int, zero or more"),
        ("queue", {"max_waiting": True}, "max_waiting must be an int"),
        ("queue", {"max_waiting": 1.0}, "max_waiting must be an int"),
        ("queue", {"max_waiting": None}, "max_waiting must be an int"),
        ("queue", {"max_waiting": math.inf}, "max_waiting must be an int"),
        *(
            ("queue", {"wait_timeout": value}, "wait_timeout must be a positive number of seconds")
            for value in (*_NO_SECONDS, None)
        ),
    ],
    ids=str,
)
def test_p6_a_concurrency_out_of_range(
    mode: str, policy: object, options: dict[str, object], wanted: str
) -> None:
    stage = UntypedBuilder("chat").isolation(MODES[mode]())
    refusal(lambda: stage.concurrency(policy, **options), ReasonCode.OPTION_INVALID, wanted)


def test_p7_the_values_at_the_edge_pass() -> None:
    stage = UntypedBuilder("chat").isolation(MODES["ScopedFactory"]())
    options = (
        stage.pool(
            max_instances=1,
            max_per_scope=None,
            idle_ttl=0.001,
            max_age=None,
            pin_ttl=1,
            close_timeout=1e9,
        )
        .concurrency("queue", max_waiting=0, wait_timeout=1)
        .build()
        .describe()
        .options
    )
    assert options == {
        "max_instances": 1,
        "max_per_scope": None,
        "idle_ttl": 0.001,
        "max_age": None,
        "pin_ttl": 1,
        "close_timeout": 1e9,
        "concurrency": "queue",
        "max_waiting": 0,
        "wait_timeout": 1,
    }


def test_an_option_returns_a_new_stage() -> None:
    stage = UntypedBuilder("chat").isolation(MODES["ScopedFactory"]())
    small = stage.pool(max_instances=1)
    assert small.build().describe().options["max_instances"] == 1
    assert stage.build().describe().options["max_instances"] == 1000


# --- risks ---------------------------------------------------------------------------


def test_p10_a_risk_that_is_not_acknowledged_is_named() -> None:
    mode = PersistentShared(Chat(), acknowledgement=_acknowledged(Risk.AVAILABILITY))
    error = refusal_with_remedy(
        lambda: UntypedBuilder("room").isolation(mode).build(),
        ReasonCode.RISK_NOT_ACKNOWLEDGED,
        "carries Risk.OBJECT_STATE, which the acknowledgement does not name",
        "add Risk.OBJECT_STATE to risks=",
    )
    assert error.registration == "room"
    assert "Risk.AVAILABILITY" not in str(error)


def test_p10_more_risks_than_it_carries_may_be_acknowledged() -> None:
    mode = PersistentShared(Chat(), acknowledgement=_acknowledged(*Risk))
    assert UntypedBuilder("room").isolation(mode).build().mode is mode


# --- building ------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_building_starts_nothing(mode: str) -> None:
    """Outside an event loop, with a factory that is not called."""
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    registration = UntypedBuilder("chat").isolation(MODES[mode]()).build()
    assert registration.describe().mode == mode
    assert registration.declared_at.startswith(f"{__file__}:")
    assert repr(registration).endswith("'chat'>")
