"""A sample of the deletion test: ``python -m tests.typing.deletion`` tries every mutant."""

from __future__ import annotations

import ast

from tests.typing.checkers import ROOT
from tests.typing.deletion import try_mutant, workbench
from tests.typing.mutants import PACKAGE, Mutant, find

MUTANTS = find()
# One of each kind, and every 50th of the rest.
_KINDS = (
    "ScopedFactory.__init__: scope is optional",
    "ScopedBuilder.build overload 3: gone",
    "S: no bound",
    "SingleUserBuilder: every option exists",
    "PersistentShared.__init__: acknowledgement is Any",
)


def _sample() -> list[Mutant]:
    chosen = [next(each for each in MUTANTS if each.what == kind) for kind in _KINDS]
    return list(dict.fromkeys([*chosen, *MUTANTS[::50]]))


def test_the_mutants_are_programs() -> None:
    for mutant in MUTANTS:
        ast.parse(mutant.apply((ROOT / PACKAGE / mutant.path).read_text()))


def test_there_are_mutants_of_every_kind() -> None:
    endings = (": gone", "is optional", "is Any", "no bound", "every option exists")
    for ending in endings:
        assert any(mutant.what.endswith(ending) for mutant in MUTANTS), ending
    assert len({mutant.path for mutant in MUTANTS}) >= 8


def test_the_corpora_see_a_sample_of_the_mutants() -> None:
    with workbench() as bench:
        verdicts = [try_mutant(bench, mutant) for mutant in _sample()]

    assert [each.mutant.what for each in verdicts if each.killed_by is None] == []
