"""P7, P9: the keys that have something in common with another one are found, and are not kept."""

from __future__ import annotations

from typing import Any

from scoped_registration.runtime.nearest import Nearest
from scoped_registration.runtime.slot import Key, Slot
from scoped_registration.scope import share_of


def filled(keys: list[Key]) -> Nearest:
    nearest = Nearest()
    slots: dict[Key, Slot[Any]] = {}
    for key in keys:
        slots[key] = Slot(key)
        nearest.add(key, slots)
    return nearest


def found(nearest: Nearest, key: Key) -> list[list[Key]]:
    return [list(group) for group in nearest.groups(key)]


def test_those_with_the_scope_and_those_with_the_thread_the_last_first() -> None:
    keys: list[Key] = [("alice", "1"), ("bob", "1"), ("alice", "2"), ("carol", "3")]
    nearest = filled(keys + [(f"user-{n}", f"thread-{n}") for n in range(2000)])
    assert found(nearest, ("alice", "1")) == [
        [("alice", "1")],
        [("bob", "1"), ("alice", "1")],
        [("alice", "2"), ("alice", "1")],
    ]
    assert found(nearest, ("dave", "4")) == []


def test_a_part_is_found_in_whatever_scope_it_stands() -> None:
    acme, globex = (share_of((tenant, 7)) for tenant in ("acme", "globex"))
    nearest = filled([(acme, "1"), (globex, "2"), ("acme", "3")])
    by_tenant, by_number = [("acme", "3"), (acme, "1")], [(globex, "2"), (acme, "1")]
    groups = found(nearest, (share_of(("acme", 7)), "4"))
    assert sorted(map(len, groups)) == [1, 2, 2]
    assert by_tenant in groups
    assert by_number in groups


def test_what_has_ended_is_forgotten_in_time() -> None:
    nearest = Nearest()
    slots: dict[Key, Slot[Any]] = {}
    for number in range(10_000):
        key = "alice", str(number)
        slots[key] = Slot(key)
        nearest.add(key, slots)
        slots.pop(("alice", str(number - 10)), None)
    (of_alice,) = found(nearest, ("alice", "new"))
    assert len(of_alice) < 300
    assert of_alice[:10] == [("alice", str(number)) for number in range(9999, 9989, -1)]
