"""How two things are compared here: side by side, in one run, with a control.

A machine that is busy, or changes its clock, slows down whatever runs at that moment. So the
subjects take turns, each round in another order, and what is compared is the two times of one
round. The base runs twice in each round under two names: how far these two are apart is what
this machine cannot tell from nothing at that moment.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping

import attrs

__all__ = ["AGAIN", "Series", "Subject", "alternate"]

Subject = Callable[[], Awaitable[object]]

AGAIN = "the base again (A/A)"
_PARTS = 5
_FEWEST = 5
"""Rounds in a part of a run: the median of fewer says little."""


@attrs.frozen
class Series:
    """Seconds by subject, one figure for each round.

    Attributes:
        base: The subject that the others are multiples of.
        seconds: All subjects, the base first and the control last.
    """

    base: str
    seconds: Mapping[str, list[float]]

    def ratio(self, subject: str, base: str | None = None) -> float:
        """Return how many times as long a subject took as the base: the median over rounds."""
        return statistics.median(self._ratios(subject, base or self.base))

    def typical(self, subject: str) -> float:
        """Return the median seconds of a subject."""
        return statistics.median(self.seconds[subject])

    @property
    def noise(self) -> float:
        """How far from 1 the A/A ratio got, in the worst part of the run."""
        ratios = self._ratios(AGAIN, self.base)
        size = max(_FEWEST, len(ratios) // _PARTS)
        parts = [ratios[start : start + size] for start in range(0, len(ratios), size)]
        whole = [part for part in parts if len(part) == size] or [ratios]
        return max(abs(statistics.median(part) - 1) for part in whole)

    def _ratios(self, subject: str, base: str) -> list[float]:
        pairs = zip(self.seconds[subject], self.seconds[base], strict=True)
        return [seconds / by for seconds, by in pairs]


async def alternate(
    subjects: Mapping[str, Subject],
    *,
    rounds: int,
    warm_up: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> Series:
    """Let subjects take turns, the first of them as the base and as its own control.

    Args:
        subjects: What to time, by name.
        rounds: How often each has its turn.
        warm_up: Rounds before those, of which no time is taken.
        clock: Seconds.
    """
    base = next(iter(subjects))
    turns = {**subjects, AGAIN: subjects[base]}
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    # The order is drawn, so that no subject always runs on what the same other one has left
    # in the processor's caches; and it is drawn the same way each time.
    draw = random.Random(0)  # noqa: S311
    gc.collect()
    gc.freeze()  # what other benchmarks have left would be searched again and again
    try:
        for number in range(-warm_up, rounds):
            for name in draw.sample(list(turns), len(turns)):
                begun = clock()
                await turns[name]()
                taken = clock() - begun
                if number >= 0:
                    seconds[name].append(taken)
    finally:
        gc.unfreeze()
    return Series(base, seconds)
