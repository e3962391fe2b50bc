"""P11 on servers: workers that die, stop or crowd lose no committed turn."""

from __future__ import annotations

from pathlib import Path

from tests.stores import faults
from tests.stores.remote import Remote


async def test_the_key_of_a_killed_holder_is_free_in_time(remote: Remote) -> None:
    await faults.holder_killed(remote.engine)


async def test_a_holder_that_is_killed_in_a_commit_leaves_a_whole_document(remote: Remote) -> None:
    await faults.holder_killed_in_a_commit(remote.engine)


async def test_a_holder_that_was_stopped_writes_nothing_over_its_successor(remote: Remote) -> None:
    await faults.holder_stopped(remote.engine)


async def test_four_processes_lose_no_turn(remote: Remote, tmp_path: Path) -> None:
    await faults.many_workers(remote.engine, tmp_path)


async def test_four_hundred_runs_at_once_are_served(remote: Remote) -> None:
    await faults.many_tasks(remote.engine)
