"""Where an endpoint is added: the one call that can have added it, or none."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from scoped_registration.audit.call_sites import CallSite, call_sites, site_of

_PROGRAM = """from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
import agent_framework_ag_ui as upstream
add_agent_framework_fastapi_endpoint(app, agent)
upstream.add_agent_framework_fastapi_endpoint(app, agent, "/two", single_user=True)
add_agent_framework_fastapi_endpoint(app, agent, path="/three")
add_agent_framework_fastapi_endpoint(app, agent, path)
add_agent_framework_fastapi_endpoint(app, **options)
other.add_agent_framework_fastapi_endpoint(app, agent)
"""


def _load(monkeypatch: pytest.MonkeyPatch, file: Path, source: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    module = ModuleType(file.stem)
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, f"call_sites_{file.stem}", module)


def test_the_calls_of_the_modules_that_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "routes.py"
    _load(monkeypatch, file, _PROGRAM)
    _load(monkeypatch, tmp_path / "site-packages/installed.py", _PROGRAM)
    _load(monkeypatch, tmp_path / "broken.py", "add_agent_framework_fastapi_endpoint(")
    (tmp_path / "not_loaded.py").write_text(_PROGRAM)
    paths = {3: "/", 4: "/two", 5: "/three", 6: None, 7: None}
    assert call_sites(tmp_path) == [
        CallSite(f"{file}:{line}", path) for line, path in paths.items()
    ]


@pytest.mark.parametrize(
    ("path", "sites", "found"),
    [
        ("/chat", ["/chat", "/other"], 0),
        ("/v1/chat", ["/other", "/chat"], 1),
        ("/chat", ["/v1/chat", "/chat", None], 1),
        ("/chat", ["/other", None], 1),
        ("/chat", ["/chat", "/chat"], None),
        ("/chat", [None, None], None),
        ("/chat", ["/other"], None),
        ("/chat", [], None),
    ],
)
def test_the_call_is_told_by_its_path(
    path: str, sites: list[str | None], found: int | None
) -> None:
    given = [CallSite(f"routes.py:{number}", one) for number, one in enumerate(sites)]
    assert site_of(path, given) is (None if found is None else given[found])
