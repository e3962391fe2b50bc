"""The example of each public name runs."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, InMemoryCheckpointStorage
from agent_framework_ag_ui import InMemoryAGUIThreadSnapshotStore

from scoped_registration import testing
from scoped_registration.testing import agent_framework as recording
from scoped_registration.testing import plugin, requests
from tests.testing.apps import CHAT, USERS, by_both, chat_app

PUBLIC: dict[str, object] = {
    **{name: getattr(testing, name) for name in testing.__all__},
    **{name: getattr(recording, name) for name in recording.__all__},
    "IsolationProbe": plugin.IsolationProbe.__call__,
    "IsolationReport.as_json": testing.IsolationReport.as_json,
    "ReadsThreads": requests.ReadsThreads,
    "RequestMaker": requests.RequestMaker,
}


@pytest.mark.parametrize("name", PUBLIC)
async def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    docstring = inspect.getdoc(PUBLIC[name]) or ""
    found = re.search(
        r"^Example:\n    ```python\n(.*?)^    ```$", docstring, re.DOTALL | re.MULTILINE
    )
    assert found, docstring
    app = chat_app(by_both)
    recorder = testing.Recorder()
    # What the text around the examples speaks of.
    names: dict[str, Any] = {
        **PUBLIC,
        **vars(requests),
        "IsolationProbe": plugin.IsolationProbe,
        "Agent": Agent,
        "InMemoryAGUIThreadSnapshotStore": InMemoryAGUIThreadSnapshotStore,
        "InMemoryCheckpointStorage": InMemoryCheckpointStorage,
        "Path": Path,
        "app": app,
        "client": recording.RecordingChatClient(recorder),
        "recorder": recorder,
        "report": await testing.probe_isolation(app, CHAT, USERS, overlap=False),
        "route": CHAT,
        "users": USERS,
    }
    code = compile(textwrap.dedent(found[1]), name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = types.FunctionType(code, names)()
    if inspect.iscoroutine(running):
        await running
