"""A library that is installed, as far as these tests are concerned."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = '''
from enum import Enum

POLICIES = {"limit": 5, "dumps": {"sort_keys": True}}
EMPTY = {}
KEPT = [{"said": []}]
by_scheme = {"http": dict, "https": list}
settings = {"limit": 5}


class Wait:
    def __init__(self, seconds=0):
        self.seconds = seconds

    def of(self, attempt):
        return self.seconds * attempt


class Counter(Wait):
    def count(self):
        self.seconds += 1


class Memory:
    def __init__(self):
        self.turns = ["a"]

    def add(self, turn):
        self.turns.append(turn)


class Lazy(Wait):
    @property
    def last(self):
        self._last = 1
        return self._last


def around(default):
    def own(kept=default):
        return kept

    return own


DEFAULT = Wait(1)
WAITS = [DEFAULT]
FUNCTION = Wait(around(1))
FUNCTION_WITH_A_LIST = Wait(around(["a"]))
COUNTER = Counter(1)
MEMORY = Memory()
LAZY = Lazy()


class Environment:
    TAGS = {"pre", "code"}
    shared = {"limit": 5}

    def __init__(self, wait=Wait(2), counter=Counter(2), memory=Memory(), turns=[]):
        self.policies = dict(POLICIES)
        self.by_name = {
            "nested policies": POLICIES["dumps"],
            "empty": EMPTY,
            "not plain": KEPT,
            "table of classes": by_scheme,
            "settings in small letters": settings,
            "of the class": self.TAGS,
            "of the class, in small letters": self.shared,
            "object": DEFAULT,
            "object that counts": COUNTER,
            "object that holds a list": MEMORY,
            "object that a property changes": LAZY,
            "list of objects": WAITS,
            "object that holds a function": FUNCTION,
            "object that holds a function with a list": FUNCTION_WITH_A_LIST,
            "default": wait,
            "default that counts": counter,
            "default that holds a list": memory,
            "list as default": turns,
        }


class Graph:
    def __init__(self, nodes):
        self.nodes = nodes


def held(name):
    """Return an object of this library that holds one of its defaults."""
    made = Environment()
    made.policies = None
    made.by_name = [made.by_name[name]]
    return made
'''


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """Return a module of an installed package, whose objects hold the package's defaults."""
    home = tmp_path / "site-packages"
    (home / "sample_library").mkdir(parents=True)
    (home / "sample_library" / "__init__.py").write_text("from sample_library.core import *\n")
    (home / "sample_library" / "core.py").write_text(SOURCE)
    monkeypatch.setattr(sys, "path", [str(home), *sys.path])
    importlib.invalidate_caches()
    yield importlib.import_module("sample_library.core")
    for name in ("sample_library", "sample_library.core"):
        del sys.modules[name]
