"""What each registration of ours is answered with: from the contract, and from its options."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator

import attrs

from scoped_registration import ReasonCode, ScopeContext
from scoped_registration.integrations.agent_framework.contract import (
    CONTRACT,
    PERSISTABLE,
    Kind,
    Row,
    kind_of,
)
from scoped_registration.scope import scope_text
from scoped_registration.testing import Recorder, Verdict
from scoped_registration.testing.agent_framework import RecordingChatClient
from tests.matrix.ours import SUBJECTS, Cell, Mode, Outcome, probe, run
from tests.matrix.subject import Keeps

__all__ = ["Promise", "check", "kind", "problems", "promise"]

_WORKFLOWS = {
    Kind.WORKFLOW,
    Kind.WORKFLOW_RUNNER,
    Kind.FACTORY_RUNNER,
    Kind.OPAQUE_RUNNER,
    Kind.EMPTY_RUNNER,
}
_FIVE = frozenset(range(5))
_BOB_IN_HER_THREAD = frozenset({3})
_NOT_HER_THREAD = frozenset({1, 2})
_NOT_HER_KEY = frozenset({1, 2, 3})
_R = ReasonCode


@attrs.frozen(kw_only=True)
class Promise:
    """What a registration is to do.

    Attributes:
        refused: The code with which it is not declared; None if it is accepted.
        code: The code with which requests are refused, when an instance is built.
        unserved: Which of the five requests that are.
        continues: Alice's second turn on a thread knows the first.
        in_her_thread: Bob is told on thread A what alice had said there.
        in_her_other_thread: Bob is told on thread B what alice had said on A.
    """

    refused: ReasonCode | None = None
    code: ReasonCode | None = None
    unserved: frozenset[int] = frozenset()
    continues: bool = False
    in_her_thread: bool = False
    in_her_other_thread: bool = False

    @property
    def served(self) -> bool:
        """Whether the five requests are."""
        return self.refused is None and not self.unserved


@functools.cache
def kind(subject: str) -> Kind:
    """Return the row of the contract that a target, or what a factory returns, belongs to."""
    client = RecordingChatClient(Recorder())
    context = ScopeContext("matrix", "alice", "A", scope_text("alice"))
    # Some are deprecated or experimental, and pytest asks for the kinds while it collects.
    with warnings.catch_warnings(action="ignore"):
        return kind_of(SUBJECTS[subject].factory(client)(context))


def promise(cell: Cell) -> Promise:
    """Return what a registration is to do."""
    refused = _not_declared(cell)
    if refused is not None:
        return Promise(refused=refused)
    code = _not_built(cell)
    if code is not None:
        return Promise(code=code, unserved=_FIVE)
    of, options, mode = cell.of, cell.options, cell.mode
    stored = options.persisted or (options.snapshots and kind(cell.subject) not in _WORKFLOWS)
    continues = of.keeps is not Keeps.NOTHING or stored
    unserved = _noticed(cell)
    code = of.reuses if unserved else None
    if mode.per_principal:
        return Promise(code=code, unserved=unserved, continues=continues)
    # Callers are one principal, or share: what one of them is told, all are.
    one_instance = mode is not Mode.PER_THREAD and kind(cell.subject) is not Kind.FACTORY_RUNNER
    apart = of.keeps is Keeps.BY_CALLER and mode is Mode.SHARED_ACCESS
    return Promise(
        code=code,
        unserved=unserved,
        continues=continues,
        in_her_thread=continues and not apart,
        in_her_other_thread=of.keeps in {Keeps.ITSELF, Keeps.ELSEWHERE} and one_instance,
    )


def _noticed(cell: Cell) -> frozenset[int]:
    """Return the requests on which a captured part is noticed: all but those of the first key."""
    of = cell.of
    if cell.mode is Mode.SCOPED and of.reuses is not None:
        return _BOB_IN_HER_THREAD if of.by_thread else _NOT_HER_KEY
    if cell.mode is Mode.PER_THREAD and of.reuses is _R.FACTORY_RETURNED_SHARED_INSTANCE:
        return frozenset() if of.by_thread else _NOT_HER_THREAD
    return frozenset()  # threads of one principal may share what they are built around


def _not_declared(cell: Cell) -> ReasonCode | None:
    """Return the first refusal in the order of what is declared: mode, options, mount."""
    mode, options = cell.mode, cell.options
    workflow = kind(cell.subject) in _WORKFLOWS
    cells: dict[Mode, str] = {
        Mode.SINGLE_USER: "single_user",
        Mode.SCOPED_OBJECT: "given",
        Mode.PER_RUN: "per_run",
        Mode.SHARED: "shared",
        Mode.SHARED_ACCESS: "shared",
    }
    row: Row = CONTRACT[kind(cell.subject)]
    code: ReasonCode | None = getattr(row, cells[mode]) if mode in cells else None
    if code is None and options.checkpoints and not (workflow or mode.takes_factory):
        code = _R.CHECKPOINT_NEEDS_WORKFLOW
    if code is None and options.persisted and not (mode.takes_factory or mode is Mode.PER_RUN):
        code = _R.OPTION_UNAVAILABLE
    if code is None and options.persisted and (options.snapshots or options.checkpoints):
        code = _R.STORE_ALREADY_CONFIGURED
    return code


def _not_built(cell: Cell) -> ReasonCode | None:
    """Return why a factory's products are refused, each of them."""
    if not cell.mode.takes_factory:
        return None
    returned = kind(cell.subject)
    row = CONTRACT[returned]
    code = row.scoped if cell.mode is Mode.SCOPED else row.per_thread
    if code is None and cell.options.persisted and returned not in PERSISTABLE:
        code = _R.OPTION_UNAVAILABLE
    if code is None and cell.options.checkpoints and returned not in _WORKFLOWS:
        code = _R.CHECKPOINT_NEEDS_WORKFLOW
    return code


def problems(cell: Cell, outcome: Outcome) -> Iterator[str]:
    """Yield where a registration did otherwise than it is promised."""
    promised, played = promise(cell), outcome.played
    if outcome.refused is not promised.refused:
        yield f"refused with {outcome.refused}, and {promised.refused} was promised"
    if played is None:
        return
    codes = frozenset[ReasonCode]() if promised.code is None else frozenset({promised.code})
    if outcome.codes != codes or played.refused != promised.unserved:
        yield (
            f"requests {[*played.refused]} refused with {[*outcome.codes]}, and "
            f"{[*promised.unserved]} with {promised.code} was promised"
        )
    if played.unseen:
        yield f"control: the own text of {played.unseen} did not reach the model"
    if played.refused == _FIVE:
        return
    if played.alice_continues is not promised.continues:
        yield f"alice continues: {played.alice_continues}"
    if cell.hidden:
        if not outcome.leaks:
            yield "what was hidden does not leak any more: then it is to be promised"
    elif cell.mode.per_principal:
        yield from _apart(outcome)
    elif not (cell.mode.takes_factory and played.refused):
        yield from _together(cell, outcome)


def _apart(outcome: Outcome) -> Iterator[str]:
    played = outcome.played
    assert played is not None
    if outcome.leaks:
        yield f"leak: {played.between_principals}, stored: {played.stored_between_principals}"
    if played.between_threads:
        yield f"between threads: {played.between_threads}"


def _together(cell: Cell, outcome: Outcome) -> Iterator[str]:
    """One principal, or several who share: the text is there, and it is said that it is."""
    promised, played, described = promise(cell), outcome.played, outcome.described
    assert played is not None
    assert described is not None
    if played.bob_sees_her_thread is not promised.in_her_thread:
        yield f"bob on thread A sees alice's: {played.bob_sees_her_thread}"
    captured = cell.of.capturing is not None  # what threads of one principal share is theirs
    if not captured and played.bob_sees_her_other_thread is not promised.in_her_other_thread:
        yield f"bob on thread B sees alice's A: {played.bob_sees_her_other_thread}"
    if not cell.mode.shared:
        return
    if promised.in_her_thread and not played.between_principals:
        yield "control: nothing is shared"
    if described.mode != "PersistentShared" or described.acknowledgement is None:
        yield f"it is described as {described.mode}, {described.acknowledgement}"
    if not all(word in outcome.openapi for word in ("PersistentShared", "team-support")):
        yield "the OpenAPI document does not say that it is shared, and who answers for it"


async def check(cell: Cell) -> tuple[Outcome, list[str]]:
    """Register and play; return what became of it, and what is wrong with that.

    Where principals are kept apart, the kit's probe is to say so as well.
    """
    outcome = await run(cell)
    found = list(problems(cell, outcome))
    if cell.mode.per_principal and outcome.served:
        report = await probe(cell, continuity=promise(cell).continues)
        if report.verdict is not (Verdict.LEAK if cell.hidden else Verdict.ISOLATED):
            found.append(f"the probe: {report}")
    return outcome, found
