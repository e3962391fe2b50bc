"""The rules of the scan, and what it finds, as data.

Each rule is a heading of the page *Scan* in the documentation. An id never changes its
meaning, and none is given to another rule.
"""

from __future__ import annotations

from pathlib import PurePath

import attrs

__all__ = ["RULES", "Finding", "Place", "Report", "Rule", "Unreadable"]


@attrs.frozen
class Rule:
    """One kind of finding.

    Attributes:
        id: Stable, as in ``SR101``.
        name: Stable too, in words joined by hyphens.
        summary: What is wrong, in one sentence.
        instead: What to write instead.
    """

    id: str
    name: str
    summary: str
    instead: str


@attrs.frozen(order=True)
class Place:
    """Where something stands in a file. Lines and columns begin at 1 and count characters."""

    path: PurePath
    line: int
    column: int
    end_line: int
    end_column: int


@attrs.frozen(order=True)
class Finding:
    """One thing found, at one place.

    Attributes:
        place: The expression at fault.
        rule: The id of its rule.
        message: What is wrong there, in one sentence.
    """

    place: Place
    rule: str
    message: str


@attrs.frozen(order=True)
class Unreadable:
    """A path that nothing can be said about, and why."""

    path: PurePath
    reason: str


@attrs.frozen(kw_only=True)
class Report:
    """What a command has found, for any of the output formats.

    Attributes:
        rules: Every rule that was looked for.
        findings: In the order of their places.
        unreadable: In the order of their paths.
        files: How many files were read, by a scan.
        registrations: How many registrations an application has, by an audit.
        notes: What a reader should know besides, from an audit.
    """

    rules: tuple[Rule, ...]
    findings: tuple[Finding, ...]
    unreadable: tuple[Unreadable, ...]
    files: int = 0
    registrations: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The exit status: 2 where something could not be read, else 1 for findings, else 0."""
        if self.unreadable:
            return 2
        return 1 if self.findings else 0


_FACTORY = (
    "Construct everything inside the factory: "
    "`def build(context): return WorkflowBuilder(...).build()`."
)
SHARED_TARGET = Rule(
    "SR101",
    "shared-workflow-on-endpoint",
    "An endpoint serves one workflow, and what it remembers, to every caller.",
    "AGUIEndpointBuilder(...).isolation(ScopedFactory(build_workflow, scope=...)).mount(app), "
    "or AgentFrameworkWorkflow(workflow_factory=build_workflow) upstream.",
)
CAPTURED_PRODUCT = Rule(
    "SR102",
    "factory-returns-captured-object",
    "A factory returns an object that exists outside it: every key gets the same one.",
    _FACTORY,
)
CACHED_FACTORY = Rule(
    "SR103",
    "cached-factory",
    "A factory is cached: several keys get one object.",
    "Remove the cache. The pool of a registration keeps one instance per key.",
)
SHARED_BUILDER = Rule(
    "SR104",
    "builder-outside-factory",
    "A builder exists outside the factory: all that it builds shares the parts it holds.",
    "Construct the builder and its parts inside the factory.",
)
CACHED_STATE = Rule(
    "SR105",
    "workflow-state-keeps-one-workflow",
    "A WorkflowState keeps one workflow, or the parts of one, for every caller.",
    "WorkflowState(build_workflow, cache_target=False), with everything constructed inside "
    "`build_workflow`.",
)
CONSTANT_SCOPE = Rule(
    "SR106",
    "resolver-returns-constant",
    "A resolver returns a constant: all callers are one principal.",
    "Return who calls, from a dependency that authenticates.",
)
SCOPE_FROM_BODY = Rule(
    "SR107",
    "resolver-reads-body",
    "A resolver takes the scope from the request's body, where any caller can name any other.",
    "Return who calls, from a dependency that authenticates: a token, a session, a certificate.",
)
INSTANCE_AS_FACTORY = Rule(
    "SR108",
    "instance-as-factory",
    "An instance is given where a factory is wanted.",
    "Pass the function that builds it, and do not call it.",
)
SHARED_PART = Rule(
    "SR109",
    "factory-shares-part",
    "A factory makes something new around a part that exists outside it and keeps state: every "
    "key gets that part.",
    "Construct executors, sessions and inner workflows inside the factory; agents and chat "
    "clients may exist outside it.",
)
NO_MODE = Rule(
    "SR110",
    "target-without-mode",
    "A target or a factory is given to isolation(), where a mode is wanted that says who may "
    "share it.",
    "isolation(ScopedFactory(build_workflow, scope=current_user)), or another mode.",
)
NO_REASON = Rule(
    "SR901",
    "suppression-without-reason",
    "A suppression names no rule or gives no reason, and suppresses nothing.",
    "# scoped-registration: ignore[SR101] one operator uses this server",
)
UNUSED_SUPPRESSION = Rule(
    "SR902",
    "unused-suppression",
    "A suppression stands where its rule finds nothing.",
    "Remove it.",
)

RULES = (
    SHARED_TARGET,
    CAPTURED_PRODUCT,
    CACHED_FACTORY,
    SHARED_BUILDER,
    CACHED_STATE,
    CONSTANT_SCOPE,
    SCOPE_FROM_BODY,
    INSTANCE_AS_FACTORY,
    SHARED_PART,
    NO_MODE,
    NO_REASON,
    UNUSED_SUPPRESSION,
)
