"""P11 on SQLite: workers that die, stop or crowd lose no committed turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stores import faults
from tests.stores.processes import Engine


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine("tests.stores.local:sqlite_at", str(tmp_path / "threads.db"))


async def test_the_key_of_a_killed_holder_is_free_in_time(engine: Engine) -> None:
    await faults.holder_killed(engine)


async def test_a_holder_that_is_killed_in_a_commit_leaves_a_whole_document(engine: Engine) -> None:
    await faults.holder_killed_in_a_commit(engine)


async def test_a_holder_that_was_stopped_writes_nothing_over_its_successor(engine: Engine) -> None:
    await faults.holder_stopped(engine)


async def test_four_processes_lose_no_turn(engine: Engine, tmp_path: Path) -> None:
    await faults.many_workers(engine, tmp_path)


async def test_four_hundred_runs_at_once_are_served(engine: Engine) -> None:
    await faults.many_tasks(engine)


@pytest.mark.parametrize(
    ("journal", "found"),
    [
        (["begin k a", "end k a", "begin k b", "begin l a", "end k b", "end l a"], 0),
        (["begin k a", "begin k b", "end k a", "end k b"], 3),
        (["begin k a", "begin k b", "end k b"], 1),
        (["begin k a", "begin k a", "end k a"], 1),
        (["end k a"], 1),
    ],
)
def test_the_journal_shows_two_holders(journal: list[str], found: int) -> None:
    assert len(faults.overlaps(journal)) == found
