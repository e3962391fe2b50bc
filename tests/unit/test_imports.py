"""The house: imports point downward, frameworks stay outside, files stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import scoped_registration

PACKAGE = Path(scoped_registration.__path__[0])
MODULES = {
    str(path.relative_to(PACKAGE).with_suffix("")).replace("/", "."): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

# From the bottom up: a module imports only from those that stand before it here.
ORDER = [
    "errors",
    "keys",
    "scope",
    "owner",
    "signatures",
    "inspection",
    "resolvers",
    "acknowledgement",
    "verification.__init__",
    "verification.classes",
    "verification.kinds",
    "verification.object_graph",
    "verification.constants",
    "verification.naming",
    "verification.paths",
    "verification.permitted",
    "verification.shared_state",
    "runtime.__init__",
    "runtime.report",
    "runtime.statistics",
    "runtime.refusals",
    "runtime.options",
    "runtime.eviction",
    "runtime.tasks",
    "runtime.sweeper",
    "runtime.slot",
    "runtime.seeking",
    "runtime.idle",
    "runtime.nearest",
    "runtime.lease",
    "runtime.single_flight",
    "runtime.claims",
    "runtime.comparison",
    "runtime.life",
    "runtime.keeper",
    "runtime.pool",
    "stores.__init__",
    "stores.protocol",
    "stores.deadline",
    "stores.memory",
    "stores.sqlite_thread",
    "stores.sqlite_schema",
    "stores.sqlite",
    "stores.calls",
    "stores.postgres_connections",
    "stores.postgres_refusals",
    "stores.postgres_sql",
    "stores.postgres",
    "stores.redis_scripts",
    "stores.redis_connections",
    "stores.redis_settings",
    "stores.redis",
    "persistence.codec",
    "persistence.__init__",
    "persistence.turn",
    "persistence.hold",
    "persistence.lease",
    "modes",
    "manifest",
    "settings",
    "registration",
    "stages",
    "builder",
    "__init__",
    "integrations.__init__",
    "integrations.operations",
    "integrations.openapi",
    "integrations.deployment",
    "integrations.application",
    "integrations.fastapi",
    "integrations.agent_framework.versions",
    "integrations.agent_framework.upstream",
    "integrations.agent_framework.contract",
    "integrations.agent_framework.options",
    "integrations.agent_framework.checkpoints",
    "integrations.agent_framework.runners",
    "integrations.agent_framework.thread",
    "integrations.agent_framework.settings",
    "integrations.agent_framework.targets",
    "integrations.agent_framework.per_run",
    "integrations.agent_framework.detached",
    "integrations.agent_framework.run",
    "integrations.agent_framework.endpoint",
    "integrations.agent_framework.products",
    "integrations.agent_framework.mounting",
    "integrations.agent_framework.stage_options",
    "integrations.agent_framework.stages",
    "integrations.agent_framework.builder",
    "integrations.agent_framework.__init__",
    "audit.__init__",
    "audit.names",
    "audit.rules",
    "audit.suppressions",
    "audit.output",
    "audit.report",
    "audit.symbols",
    "audit.expressions",
    "audit.functions",
    "audit.values",
    "audit.constants",
    "audit.body",
    "audit.resolvers",
    "audit.frames",
    "audit.caches",
    "audit.outside",
    "audit.faults",
    "audit.captures",
    "audit.factories",
    "audit.checks",
    "audit.scan",
    "audit.application_rules",
    "audit.places",
    "audit.loading",
    "audit.call_sites",
    "audit.endpoints",
    "audit.described",
    "audit.registered",
    "audit.application",
    "audit.inventory",
    "audit.table",
    "audit.command",
    "testing.store_suite.support",
    "testing.store_suite.leases",
    "testing.store_suite.documents",
    "testing.store_suite.contents",
    "testing.store_suite.engine",
    "testing.store_suite.__init__",
    "testing.findings",
    "testing.report",
    "testing.streams",
    "testing.requests",
    "testing.pending",
    "testing.recorders",
    "testing.barrier",
    "testing.ledger",
    "testing.serving",
    "testing.exchange",
    "testing.questions",
    "testing.run",
    "testing.probe",
    "testing.__init__",
    "testing.plugin",
    "testing.agent_framework.chat",
    "testing.agent_framework.stores",
    "testing.agent_framework.__init__",
    "__main__",
]
# For checkers alone: a mode names the stage of the builder that it opens.
UPWARD = {("modes", "builder")}
# They import inside functions what a command or a probe needs.
LAZY = {"__main__", "audit.table", "testing.serving"}
# Each is imported by those alone who name its store.
DRIVERS = ("stores.postgres", "stores.redis")
# The command that loads an application, and knows its framework's routes.
LOADING = {"audit.loading", "audit.endpoints"}
FRAMEWORKS = {
    "agent_framework",
    "agent_framework_ag_ui",
    "fastapi",
    "httpx",
    "psycopg",
    "pydantic",
    "redis",
    "rich",
    "starlette",
    "typer",
    "uvicorn",
}


def _imported(path: Path) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the modules that a file imports, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            source = node.module or ""
            for alias in node.names:
                whole = f"{source}.{alias.name}"
                yield node, whole if _module(whole) is not None else source


def _module(dotted: str) -> str | None:
    top, _, inside = dotted.partition(".")
    if top != "scoped_registration":
        return None
    for name in (inside, f"{inside}.__init__" if inside else "__init__"):
        if name in MODULES:
            return name
    return None


def test_every_module_has_a_place_in_the_order() -> None:
    assert sorted(ORDER) == sorted(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downward(module: str) -> None:
    upward = {
        (module, found)
        for _, dotted in _imported(MODULES[module])
        if (found := _module(dotted)) is not None and ORDER.index(found) >= ORDER.index(module)
    }
    assert upward <= UPWARD


@pytest.mark.parametrize(
    "module",
    [
        name
        for name in MODULES
        if not {"integrations", "agent_framework"} & set(name.split("."))
        and name not in LOADING
        and not name.startswith(DRIVERS)
    ],
)
def test_no_framework_outside_the_integrations(module: str) -> None:
    imported = {
        dotted.partition(".")[0]
        for node, dotted in _imported(MODULES[module])
        if module not in LAZY or node.col_offset == 0
    }
    assert not imported & FRAMEWORKS


def test_importing_the_package_imports_no_framework() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import scoped_registration, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "scoped_registration" in loaded
    assert not loaded & FRAMEWORKS
    # Half of what the whole package costs: it is loaded with the first registration.
    assert "asyncio" not in loaded
    assert "scoped_registration.verification" not in done.stdout.split()


@pytest.mark.parametrize("module", MODULES)
def test_one_file_one_idea(module: str) -> None:
    lines = MODULES[module].read_text(encoding="utf-8").count("\n")
    assert lines <= 300, f"{module} has {lines} lines: split it"
