"""What the benchmarks rest on: ratios of the same round, a control, and limits that can fail."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.benchmarks.figures import Bar, Figure, Report
from tests.benchmarks.measuring import AGAIN, Series, Subject, alternate
from tests.benchmarks.plot import plot
from tests.benchmarks.table import table


class Machine:
    """A clock, and subjects that make it advance: slower with each turn, or not."""

    def __init__(self, *, drift: float = 0.0) -> None:
        self.now = 0.0
        self.turns: list[str] = []
        self._drift = drift

    def __call__(self) -> float:
        return self.now

    def subject(self, name: str, seconds: float) -> Subject:
        async def turn() -> None:
            self.turns.append(name)
            self.now += seconds * (1 + self._drift * len(self.turns))

        return turn


def test_a_ratio_is_that_of_the_same_round() -> None:
    series = Series("base", {"base": [1.0, 4.0, 5.0], "other": [2.0, 8.0, 1.0]})
    assert series.ratio("other") == 2.0  # that of the medians is 0.5
    assert series.typical("other") == 2.0


async def test_a_machine_that_gets_slower_changes_no_ratio() -> None:
    machine = Machine(drift=0.05)  # ten times slower at the end
    subjects = {"base": machine.subject("base", 1.0), "twice": machine.subject("twice", 2.0)}
    series = await alternate(subjects, rounds=60, clock=machine)
    assert series.ratio("twice") == pytest.approx(2.0, rel=0.05)
    assert max(series.seconds["base"]) > 5 * min(series.seconds["base"])


async def test_the_base_is_its_own_control() -> None:
    machine = Machine()
    subjects = {"base": machine.subject("base", 1.0), "other": machine.subject("other", 3.0)}
    series = await alternate(subjects, rounds=10, clock=machine)
    assert list(series.seconds) == ["base", "other", AGAIN]
    assert series.noise == 0.0
    assert series.ratio("base", "other") == pytest.approx(1 / 3)


async def test_the_control_shows_a_part_of_the_run_that_was_disturbed() -> None:
    machine = Machine()
    calls = iter(range(1000))

    async def base() -> None:  # later on, every other turn takes longer
        number = next(calls)
        machine.now += 1.5 if number > 150 and number % 2 else 1.0

    series = await alternate({"base": base}, rounds=100, warm_up=0, clock=machine)
    assert series.noise > 0.1
    quiet = await alternate({"base": machine.subject("base", 1.0)}, rounds=100, clock=machine)
    assert quiet.noise == 0.0


async def test_subjects_take_turns_in_changing_order() -> None:
    machine = Machine()
    names = ("a", "b", "c")
    subjects = {name: machine.subject(name, 1.0) for name in names}
    series = await alternate(subjects, rounds=20, warm_up=5, clock=machine)
    rounds = [tuple(machine.turns[at : at + 4]) for at in range(0, 25 * 4, 4)]
    assert len(machine.turns) == 25 * 4
    assert all(sorted(turn) == ["a", "a", "b", "c"] for turn in rounds)
    assert len(set(rounds)) > 5
    assert {len(seconds) for seconds in series.seconds.values()} == {20}


def test_a_figure_fails_only_beyond_the_noise() -> None:
    assert not Figure("cost", 1.0, must=1.0).failed
    within = Figure("cost", 1.04, must=1.0, noise=0.05)
    beyond = Figure("cost", 1.06, must=1.0, noise=0.05)
    assert (within.held, within.failed) == (False, False)
    assert (beyond.held, beyond.failed) == (False, True)
    assert Figure("lost", 1, must=0, noise=0.5).failed  # a count of nothing has no margin
    assert not Figure("reported", 1e9).failed
    for measured, over in ((1.9, False), (2.1, True)):  # not held, and no worse than it was
        figure = Figure("cost", measured, must=1.0, today=2.0)
        assert (figure.held, figure.failed) == (False, over)
    assert Report("all", [within, beyond]).failures == [str(beyond)]


def test_the_table_and_the_plot_name_what_was_found() -> None:
    figures = [Figure("one", 2.5, must=2.0, stretch=1.8), Figure("two", 1.7, must=2.0, stretch=1.8)]
    report = Report("Costs", figures, [Bar("dict", 1.0), Bar("a < b", 2.0, ours=True)], "dict")
    rows = [line for line in table([report]) if line.startswith("| ")]
    assert rows[2:] == [
        "| one | 2.5 | 2 | 1.8 |  | **not held** |",
        "| two | 1.7 | 2 | 1.8 |  | held, stretch too |",
    ]
    drawn = ElementTree.fromstring(plot([report]))  # noqa: S314  # written by this project
    bars = drawn.findall("{http://www.w3.org/2000/svg}rect")
    assert float(bars[1].attrib["width"]) == 2 * float(bars[0].attrib["width"])
    assert "a < b" in [text.text for text in drawn.findall("{http://www.w3.org/2000/svg}text")]
