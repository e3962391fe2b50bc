"""In any graph, a shared object is found, and a graph without one is silent (promise P9)."""

from __future__ import annotations

import collections
import copy
import functools
from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.verification.support import Box, found


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


@attrs.frozen
class Frozen:
    held: object


@attrs.frozen(slots=False)
class FrozenWithDict:
    held: object


class Planted:
    def __init__(self) -> None:
        self.turns = ["a"]


def _closure(held: list[Any]) -> Callable[[], object]:
    return lambda: held


# How a node of a shape is built around its parts.
NODES: dict[str, Callable[[list[Any]], object]] = {
    "list": lambda parts: parts,
    "tuple": tuple,
    "deque": collections.deque,
    "dict": lambda parts: {f"key {index}": part for index, part in enumerate(parts)},
    "box": lambda parts: Box(**{f"a{index}": part for index, part in enumerate(parts)}),
    "slotted": Slotted,
    "frozen": Frozen,
    "frozen with a dict": FrozenWithDict,
    "closure": _closure,
    "partial": lambda parts: functools.partial(print, *parts),
    "set": lambda parts: {Slotted(part) for part in parts},
}
LEAVES: list[object] = [None, 1, "text", 2.5, b"bytes", (), frozenset({1}), int]
PLANT = "plant"

shapes = st.recursive(
    st.sampled_from(range(len(LEAVES))),
    lambda inner: st.tuples(st.sampled_from(sorted(NODES)), st.lists(inner, max_size=4)),
    max_leaves=25,
)


def build(shape: Any, planted: object) -> Any:
    """Build a graph of a shape, everything in it new but what is planted."""
    if shape == PLANT:
        return planted
    if isinstance(shape, int):
        return LEAVES[shape]
    node, parts = shape
    built = [build(part, planted) for part in parts]
    made = NODES[node](built)
    if node == "list":
        built.append(made)  # a cycle
    return made


def plant(shape: Any, where: list[int]) -> Any:
    """Return the shape with one part more, found by following some indices."""
    if isinstance(shape, int) or not where:
        return ("list", [shape, PLANT])
    node, parts = copy.copy(shape)
    if not parts:
        return (node, [PLANT])
    index = where[0] % len(parts)
    return (node, [*parts[:index], plant(parts[index], where[1:]), *parts[index + 1 :]])


@given(shape=shapes)
def test_a_graph_without_a_shared_object_is_silent(shape: Any) -> None:
    assert not found(lambda: Box(held=build(shape, None)))


@given(shape=shapes, where=st.lists(st.integers(0, 3), max_size=6))
def test_a_planted_object_is_found_and_nothing_else(shape: Any, where: list[int]) -> None:
    planted = Planted()
    whole = plant(shape, where)
    (shared,) = found(lambda: Box(held=build(whole, planted)))
    assert shared.type_name.endswith(".Planted")
    assert shared.path_second.startswith("box.held")
    assert "<...>" not in shared.path_second
    assert not found(lambda: Box(held=build(whole, planted)), shares=[planted])


@given(shape=shapes)
def test_a_product_shares_all_of_itself_and_is_named_once(shape: Any) -> None:
    whole = Box(held=build(shape, None))
    (shared,) = found(lambda: whole)
    assert shared.path_second == "box"
