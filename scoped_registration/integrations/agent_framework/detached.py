"""Runs that go on when their client has left: how many, of whom, and until when.

A run has a task of its own in any case. Detached, it is not cancelled with its request: its
events are dropped, and its lease is given back when it ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress

from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.integrations.agent_framework.options import Detached
from scoped_registration.runtime.report import log

__all__ = ["DetachedRun", "DetachedRuns"]


class DetachedRuns:
    """The runs of one endpoint, whether their clients are still there or not.

    Args:
        registration: The registration's name.
        limits: How many, and for how long.
    """

    def __init__(self, registration: str, limits: Detached) -> None:
        self.registration = registration
        self.limits = limits
        self.running: Counter[str] = Counter()  # by scope
        self.alone: set[asyncio.Task[None]] = set()  # those that their clients have left
        self._mutex = threading.Lock()  # event loops in different threads may share an endpoint

    def enter(self, scope: str) -> DetachedRun:
        """Count a run in.

        Raises:
            RegistrationError: ``detached_runs_full``.
        """
        share = self.limits.max_runs_per_scope
        with self._mutex:
            if self.running.total() >= self.limits.max_runs or (
                share is not None and self.running[scope] >= share
            ):
                raise RegistrationError(
                    ReasonCode.DETACHED_RUNS_FULL,
                    "as many runs go on as the endpoint, or one principal, may have",
                    instead="retry later, or raise max_runs or max_runs_per_scope in "
                    ".detached(...)",
                    registration=self.registration,
                )
            self.running[scope] += 1
        return DetachedRun(self, scope)

    def leave(self, scope: str) -> None:
        """Count a run out: a scope without runs leaves no entry."""
        with self._mutex:
            self.running[scope] -= 1
            if not self.running[scope]:
                del self.running[scope]

    def cancel(self) -> None:
        """Cancel the runs that nobody reads: their instances are about to be closed."""
        for run in list(self.alone):
            with suppress(RuntimeError):  # its loop has ended, and the run with it
                run.get_loop().call_soon_threadsafe(run.cancel)


class DetachedRun:
    """One of them, until it has ended."""

    def __init__(self, runs: DetachedRuns, scope: str) -> None:
        self._runs = runs
        self._scope = scope

    async def finish(self, run: asyncio.Task[None]) -> None:
        """Wait for a run whose client has left, until it ends or its time is up."""
        runs = self._runs
        runs.alone.add(run)
        try:
            _, pending = await asyncio.wait({run}, timeout=runs.limits.timeout)
        finally:
            runs.alone.discard(run)
        if pending:
            log.warning("registration %r: a detached run took too long", runs.registration)

    def leave(self) -> None:
        """Count this run out."""
        self._runs.leave(self._scope)
