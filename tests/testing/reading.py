"""What tests ask of a report."""

from __future__ import annotations

from scoped_registration.testing import IsolationReport
from scoped_registration.testing.findings import Control, Phase, Place


def crossings(report: IsolationReport, place: Place) -> set[tuple[str, str]]:
    return {(str(it.seer), str(it.owner)) for it in report.sightings if it.place is place}


def phases(report: IsolationReport) -> set[Phase]:
    return {it.phase for it in report.sightings}


def places(report: IsolationReport) -> set[Place]:
    return {it.place for it in report.sightings}


def failed(report: IsolationReport) -> set[Control]:
    return {failure.control for failure in report.failures}
