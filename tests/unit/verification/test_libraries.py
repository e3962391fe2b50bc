"""What is known of libraries by the names of their classes."""

from __future__ import annotations

import csv
import logging
import sys
import types
from typing import Any

import httpx
import pytest

from tests.unit.verification.support import Box, found, paths


def of_library(module: str, name: str) -> object:
    """Return an object with state whose class is called as one of a library's."""
    made: Any = type(name, (Box,), {"__module__": module})
    return made(core=["a"])


LIBRARIES: dict[str, object] = {
    "settings of clients": httpx.Timeout(5.0),
    "more settings of clients": httpx.Limits(max_connections=5),
    "logger of loguru": of_library("loguru._logger", "Logger"),
    "logger of structlog": of_library("structlog._config", "BoundLoggerLazyProxy"),
    "bound logger of structlog": of_library("structlog._base", "BoundLoggerBase"),
    "adapter of a logger": logging.LoggerAdapter(logging.getLogger("a"), {"service": "chat"}),
    "tracer": of_library("opentelemetry.trace", "Tracer"),
    "provider of tracers": of_library("opentelemetry.trace", "TracerProvider"),
    "meter": of_library("opentelemetry.metrics", "Meter"),
    "counter of a meter": of_library("opentelemetry.metrics", "Instrument"),
    "settings of an application": of_library("pydantic_settings.main", "BaseSettings"),
    "listeners of sqlalchemy": of_library("sqlalchemy.event.base", "_Dispatch"),
    "mapped class of sqlalchemy": of_library("sqlalchemy.orm.instrumentation", "ClassManager"),
    "type of numpy": of_library("numpy", "dtype"),
    "pattern of regex": of_library("_regex", "Pattern"),
    "dialect of csv": csv.get_dialect("excel"),
    "persistent map": type("HashTrieMap", (list,), {"__module__": "rpds", "__slots__": ()})("a"),
}


@pytest.mark.parametrize("case", LIBRARIES)
def test_settings_and_loggers_of_libraries_do_not_count(case: str) -> None:
    held = LIBRARIES[case]
    assert not found(lambda: Box(held=held))
    other = of_library("loguru._logger", "Other")
    assert paths(lambda: Box(held=other)) == ["box.held"]


def test_settings_are_known_whatever_a_library_calls_them(monkeypatch: pytest.MonkeyPatch) -> None:
    timeout = httpx.Timeout(5.0)
    monkeypatch.setattr(httpx.Timeout, "__module__", "openai")
    assert not found(lambda: Box(timeout=timeout))


@pytest.mark.parametrize(
    ("module", "name"), [("sqlalchemy.util", "immutabledict"), ("frozendict", "frozendict")]
)
def test_an_immutable_mapping_of_a_library_is_known_by_where_it_is_exported(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping: type[dict[str, object]] = type("implementation", (dict,), {})
    exporting = types.ModuleType(module)
    monkeypatch.setitem(sys.modules, module, exporting)
    unknown = mapping(part=[])
    assert paths(lambda: Box(held=unknown)) == ["box.held"]
    exporting.__dict__[name] = mapping
    shared = mapping(part=[])
    assert found(lambda: Box(held=shared))[0].type_name == "list"


def plain(name: int) -> None: ...


def tool_of(module: str, cls: str, **attributes: object) -> Any:
    return type(cls, (Box,), {"__module__": module})(**attributes)


TOOLS = {
    "agent_framework": ("agent_framework._tools", "FunctionTool"),
    "langchain": ("langchain_core.tools.structured", "StructuredTool"),
}


@pytest.mark.parametrize("case", TOOLS)
def test_a_tool_is_the_function_that_it_is_made_of(case: str) -> None:
    tool = tool_of(*TOOLS[case], func=plain, name="plain")
    assert not found(lambda: Box(tools=[tool]))
    turns: list[str] = []
    around = tool_of(*TOOLS[case], func=lambda: turns, name="around")
    assert paths(lambda: Box(tools=[around])) == ["box.tools[0].func.<closure turns>"]
    bases: tuple[type, ...] = (tool.__class__,)
    derived: Any = type("Own", bases, {})
    own = derived(func=plain)
    assert paths(lambda: Box(tools=[own])) == ["box.tools[0]"]


def test_what_a_tool_of_agent_framework_has_read_off_its_function_does_not_count() -> None:
    agent_framework = pytest.importorskip("agent_framework")

    def add(a: int, b: int) -> int:
        return a + b

    tool = agent_framework.tool(add)
    assert tool.parameters()["required"] == ["a", "b"]  # it is kept
    assert not found(lambda: Box(tools=[tool]))
