"""Find out whether an application keeps its principals apart."""

from scoped_registration.testing.findings import Verdict
from scoped_registration.testing.pending import AGUIPending, Pending
from scoped_registration.testing.probe import probe_isolation
from scoped_registration.testing.recorders import Recorder
from scoped_registration.testing.report import IsolationReport
from scoped_registration.testing.requests import AGUIRoute, AGUIRouteWithSnapshots, JSONRoute

__all__ = [
    "AGUIPending",
    "AGUIRoute",
    "AGUIRouteWithSnapshots",
    "IsolationReport",
    "JSONRoute",
    "Pending",
    "Recorder",
    "Verdict",
    "probe_isolation",
]
