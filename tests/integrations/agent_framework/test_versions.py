"""Outside of the supported releases, the import says which are supported."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from scoped_registration.integrations.agent_framework import versions

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("distribution", "found"),
    [
        ("agent-framework-ag-ui", "1.6.9"),
        ("agent-framework-ag-ui", "2.0.0rc1"),
        ("agent-framework-core", "1.22.0"),
        ("agent-framework-core", "2.0"),
    ],
)
def test_another_release_is_refused_by_name(
    distribution: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(name: str) -> str:
        return found if name == distribution else version(name)

    monkeypatch.setattr(f"{versions.__name__}.version", installed)
    with pytest.raises(
        ImportError, match=rf"{distribution} {found} is installed, and 1\."
    ) as error:
        versions.check_versions()
    assert "below 2" in str(error.value)


@pytest.mark.parametrize("found", ["1.7.0", "1.99.3", "1.100rc2"])
def test_a_release_in_the_range_is_accepted(found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(name: str) -> str:
        return found if name == "agent-framework-ag-ui" else "1.23.0"

    monkeypatch.setattr(f"{versions.__name__}.version", installed)
    versions.check_versions()


def test_the_range_is_that_of_the_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(project["optional-dependencies"]["agent-framework"]) == sorted(
        f"{name}>={oldest[0]}.{oldest[1]},<{too_new[0]}"
        for name, (oldest, too_new) in versions.SUPPORTED.items()
    )
