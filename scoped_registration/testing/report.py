"""The report of a probe, as data, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import attrs
from typing_extensions import override

from scoped_registration.manifest import Json
from scoped_registration.testing.findings import (
    Blocked,
    Control,
    Failure,
    Foreign,
    Meanwhile,
    Overlap,
    Place,
    Questions,
    Repetition,
    Sighting,
    Verdict,
)

__all__ = ["IsolationReport"]

_JSON_VERSION = 1  # of the shape of the JSON output; a key that is added keeps it
_LINES = 20

_DID = {
    Place.SESSION: "shares with",
    Place.SESSION_ID: "shares with",
    Place.ORIGIN: "was sent something of",
    Place.QUESTION: "used up what was asked of",
}


@attrs.frozen(kw_only=True)
class IsolationReport:
    """What `probe_isolation` found. Principals appear by their labels, and without headers.

    Attributes:
        principals: How many principals took part.
        threads: How many threads each of them had.
        requests: How many requests were sent.
        sightings: Who saw whose text or got at what is whose, and where.
        blocked: Who was refused because of whom.
        failures: The controls that failed.
        held: How often each control held.
        observed: Where texts were seen on the thread to which they belong, and how often. Of
            any other place the report says nothing.
        repetitions: Whose texts stood more than once in one call of the model, which is no
            leak: a history that is sent twice.
        foreign: What became of another's thread id; None if that was not asked for.
        overlap: How far requests overlapped; None if that was not asked for.
        meanwhile: How requests were answered while another was held; None as above.
        questions: What became of questions to a person; None if no `pending` was given.

    Example:
        ```python
        report = await probe_isolation(app, AGUIRoute("/support"), users)
        print(report)
        for sighting in report.sightings:
            print(sighting.seer, "saw", sighting.owner, "in the", sighting.place)
        ```
    """

    principals: int
    threads: int
    requests: int
    sightings: tuple[Sighting, ...]
    failures: tuple[Failure, ...]
    held: tuple[tuple[Control, int], ...]
    observed: tuple[tuple[Place, int], ...] = ()
    foreign: Foreign | None = None
    overlap: Overlap | None = None
    blocked: tuple[Blocked, ...] = ()
    repetitions: tuple[Repetition, ...] = ()
    meanwhile: Meanwhile | None = None
    questions: Questions | None = None

    @property
    def verdict(self) -> Verdict:
        """What the sightings and the controls come to."""
        if self.sightings or self.blocked:
            return Verdict.LEAK
        # Without a control that held there is nothing which an absence could rest on.
        if self.failures or not dict(self.held).get(Control.OWN_TEXT):
            return Verdict.INCONCLUSIVE
        return Verdict.ISOLATED

    @override
    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.verdict.upper()}: {_counted(self.principals, 'principal')} with "
            f"{_counted(self.threads, 'thread')} each, {_counted(self.requests, 'request')}"
        )
        seen: dict[str, list[str]] = {}
        for it in self.sightings:
            did = _DID.get(it.place, "saw the text of")
            line = f"{it.seer} {did} {it.owner}: {it.place}"
            seen.setdefault(line, []).append(f"{it.phase} ({it.times})")
        yield from _cut(f"  {line}, {', '.join(phases)}" for line, phases in seen.items())
        yield from _cut(f"  {it}" for it in self.blocked)
        failed: dict[tuple[Control, str], list[str]] = {}
        for failure in self.failures:
            whose = failed.setdefault((failure.control, failure.why), [])
            if failure.seat is not None:
                whose.append(f"{failure.seat} {failure.phase}")
        for (control, why), whose in failed.items():
            yield f"  control failed: {control}: {why}"
            yield from _cut(f"    {one}" for one in whose)
        held = ", ".join(f"{control} ({times})" for control, times in self.held)
        yield f"  controls that held: {held or 'none'}"
        observed = ", ".join(f"{place} ({times})" for place, times in self.observed)
        yield f"  own texts were seen in: {observed or 'no place'}"
        repeated = [f"{it.seat} {it.phase} ({it.times})" for it in self.repetitions]
        if repeated:
            yield f"  own texts stood twice in one call of the model: {', '.join(repeated)}"
        if self.foreign is not None:
            yield f"  another's thread id: {self.foreign.served} of {self.foreign.asked} served"
        if self.overlap is not None:
            yield f"  overlap: {self.overlap}"
        if self.meanwhile is not None:
            yield f"  meanwhile: {self.meanwhile}"
        if self.questions is not None:
            yield f"  questions to a person: {self.questions}"

    def as_json(self) -> str:
        """Return the report as JSON.

        The text has a `version`, which changes when a key is removed or changes its meaning.

        Example:
            ```python
            Path("isolation.json").write_text(report.as_json())
            ```
        """
        sightings: list[Json] = [
            {
                "seer": str(it.seer),
                "owner": str(it.owner),
                "place": it.place,
                "phase": it.phase,
                "times": it.times,
            }
            for it in self.sightings
        ]
        blocked: list[Json] = [
            {"seat": str(it.seat), "by": str(it.by), "phase": it.phase, "why": it.why}
            for it in self.blocked
        ]
        repetitions: list[Json] = [
            {"seat": str(it.seat), "phase": it.phase, "times": it.times} for it in self.repetitions
        ]
        failures: list[Json] = [
            {
                "control": it.control,
                "why": it.why,
                "seat": None if it.seat is None else str(it.seat),
                "phase": it.phase,
            }
            for it in self.failures
        ]
        held: dict[str, Json] = {str(control): times for control, times in self.held}
        observed: dict[str, Json] = {str(place): times for place, times in self.observed}
        whole: dict[str, Json] = {
            "version": _JSON_VERSION,
            "verdict": self.verdict,
            "principals": self.principals,
            "threads": self.threads,
            "requests": self.requests,
            "sightings": sightings,
            "blocked": blocked,
            "failures": failures,
            "held": held,
            "observed": observed,
            "repetitions": repetitions,
            "foreign": None if self.foreign is None else attrs.asdict(self.foreign),
            "overlap": None if self.overlap is None else attrs.asdict(self.overlap),
            "meanwhile": None if self.meanwhile is None else attrs.asdict(self.meanwhile),
            "questions": None if self.questions is None else attrs.asdict(self.questions),
        }
        return json.dumps(whole, indent=2) + "\n"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _cut(lines: Iterable[str]) -> list[str]:
    all_of_them = list(lines)
    more = len(all_of_them) - _LINES
    return [*all_of_them[:_LINES], f"  and {more} more"] if more > 0 else all_of_them
