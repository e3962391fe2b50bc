"""The pages say what the code does: codes, the first program, the options' defaults."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from docs.examples import first_program
from scoped_registration import ReasonCode
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder
from scoped_registration.integrations.fastapi import attach, leased

ROOT = Path(first_program.__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
SOURCES = [
    path
    for path in sorted((ROOT / "scoped_registration").rglob("*.py"))
    if path.name != "errors.py"
]


def test_each_reason_code_has_a_heading_and_no_other_has() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (\w+) \{ #(\w+) \}$", page, re.MULTILINE)
    assert [code for code, anchor in headings if code != anchor] == []
    assert sorted(code for code, _ in headings) == sorted(ReasonCode)


@pytest.mark.parametrize("code", ReasonCode, ids=str)
def test_each_reason_code_is_used(code: ReasonCode) -> None:
    name = f"ReasonCode.{code.name}"
    assert any(re.search(rf"{name}\b", path.read_text(encoding="utf-8")) for path in SOURCES)


def _statements(program: str) -> list[str]:
    return [
        ast.unparse(node)
        for node in ast.parse(program).body
        if "make_agent" not in ast.unparse(node) or isinstance(node, ast.FunctionDef)
    ]


def test_the_readme_opens_with_the_first_program() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.partition("```python\n")[2].partition("```")[0]
    assert _statements(block) == _statements(inspect.getsource(first_program))


async def test_the_first_program_isolates_its_callers() -> None:
    transport = httpx.ASGITransport(first_program.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:

        async def seen(user: str, text: str) -> str:
            body = {"threadId": "A", "messages": [{"id": text, "role": "user", "content": text}]}
            answer = await client.post("/support", headers={"X-User": user}, json=body)
            assert answer.status_code == 200
            events: list[dict[str, Any]] = [
                json.loads(line.removeprefix("data: "))
                for line in answer.text.splitlines()
                if line.startswith("data: ")
            ]
            assert events[-1]["type"] == "RUN_FINISHED"
            return "".join(event.get("delta", "") for event in events)

        # The agent answers with the number of messages that reached it.
        assert await seen("alice", "a1") == "messages seen: 1"
        assert await seen("bob", "b1") == "messages seen: 1"
        assert await seen("alice", "a2") == "messages seen: 3"  # her own first turn is there
        assert (await client.post("/support", json={"messages": []})).status_code == 422
        blank = await client.post("/support", headers={"X-User": " "}, json={"messages": []})
        assert blank.status_code == 401


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_are_python(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        if "--8<--" not in block:
            ast.parse(block)


@pytest.mark.parametrize("public", [attach, leased, AGUIEndpointBuilder], ids=lambda p: p.__name__)
def test_public_names_of_the_integrations_have_an_example(public: object) -> None:
    assert "Example:" in (inspect.getdoc(public) or "")
