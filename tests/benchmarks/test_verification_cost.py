"""What surveying a product costs, as a multiple of a bare walk over the same graph.

The bare walk asks the garbage collector for what each object refers to, and remembers what it
has met. It stops where a survey stops, at classes, modules and the globals of functions: both
meet the same objects, which the test counts. Processor time, alternated, the median of each;
the second bare row is the A/A control. Garbage collection is off: a full one would cost
more than what is measured, and fall on either.
"""

from __future__ import annotations

import gc
import statistics
import time
import types
from collections.abc import Callable
from functools import partial

import attrs
import pytest

from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import compare, survey

ROUNDS = 15
TARGET = 6.0
SIZES = (1_000, 10_000, 100_000)
_STOPS = frozenset({type, types.ModuleType, type(None), str, int, float, bool})


@attrs.define(slots=False)
class Turn:
    """What a conversation is made of: a plain object, a slotted one, a list and a dict."""

    number: int
    parts: list[object]
    about: dict[str, object]


@attrs.define
class Part:
    text: str
    before: object


def product(objects: int) -> list[object]:
    """Return a product that reaches about so many objects."""
    turns: list[object] = []
    part = None
    for number in range(objects // 5):
        part = Part(f"text {number}", part)
        turns.append(Turn(number, [part, number], {"turn": number, "ratio": number / 7}))
    return turns


def bare(root: object) -> int:
    """Walk without any rule, and return how many objects were met."""
    met: dict[int, object] = {id(root): root}
    pending = [root]
    while pending:
        for part in gc.get_referents(pending.pop()):
            if type(part) not in _STOPS and id(part) not in met:
                met[id(part)] = part
                pending.append(part)
    return len(met)


def median_seconds(rows: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median processor time of each row, alternated."""
    seconds: dict[str, list[float]] = {name: [] for name in rows}
    gc.collect()
    gc.disable()
    try:
        for _ in range(ROUNDS):
            for name, run in rows.items():
                begun = time.process_time()
                run()
                seconds[name].append(time.process_time() - begun)
    finally:
        gc.enable()
    return {name: statistics.median(row) for name, row in seconds.items()}


@attrs.frozen(slots=False)
class Setting:
    name: str
    values: tuple[object, ...]


def settings(objects: int) -> list[object]:
    """Return a product of frozen objects with a ``__dict__``, the dearest ones to walk."""
    return [Setting(f"name {number}", (number, (number,))) for number in range(objects // 3)]


@pytest.mark.parametrize("make", [product, settings])
@pytest.mark.parametrize("objects", SIZES)
def test_a_survey_costs_at_most_six_bare_walks(
    make: Callable[[int], list[object]], objects: int, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(objects)
    permitted = Permitted()
    surveyed = survey(root, permitted)
    assert surveyed.complete
    assert surveyed.size == (bare(root) if make is product else 1)  # the list of the settings

    row = median_seconds(
        {
            "bare": partial(bare, root),
            "bare (A/A)": partial(bare, root),
            "survey": partial(survey, root, permitted),
        }
    )
    ratio = row["survey"] / row["bare"]
    control = row["bare (A/A)"] / row["bare"]
    with capsys.disabled():
        print(
            f"\n{make.__name__:8} {objects:7} objects | bare {1000 * row['bare']:7.2f} ms | "
            f"survey {1000 * row['survey']:7.2f} ms | ratio {ratio:.2f} | A/A {control:.2f}"
        )
    assert ratio <= TARGET * (1 + abs(control - 1))


def test_a_survey_is_linear_and_comparing_disjoint_products_is_nearly_free(
    capsys: pytest.CaptureFixture[str],
) -> None:
    permitted = Permitted()
    rows: dict[str, Callable[[], object]] = {}
    for objects in SIZES:
        first, second = product(objects), product(objects)
        one, other = survey(first, permitted), survey(second, permitted)
        assert not compare(one, other, hidden=())
        rows[f"survey {objects}"] = partial(survey, first, permitted)
        rows[f"compare {objects}"] = partial(compare, one, other, hidden=())
    row = median_seconds(rows)
    per_object = {objects: row[f"survey {objects}"] / objects for objects in SIZES}
    with capsys.disabled():
        for objects in SIZES:
            print(
                f"\n{objects:7} objects | survey {1e9 * per_object[objects]:6.0f} ns per object | "
                f"compare {row[f'compare {objects}'] / row[f'survey {objects}']:.3f} surveys",
                end="",
            )
        print()
    # A hundred times as many objects: caches are missed more often, and no more than that.
    assert per_object[SIZES[-1]] <= 4 * per_object[SIZES[0]]
    assert row[f"compare {SIZES[-1]}"] <= row[f"survey {SIZES[-1]}"] / 4
