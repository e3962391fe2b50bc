"""The rules over a loaded application.

Each is a heading of the page *Audit an application* in the documentation. As with the rules
of the scan, an id never changes its meaning, and none is given to another rule.
"""

from __future__ import annotations

from scoped_registration.audit.rules import Rule

__all__ = ["AUDIT_RULES"]

SHARED_ENDPOINT = Rule(
    "SR201",
    "upstream-endpoint-shares-state",
    "An endpoint that was added without the builder tells principals apart, and serves them all "
    "from one runner that keeps state.",
    "AGUIEndpointBuilder(...).isolation(ScopedFactory(build_workflow, scope=...)).mount(app), "
    "or PersistentShared(..., acknowledgement=...) where sharing is meant.",
)
RUNNER_TWICE = Rule(
    "SR202",
    "one-runner-on-two-endpoints",
    "Two endpoints run one runner or workflow: their runs collide, and a store that is given to "
    "one serves both.",
    "Build one object for each endpoint, or serve one endpoint.",
)
REVIEW_OVERDUE = Rule(
    "SR203",
    "review-overdue",
    "The day by which somebody was to look at a shared instance again has passed.",
    "Review it with its owner, then set a new review_by= or isolate it with ScopedFactory.",
)
SINGLE_USER_APART = Rule(
    "SR204",
    "single-user-beside-authentication",
    "An application authenticates its callers, and a SingleUser without an owner serves any of "
    "them as one principal.",
    "SingleUser(target, owner=current_user), or ScopedFactory(factory, scope=current_user).",
)
NEVER_ATTACHED = Rule(
    "SR205",
    "registration-never-attached",
    "A registration was built and is attached to no application whose lifespan a server runs: "
    "nothing closes its instances, and requests for them are refused.",
    "attach(app, registration), with the root application; or remove it.",
)
UNBOUNDED = Rule(
    "SR206",
    "unbounded-option",
    "An option sets no bound on how many instances live, or for how long.",
    "A number in .pool(...), or leave the option out: its default is a bound.",
)
SEVERAL_WORKERS = Rule(
    "SR207",
    "several-workers-with-state-in-memory",
    "Several workers are declared, and state lives in the memory of one: a thread's next "
    "request may reach a worker that knows nothing of it.",
    ".persisted(store), with a store that workers share; one worker; or a router in front that "
    "sends each thread to the same worker.",
)
START_REFUSED = Rule(
    "SR208",
    "start-up-refuses",
    "The application would not start.",
    "What the page *Errors* says under the reason code.",
)
MANIFEST_DIFFERS = Rule(
    "SR209",
    "manifest-differs",
    "The application registers something else than the manifest says that was reviewed.",
    "scoped-registration audit MODULE:APP --manifest FILE, and commit it with the change.",
)

AUDIT_RULES = (
    SHARED_ENDPOINT,
    RUNNER_TWICE,
    REVIEW_OVERDUE,
    SINGLE_USER_APART,
    NEVER_ATTACHED,
    UNBOUNDED,
    SEVERAL_WORKERS,
    START_REFUSED,
    MANIFEST_DIFFERS,
)
