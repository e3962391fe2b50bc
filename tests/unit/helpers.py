"""What the tests of refusals share."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    ReasonCode,
    RegistrationBuilder,
    RegistrationError,
    ScopedFactory,
    SingleUser,
)

# The same names without their types: what these tests try, a checker would not let pass.
UntypedBuilder: Any = RegistrationBuilder
UntypedSingleUser: Any = SingleUser
UntypedScoped: Any = ScopedFactory
UntypedShared: Any = PersistentShared
UntypedAcknowledgement: Any = Acknowledgement


class Chat:
    """A target that keeps state."""

    def __init__(self, context: object = None) -> None:
        self.context = context
        self.history: list[str] = []


def user() -> str:
    return "alice"


def refusal(declare: Callable[[], object], code: ReasonCode, *fragments: str) -> RegistrationError:
    """Assert that a declaration is refused, and how; `declare` stands on one line."""
    with pytest.raises(RegistrationError) as caught:
        declare()
    error = caught.value
    text = str(error)
    assert error.code is code, text
    for fragment in fragments:
        assert fragment in text
    here = inspect.getfile(declare)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == here
    ]
    assert error.declared_at == f"{here}:{lines[-1]}"
    assert f"declared at: {error.declared_at}" in text
    assert f"errors/#{code.value}" in text
    return error


def refusal_with_remedy(
    declare: Callable[[], object], code: ReasonCode, *fragments: str
) -> RegistrationError:
    """As `refusal`, and the text says what to write instead."""
    error = refusal(declare, code, *fragments)
    assert error.instead
    assert f"instead: {error.instead}" in str(error)
    return error
