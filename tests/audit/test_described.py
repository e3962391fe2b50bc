"""What is found in a description, whatever application it is of."""

from __future__ import annotations

from typing import Any

import pytest

from scoped_registration.audit.described import Circumstances
from scoped_registration.manifest import Description, Json
from tests.audit.audit_support import TODAY

# Any: descriptions differ in any of their fields.


def _found(workers: int = 4, *, per_process: bool | None = None, **fields: Any) -> dict[str, str]:
    given: dict[str, Any] = {"mode": "ScopedFactory", **fields}
    description = Description(
        name="chat", meaning="", target="service.Chat", declared_at="service.py:1", **given
    )
    found = Circumstances(today=TODAY, workers=workers).of(description, per_process=per_process)
    return {rule.id: message for rule, message in found}


@pytest.mark.parametrize(
    "store",
    [
        "scoped_registration.stores.sqlite.SQLiteStore",
        "scoped_registration.stores.redis.RedisStore",
        "service.OurStore",
        "memory_of_us.PostgresStore",
    ],
)
def test_threads_in_a_store_that_workers_share_are_no_finding(store: str) -> None:
    assert _found(options={"store": store}) == {}
    assert set(_found(options={})) == {"SR207"}  # the control


@pytest.mark.parametrize("store", ["scoped_registration.stores.memory.MemoryStore", "InMemory"])
def test_threads_in_a_store_of_one_process_are(store: str) -> None:
    assert _found(options={"store": store}) == {
        "SR207": "its store keeps the threads in memory, and there are 4 workers"
    }
    assert _found(1, options={"store": store}) == {}


def test_what_a_store_says_itself_goes_before_its_name() -> None:
    options: dict[str, Json] = {"store": "service.OurStore"}
    assert set(_found(options=options, per_process=True)) == {"SR207"}
    assert _found(options={"store": "service.MemoryMappedStore"}, per_process=False) == {}


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("ScopedFactory", "its instances live in memory"),
        ("SingleUser.per_thread", "its instances live in memory"),
        ("SingleUser", "its instance exists once in the memory of each process"),
        ("PersistentShared", "its instance exists once in the memory of each process"),
    ],
)
def test_each_mode_that_keeps_state_is_found(mode: str, said: str) -> None:
    assert _found(2, mode=mode) == {"SR207": f"{said}, and there are 2 workers"}


@pytest.mark.parametrize(
    ("snapshots", "is_found"),
    [
        ("agent_framework_ag_ui.InMemoryAGUIThreadSnapshotStore", True),
        ("service.Snapshots", False),
        (None, False),
    ],
)
def test_a_plain_agent_keeps_what_its_snapshots_keep(snapshots: str | None, is_found: bool) -> None:
    options: dict[str, Json] = {} if snapshots is None else {"snapshots": snapshots}
    found = _found(mode="per_run", options=options, per_process=False)
    assert set(found) == ({"SR207"} if is_found else set())


def test_the_bound_of_a_share_matters_where_there_are_several_principals() -> None:
    unbounded: dict[str, Json] = {"max_per_scope": None}
    assert set(_found(1, options=unbounded)) == {"SR206"}
    assert _found(1, mode="SingleUser.per_thread", options=unbounded) == {}
