"""What a checker said last, for the table: kept beside what it was said about."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs

from tests.typing.checkers import HERE, ROOT, Checker, Diagnostic, target_python
from tests.typing.corpus import copy

_KEPT = ROOT / ".mypy_cache" / "typing"


def keep(checker: Checker, found: Sequence[Diagnostic]) -> None:
    """Keep a run's diagnostics until a source, a corpus line or the checker changes."""
    file = _file(checker)
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = {"of": _digest(checker), "found": [attrs.asdict(each) for each in found]}
    file.write_text(json.dumps(whole))


def of(checker: Checker) -> list[Diagnostic]:
    """Return what a checker says about the corpora, from a run that is kept or a new one."""
    try:
        whole: dict[str, Any] = json.loads(_file(checker).read_text())
    except (OSError, ValueError):
        whole = {}
    if whole.get("of") == _digest(checker):
        return [Diagnostic(**each) for each in whole["found"]]
    with tempfile.TemporaryDirectory() as root:
        found = checker.run(copy(Path(root), "accept", "reject", "limits"))
    keep(checker, found)
    return found


def _file(checker: Checker) -> Path:
    return _KEPT / f"{checker.name.replace(' ', '_')}.json"


def _digest(checker: Checker) -> str:
    digest = hashlib.sha256(f"{version(checker.program)} {target_python()}".encode())
    sources = [ROOT / "scoped_registration", *(HERE / kind for kind in ("accept", "reject"))]
    for source in [*sources, HERE / "given", HERE / "limits"]:
        for path in sorted(source.rglob("*.py")):
            digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()
