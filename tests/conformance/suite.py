"""The framework's own tests: where they come from, and how a run of them is started.

They come with the source distribution of a release, and stay outside the repository: they are
fetched into ``build/conformance``. Of the distribution, the tests alone are unpacked, so that
they find the package that is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from enum import Enum
from importlib.metadata import version
from pathlib import Path

import attrs

__all__ = ["MODE", "RESULTS", "Mode", "Outcome", "SuiteError", "fetch", "run"]

PACKAGE = "agent-framework-ag-ui"
RELEASE = "1.7.0"
SHA256 = "b1747c4861bac8c28e1e493dd29fe60f5d35dbf2502a60e1505abba86c695b2a"

MODE = "SCOPED_REGISTRATION_CONFORMANCE_MODE"
RESULTS = "SCOPED_REGISTRATION_CONFORMANCE_RESULTS"

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "conformance"
TEST_SECONDS = 60
RUN_SECONDS = 1800


class Mode(Enum):
    """What becomes of the registrations of the tests."""

    UNROUTED = "unrouted"
    """They are passed on to the framework."""

    SHARED = "shared"
    """They go through the builder; a shared target with a resolver is acknowledged."""

    STRICT = "strict"
    """They go through the builder; a shared target with a resolver is not."""


class SuiteError(Exception):
    """The tests could not be fetched or run: nothing is known of the product."""


@attrs.frozen
class Outcome:
    """What became of one test.

    Args:
        outcome: ``passed``, ``failed`` or ``skipped``.
        told: Of an exception, its class and its text; a refusal's text begins with its code.
    """

    outcome: str
    told: str = ""


def fetch() -> Path:
    """Return the directory of the tests, after fetching them if they are not there yet.

    Raises:
        SuiteError: Another release is installed, or the distribution cannot be had.
    """
    installed = version(PACKAGE)
    if installed != RELEASE:
        raise SuiteError(
            f"{PACKAGE} {installed} is installed, and the expected differences are those of "
            f"{RELEASE}"
        )
    archive = CACHE / f"{PACKAGE.replace('-', '_')}-{RELEASE}.tar.gz"
    if not archive.exists():
        _download()
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise SuiteError(f"{archive} is not the distribution that was looked at: remove it")
    directory = CACHE / archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as source:
        wanted = [
            member
            for member in source.getmembers()
            if member.name.removeprefix(directory.name).startswith(("/tests/", "/pyproject.toml"))
        ]
        source.extractall(CACHE, wanted, filter="data")
    return directory


def _download() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted = CACHE / "requirements.txt"
    wanted.write_text(f"{PACKAGE}=={RELEASE} --hash=sha256:{SHA256}\n")
    options = ("--no-deps", "--no-binary", PACKAGE, "--require-hashes")
    command = [sys.executable, "-m", "pip", "download", *options]
    done = subprocess.run(
        [*command, "--dest", str(CACHE), "--requirement", str(wanted)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SuiteError(f"pip cannot fetch {PACKAGE} {RELEASE}:\n{done.stdout}{done.stderr}")


def run(directory: Path, mode: Mode, arguments: Sequence[str] = ()) -> dict[str, Outcome]:
    """Run the tests in one mode, and return what became of each.

    Args:
        directory: Where they are.
        mode: What becomes of their registrations.
        arguments: Further arguments for pytest.

    Raises:
        SuiteError: The run was cut short, so it says nothing.
    """
    results = CACHE / f"{mode.value}.json"
    results.unlink(missing_ok=True)
    options = ("-p", "no:scoped_registration", "-p", "tests.conformance.plugin")
    command = [
        *(sys.executable, "-P", "-m", "pytest", "-q", "--disable-warnings", "--no-summary"),
        *("-p", "no:cacheprovider", *options, f"--timeout={TEST_SECONDS}"),
        # Theirs names the unpacked source as well, which is not what is under test.
        *("-o", "pythonpath=tests/ag_ui"),
        *("-o", "asyncio_default_fixture_loop_scope=function", *arguments),
    ]
    environment = os.environ | {MODE: mode.value, RESULTS: str(results), "PYTHONPATH": str(ROOT)}
    try:
        # Status 1: some tests failed, which is for the caller to judge.
        status = subprocess.run(
            command, cwd=directory, env=environment, check=False, timeout=RUN_SECONDS
        ).returncode
    except subprocess.TimeoutExpired:
        raise SuiteError(f"the tests took more than {RUN_SECONDS} s ({mode.value})") from None
    if status not in (0, 1) or not results.exists():
        raise SuiteError(f"pytest ended with status {status} ({mode.value})")
    found: dict[str, dict[str, str]] = json.loads(results.read_text())
    return {test: Outcome(**outcome) for test, outcome in found.items()}
