"""An object without attributes: a marker, or state that has not been written yet."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable

import pytest

from scoped_registration.verification.shared_state import MOST
from tests.unit.verification.support import Box, found, paths


class DefaultOnTheClass:
    last_said: str | None = None


class Counter:
    number = 0

    def count(self) -> None:
        self.number += 1


class Lazy:
    def remember(self, text: str) -> None:
        self.text = text


class UnfilledSlot:
    __slots__ = ("text",)


class InheritsADefault(DefaultOnTheClass): ...


class Marker:
    def __repr__(self) -> str:
        return "<missing>"

    def __bool__(self) -> bool:
        return False


class MethodsAlone:
    """A strategy: it has a constant, and nothing that it could keep."""

    LIMIT = 10

    def shorten(self, text: str) -> str:
        return text[: self.LIMIT]


def _name(one: object) -> str:
    return one.__name__ if isinstance(one, type) else type(one).__name__


@pytest.mark.parametrize(
    "cls",
    [DefaultOnTheClass, Counter, Lazy, UnfilledSlot, InheritsADefault],
    ids=_name,
)
def test_p9_state_that_is_not_written_yet_is_shared_state(cls: Callable[[], object]) -> None:
    shared = cls()
    assert paths(lambda: Box(held=shared)) == ["box.held"]
    assert not found(lambda: Box(held=cls()))


@pytest.mark.parametrize("shared", [object(), Marker(), MethodsAlone()], ids=_name)
def test_a_marker_and_a_strategy_are_no_state(shared: object) -> None:
    assert not found(lambda: Box(held=shared))


def _counting() -> tuple[Callable[[], int], types.CellType]:
    number = 0

    def count() -> int:
        nonlocal number
        number += 1
        return number

    assert count.__closure__ is not None
    return count, count.__closure__[0]


def test_a_rebound_variable_may_be_declared_and_ends_the_walk() -> None:
    count, cell = _counting()
    assert len(paths(lambda: Box(count=count))) == 1
    assert not found(lambda: Box(count=count), shares=[cell])


def test_what_a_rebound_variable_holds_is_followed() -> None:
    shared: list[str] = []

    def make() -> Box:
        turns = shared

        def add(turn: str) -> None:
            nonlocal turns
            turns = turns or shared_by_name
            turns.append(turn)

        shared_by_name: list[str] = []
        return Box(add=add)

    (path,) = paths(make)
    assert path.startswith("box.add.<closure turns>")


def test_a_dispatcher_is_walked_to_its_end() -> None:
    @functools.singledispatch
    def render(value: object) -> str:
        return str(value)

    assert len(found(lambda: Box(pick=render.dispatch))) <= 1


def test_very_many_findings_are_told_by_the_nearest() -> None:
    corpus = [{"number": number} for number in range(5_000)]
    told = found(lambda: Box(own=list(corpus)))
    assert len(told) == MOST
    assert all(shared.path_second.startswith("box.own[") for shared in told)
