"""What is found in the description of a registration, whatever application it is in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import attrs

from scoped_registration.audit.application_rules import (
    REVIEW_OVERDUE,
    SEVERAL_WORKERS,
    UNBOUNDED,
)
from scoped_registration.audit.rules import Rule
from scoped_registration.manifest import Description
from scoped_registration.modes import PerThread, ScopedFactory

__all__ = ["Circumstances"]

_BUILDING = (ScopedFactory.label, PerThread.label)
_BOUNDS = ("max_instances", "max_per_scope", "idle_ttl")


@attrs.frozen(kw_only=True)
class Circumstances:
    """What a description is judged by.

    Attributes:
        today: The day by which reviews are judged.
        workers: How many processes are to serve the application.
    """

    today: date
    workers: int

    def of(self, it: Description, *, per_process: bool | None = None) -> Iterator[tuple[Rule, str]]:
        """Yield what is found.

        Args:
            it: The description.
            per_process: Whether another worker would not see what one keeps of a thread. By
                default that is what the name of the store says, where the description has one.
        """
        given = it.acknowledgement
        if given is not None and given.review_by is not None and given.overdue(self.today):
            day = given.review_by.isoformat()
            yield REVIEW_OVERDUE, f"{given.owner} was to review what it shares by {day}"
        unbounded = [
            name
            for name in _BOUNDS
            # One principal has no share to divide: the library itself leaves that bound out.
            if it.options.get(name, 0) is None
            and (it.mode != PerThread.label or name != "max_per_scope")
        ]
        if unbounded:
            yield UNBOUNDED, f"no bound: {', '.join(f'{name}=None' for name in unbounded)}"
        if self.workers > 1:
            state = _in_memory(it, per_process=per_process)
            if state is not None:
                yield SEVERAL_WORKERS, f"{state}, and there are {self.workers} workers"


def _in_memory(it: Description, *, per_process: bool | None) -> str | None:
    """Say what the memory of one process holds, if anything."""
    store = it.options.get("store")
    if per_process is None:
        per_process = store is None or _is_memory(store)
    if not per_process:
        # The framework makes the sessions of a plain agent anew, from these.
        is_kept = store is None and _is_memory(it.options.get("snapshots"))
        return "its snapshots live in memory" if is_kept else None
    if store is not None:
        return "its store keeps the threads in memory"
    if it.mode in _BUILDING:
        return "its instances live in memory"
    return "its instance exists once in the memory of each process"


def _is_memory(store: object) -> bool:
    """Say whether the name of a store's class says that it keeps what it is given in memory."""
    return isinstance(store, str) and "memory" in store.rpartition(".")[2].lower()
