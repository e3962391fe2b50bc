"""The pytest plugin: the fixture `isolation_probe`.

It runs an event loop of its own, so it needs no plugin for asynchronous tests and minds none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

import anyio
import pytest
from typing_extensions import Unpack

from scoped_registration.testing.findings import Verdict
from scoped_registration.testing.probe import Options, probe_isolation
from scoped_registration.testing.report import IsolationReport
from scoped_registration.testing.requests import RequestMaker
from scoped_registration.testing.serving import ASGIApp

__all__ = ["IsolationProbe", "isolation_probe"]


class IsolationProbe:
    """`probe_isolation` for tests that are not asynchronous: it fails the test."""

    def __call__(
        self,
        app: ASGIApp,
        requests: RequestMaker,
        principals: Sequence[Mapping[str, str]],
        *,
        expect: Verdict | None = Verdict.ISOLATED,
        **options: Unpack[Options],
    ) -> IsolationReport:
        """Probe an application; fail the test unless the verdict is the expected one.

        Args:
            app: As for `probe_isolation`.
            requests: As for `probe_isolation`.
            principals: As for `probe_isolation`.
            expect: The verdict that passes. None: whichever it is, the test looks itself.
            options: The other options of `probe_isolation`.

        Returns:
            The report.

        Example:
            ```python
            def test_users_are_kept_apart(isolation_probe: IsolationProbe) -> None:
                isolation_probe(app, AGUIRoute("/support"), users)
            ```
        """
        __tracebackhide__ = True
        if _loop_runs():
            raise RuntimeError("an event loop runs here: await probe_isolation(...) instead")
        report = anyio.run(partial(probe_isolation, app, requests, principals, **options))
        if expect is not None and report.verdict is not expect:
            pytest.fail(str(report), pytrace=False)
        return report


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@pytest.fixture
def isolation_probe() -> IsolationProbe:
    """Return a function that probes an application and fails the test when it leaks.

    Example:
        ```python
        def test_users_are_kept_apart(isolation_probe: IsolationProbe) -> None:
            isolation_probe(app, AGUIRoute("/support"), [{"x-user": "alice"}, {"x-user": "bob"}])
        ```
    """
    return IsolationProbe()
