"""The matrix as tests: no registration that keeps principals apart leaks, of all there are.

The ordinary run has each target in each mode, with options that take turns. The whole product:
    SCOPED_REGISTRATION_LONG=1 pytest -n auto tests/matrix
"""

from __future__ import annotations

import os

import attrs
import pytest

from scoped_registration.integrations.agent_framework.contract import Kind
from tests.matrix import ours, promises, upstream
from tests.matrix.choice import ours_in_short, upstream_in_short
from tests.matrix.ours import SUBJECTS, Mode, Options
from tests.matrix.procedure import Played, Turn
from tests.matrix.promises import kind, promise
from tests.matrix.tables import Figures, expected, figures, figures_table

LONG = bool(os.environ.get("SCOPED_REGISTRATION_LONG"))

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*is experimental and may change"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.mark.parametrize("cell", upstream.CELLS if LONG else upstream_in_short(), ids=str)
async def test_upstream_is_as_it_is_known(cell: upstream.Cell) -> None:
    _, problems = await upstream.check(cell)
    assert problems == []


@pytest.mark.parametrize("cell", ours.CELLS if LONG else ours_in_short(), ids=str)
async def test_what_is_promised_holds(cell: ours.Cell) -> None:
    _, problems = await promises.check(cell)
    assert problems == []


def test_what_is_known_of_upstream_comes_to_its_figures() -> None:
    assert len(set(upstream.CELLS)) == len(upstream.CELLS)
    theirs, own = expected()
    assert theirs == Figures(tried=1088, accepted=348, per_principal=232, leaking=144)
    assert own.tried == len(set(ours.CELLS))
    assert own.per_principal > 0
    assert own.hidden < own.accepted / 10, "they are the exception"


def test_each_row_of_the_contract_is_in_the_matrix() -> None:
    targets = [name for name, subject in SUBJECTS.items() if subject.make is not None]
    assert {kind(name) for name in targets} == set(Kind)
    tried = {(kind(cell.subject), cell.mode) for cell in ours.CELLS}
    assert tried == {(row, mode) for row in Kind for mode in Mode}


def test_the_short_form_has_each_target_in_each_mode_and_each_option() -> None:
    chosen, all_of_them = ours_in_short(), ours.CELLS
    assert {(cell.subject, cell.mode) for cell in chosen} == {
        (cell.subject, cell.mode) for cell in all_of_them
    }
    for mode in Mode:
        possible = _option_values([cell for cell in all_of_them if cell.mode is mode])
        assert _option_values([cell for cell in chosen if cell.mode is mode]) == possible
    refusals = {promise(cell).refused or promise(cell).code for cell in all_of_them}
    assert {promise(cell).refused or promise(cell).code for cell in chosen} == refusals
    theirs = upstream_in_short()
    assert {(cell.shape, cell.scopes) for cell in theirs} == {
        (cell.shape, cell.scopes) for cell in upstream.CELLS
    }
    for option in ("store", "checkpoint", "detached"):
        assert {getattr(cell, option) for cell in theirs if cell.leaks} == {False, True}


def _option_values(cells: list[ours.Cell]) -> set[tuple[str, bool]]:
    """Return which options are given, and not given, where requests are served."""
    return {
        value
        for cell in cells
        if promise(cell).served
        for value in attrs.asdict(cell.options).items()
    }


SCOPED = ours.Cell("Workflow", Mode.SCOPED, Options())


async def test_control_a_leak_of_ours_would_be_told() -> None:
    shared = await ours.run(ours.Cell("Workflow", Mode.SHARED_ACCESS, Options()))
    told = "\n".join(promises.problems(SCOPED, shared))
    assert "leak: [(1, 0), " in told
    assert "between threads: [(1, 0), " in told
    assert figures({SCOPED: shared}) == Figures(tried=1, accepted=1, per_principal=1, leaking=1)


async def test_control_what_is_shared_and_does_not_say_so_would_be_told() -> None:
    scoped = await ours.run(SCOPED)
    assert list(promises.problems(SCOPED, scoped)) == []
    told = "\n".join(promises.problems(attrs.evolve(SCOPED, mode=Mode.SHARED_ACCESS), scoped))
    assert "control: nothing is shared" in told
    assert "it is described as ScopedFactory, None" in told
    assert "the OpenAPI document does not say" in told


def test_control_a_model_that_is_not_heard_would_be_told() -> None:
    silent = Played(tuple(Turn(number, None, "", "") for number in range(5)))
    theirs = upstream.Cell("Workflow", ("authorization",), False, False, False)
    told = list(upstream.problems(theirs, upstream.Outcome(played=silent)))
    assert told[0] == "control: not served [], own text not seen [0, 1, 2, 3, 4]"
    assert "leaks: False, and True was expected" in told
    (first, *_) = promises.problems(SCOPED, ours.Outcome(played=silent))
    assert first == "control: the own text of [0, 1, 2, 3, 4] did not reach the model"


def test_the_figures_stand_side_by_side() -> None:
    theirs = Figures(tried=1088, accepted=348, per_principal=232, leaking=144)
    own = Figures(tried=3, accepted=2, per_principal=1, leaking=0, hidden=1, hidden_leaking=1)
    lines = list(figures_table(theirs, own))
    assert lines[5].endswith("| **144** | **0** |")
    assert lines[6].endswith("| not tried | 1 of 1 |")
