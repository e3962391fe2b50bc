"""Refusals: one class, stable codes, and a text that says where and what instead."""

from __future__ import annotations

import copy
import functools
import pickle
import re
from collections.abc import Callable

import pytest
from typing_extensions import override

from scoped_registration import ReasonCode, RegistrationError
from scoped_registration.errors import (
    MissingStageError,
    caller,
    close_coroutine,
    describe_callable,
    describe_type,
    short_place,
    source_of,
)

# What users match on: a code may be added, and none is ever renamed or removed.
CODES = [
    "acknowledgement_invalid",
    "acknowledgement_required",
    "agent_wraps_stateful_workflow",
    "builder_is_not_a_factory",
    "checkpoint_needs_workflow",
    "checkpoint_of_shared_state",
    "draining",
    "duplicate_name",
    "duplicate_route",
    "factory_failed",
    "factory_returned",
    "factory_returned_shared_instance",
    "factory_reuses_state",
    "factory_signature",
    "factory_with_shared_mode",
    "instance_is_not_a_factory",
    "instance_required",
    "lease_ends_too_early",
    "lease_spent",
    "mode_conflict",
    "mode_required",
    "name_invalid",
    "no_current_lease",
    "not_attached",
    "opaque_runner",
    "option_invalid",
    "option_unavailable",
    "owner_mismatch",
    "pool_full",
    "queue_full",
    "reentrant_lease",
    "registration_closed",
    "risk_not_acknowledged",
    "runner_already_registered",
    "scope_missing",
    "scope_resolver_invalid",
    "scope_resolver_required",
    "scope_type_mismatch",
    "scope_type_unsupported",
    "session_key_ignores_scope",
    "shared_mode_needs_a_stateful_target",
    "single_user_behind_authentication",
    "stateful_target",
    "store_already_configured",
    "target_unsupported",
    "thread_busy",
    "thread_id_invalid",
    "unknown_agent_type",
    "wait_timeout",
]


def test_no_code_was_renamed_or_removed() -> None:
    assert set(CODES) <= {code.value for code in ReasonCode}


@pytest.mark.parametrize("code", ReasonCode)
def test_a_code_is_its_name_in_lower_case(code: ReasonCode) -> None:
    assert code.value == code.name.lower()
    assert re.fullmatch(r"[a-z][a-z_]*[a-z]", code.value)


def _error() -> RegistrationError:
    return RegistrationError(
        ReasonCode.MODE_REQUIRED,
        "no isolation mode was declared",
        instead=".isolation(...)",
        registration="chat",
        declared_at="/srv/app.py:7",
    )


def test_the_text_has_all_parts_in_order() -> None:
    assert str(_error()).splitlines() == [
        "[mode_required] registration 'chat': no isolation mode was declared",
        "  declared at: /srv/app.py:7",
        "  instead: .isolation(...)",
        "  documentation: errors/#mode_required",
    ]


def test_the_text_leaves_out_what_is_not_known() -> None:
    error = RegistrationError(ReasonCode.SCOPE_MISSING, "the scope is None")
    assert str(error).splitlines() == [
        "[scope_missing] the scope is None",
        "  documentation: errors/#scope_missing",
    ]


def _through_pickle(error: RegistrationError) -> RegistrationError:
    again: RegistrationError = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    return again


@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, _through_pickle],
    ids=["copy", "deepcopy", "pickle"],
)
def test_an_error_survives_a_copy(
    again: Callable[[RegistrationError], RegistrationError],
) -> None:
    """Test runners and process pools send exceptions between processes."""
    copied = again(_error())
    assert str(copied) == str(_error())
    assert copied.code is ReasonCode.MODE_REQUIRED


def test_located_fills_in_what_is_missing_and_nothing_else() -> None:
    bare = RegistrationError(ReasonCode.MODE_REQUIRED, "no mode")
    assert bare.located(registration="chat", declared_at="a.py:1") is bare
    assert (bare.registration, bare.declared_at) == ("chat", "a.py:1")
    full = _error().located(registration="other", declared_at="b.py:2")
    assert (full.registration, full.declared_at) == ("chat", "/srv/app.py:7")


def test_a_missing_stage_is_an_attribute_error_too() -> None:
    error = MissingStageError(ReasonCode.MODE_REQUIRED, "no mode")
    assert isinstance(error, AttributeError)
    assert isinstance(error, RegistrationError)


def test_caller_is_the_first_frame_outside_the_package() -> None:
    path, _, line = caller().rpartition(":")
    assert path == __file__
    assert int(line) > 0


def test_caller_does_not_take_a_name_that_begins_alike_for_the_package() -> None:
    import scoped_registration

    beside = f"{scoped_registration.__path__[0]}_app/main.py"
    namespace: dict[str, object] = {"caller": caller}
    exec(compile("place = caller()", beside, "exec"), namespace)  # noqa: S102  # a file's name
    assert namespace["place"] == f"{beside}:1"


class _Chat:
    """The text of it would name somebody."""

    @override
    def __repr__(self) -> str:
        raise AssertionError("a value's own text may hold a secret")

    def build(self) -> None: ...

    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (describe_type, "scoped_registration.errors.describe_type"),
        (functools.partial(describe_type, "secret"), "scoped_registration.errors.describe_type"),
        (_Chat().build, "tests.unit.test_errors._Chat.build"),
        (_Chat(), "tests.unit.test_errors._Chat"),
        (_Chat, "tests.unit.test_errors._Chat"),
        (len, "builtins.len"),
    ],
    ids=["function", "partial", "method", "object", "class", "builtin"],
)
def test_a_callable_is_described_by_names_of_the_source(function: object, name: str) -> None:
    assert describe_callable(function) == name
    assert source_of(function).startswith(name)


def test_the_source_of_a_function_is_a_file_and_a_line() -> None:
    assert re.search(r"\(errors\.py:\d+\)$", source_of(describe_type))
    assert source_of(len) == "builtins.len"


def test_a_type_is_described_without_its_value() -> None:
    assert describe_type(_Chat()) == "tests.unit.test_errors._Chat"
    assert describe_type("secret") == "str"


def test_short_place_has_no_directories() -> None:
    assert short_place("/home/someone/app.py:7") == "app.py:7"


def test_closing_what_is_no_coroutine_does_nothing() -> None:
    close_coroutine(_Chat())
