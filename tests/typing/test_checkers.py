"""Each checker, once, as one process over both corpora and over the list of limits.

The package that is checked is the one installed beside this interpreter, or beside the one
that ``SCOPED_REGISTRATION_TYPING_PYTHON`` names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.typing import results
from tests.typing.checkers import CHECKERS, Checker
from tests.typing.corpus import copy, judge
from tests.typing.limits import differences


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: checker.name)
def test_mistakes_are_red_and_nothing_else_is(checker: Checker, tmp_path: Path) -> None:
    project = copy(tmp_path, "accept", "reject", "limits")
    found = checker.run(project)
    results.keep(checker, found)
    corpora = [each for each in found if "/limits/" not in each.path]

    outcome = judge(checker, corpora)

    assert list(outcome.problems) == []
    assert list(differences(checker, found)) == []
