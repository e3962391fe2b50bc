"""The deletion test: take one thing out of the package's types, and the corpora must go red.

``python -m tests.typing.deletion`` tries every mutant and exits with 1 if one survives;
words after it select the mutants whose path and description hold one of them.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

import attrs

from tests.typing.checkers import CHECKERS, ROOT, CheckerFailedError, Project
from tests.typing.corpus import copy, judge
from tests.typing.mutants import PACKAGE, Mutant, find

_FASTEST_FIRST = ("ty", "zuban --strict", "pyrefly", "mypy --strict", "pyright basic")
_BY_NAME = {checker.name: checker for checker in CHECKERS}


@attrs.frozen
class Verdict:
    mutant: Mutant
    # The checker that saw it; None for a survivor.
    killed_by: str | None
    example: str = ""


@attrs.frozen
class Workbench:
    """A project in which a copy of the sources stands before the installed package."""

    project: Project
    # What a checker says of the unchanged copy: nothing, but for sources that are checked
    # along with the corpora and so are inferred in another order (zuban, one line).
    _before: dict[str, frozenset[str]]

    def ask(self, name: str) -> set[str]:
        """Return what a checker says now and does not say of the unchanged copy."""
        return set(self._judge(name)) - self._before[name]

    def get_ready(self) -> None:
        """Ask the fast checkers about the unchanged copy; the others have to be silent."""
        for name in _FASTEST_FIRST:
            fast = name in _FASTEST_FIRST[:3]
            self._before[name] = frozenset(self._judge(name) if fast else ())

    def _judge(self, name: str) -> Sequence[str]:
        checker = _BY_NAME[name]
        return judge(checker, checker.run(self.project)).problems


@contextmanager
def workbench() -> Generator[Workbench]:
    """Yield a workbench."""
    with tempfile.TemporaryDirectory() as root:
        project = copy(Path(root), "accept", "reject")
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / PACKAGE, Path(root) / PACKAGE, ignore=ignored)
        bench = Workbench(project, {})
        bench.get_ready()
        yield bench


def try_mutant(bench: Workbench, mutant: Mutant) -> Verdict:
    """Apply a mutant, and ask the checkers until one goes red."""
    file = bench.project.root / PACKAGE / mutant.path
    source = file.read_text()
    file.write_text(mutant.apply(source))
    try:
        for name in _FASTEST_FIRST:
            try:
                problems = bench.ask(name)
            except CheckerFailedError:
                continue  # it says nothing of the corpora
            if problems:
                return Verdict(mutant, name, min(problems))
        return Verdict(mutant, None)
    finally:
        file.write_text(source)


def try_all(mutants: list[Mutant], workers: int) -> Iterator[Verdict]:
    """Yield the verdicts, with as many workbenches as workers."""
    free: SimpleQueue[Workbench] = SimpleQueue()

    def one(mutant: Mutant) -> Verdict:
        bench = free.get()
        try:
            return try_mutant(bench, mutant)
        finally:
            free.put(bench)

    benches = [workbench() for _ in range(workers)]
    try:
        for bench in benches:
            free.put(bench.__enter__())
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(one, mutants)
    finally:
        for bench in benches:
            bench.__exit__(None, None, None)


def main(words: list[str]) -> int:
    """Try the selected mutants and print what became of them."""
    begun = time.monotonic()
    mutants = [
        mutant
        for mutant in find()
        if not words or any(word in f"{mutant.path}: {mutant.what}" for word in words)
    ]
    killers: Counter[str] = Counter()
    survivors: list[Mutant] = []
    for verdict in try_all(mutants, workers=min(2, os.cpu_count() or 1)):
        if verdict.killed_by is None:
            survivors.append(verdict.mutant)
            print(f"SURVIVED  {verdict.mutant.path}: {verdict.mutant.what}", flush=True)
        else:
            killers[verdict.killed_by] += 1
            print(f"dead      {verdict.mutant.path}: {verdict.mutant.what}", flush=True)
    told = ", ".join(f"{name} {count}" for name, count in killers.most_common())
    print(f"{len(mutants)} mutants, {len(survivors)} survivors; first seen by: {told}")
    print(f"{time.monotonic() - begun:.0f} seconds")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
