"""What it takes to share one instance on purpose: a named set of risks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from enum import StrEnum
from typing import cast

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError, caller, describe_type
from scoped_registration.inspection import refuse_bad_calls
from scoped_registration.keys import is_blank

__all__ = ["Acknowledgement", "Risk"]


class Risk(StrEnum):
    """What crosses from one principal to another on a shared instance.

    A registration computes the risks it really carries; see promise P10 and
    the page *Sharing on purpose*.
    """

    CONVERSATION_HISTORY = "conversation_history"
    PROVIDER_CONVERSATION = "provider_conversation"
    STANDING_APPROVALS = "standing_approvals"
    POLICY_LABELS = "policy_labels"
    WORKFLOW_STATE = "workflow_state"
    CHECKPOINT_CONTENTS = "checkpoint_contents"
    PENDING_REQUESTS = "pending_requests"
    AVAILABILITY = "availability"
    OBJECT_STATE = "object_state"


@attrs.frozen(kw_only=True, init=False)
class Acknowledgement:
    """A person's statement that sharing is wanted, and which risks come with it.

    An acknowledgement that does not name a risk the registration carries is
    refused, so an upgrade that adds a risk asks again.

    Args:
        reason: Why the instance is shared.
        owner: Who answers for it, for example a team.
        risks: The risks that are accepted; at least one.
        review_by: The day by which somebody looks at this again. A past day is
            reported at start-up and never stops the application.

    Raises:
        RegistrationError: ``acknowledgement_invalid`` if a part is blank, empty or
            of another type.

    Example:
        ```python
        Acknowledgement(
            reason="one shared incident room",
            owner="team-sre",
            risks={Risk.OBJECT_STATE},
        )
        ```
    """

    reason: str
    owner: str
    risks: frozenset[Risk]
    review_by: date | None

    def __init__(
        self,
        *,
        reason: str,
        owner: str,
        risks: Iterable[Risk],
        review_by: date | None = None,
    ) -> None:
        _check_text("reason", reason)
        _check_text("owner", owner)
        _check_date(review_by)
        parts = {"reason": reason, "owner": owner, "risks": _named(risks), "review_by": review_by}
        for name, value in parts.items():
            object.__setattr__(self, name, value)  # frozen, and not every checker knows attrs

    def overdue(self, today: date) -> bool:
        """Tell whether the day of review has passed."""
        return self.review_by is not None and self.review_by < today


_HOW_TO_ACKNOWLEDGE = "Acknowledgement(reason=..., owner=..., risks={Risk....})"
HOW_TO_SHARE = f"PersistentShared(target, acknowledgement={_HOW_TO_ACKNOWLEDGE})"

refuse_bad_calls(Acknowledgement, ReasonCode.ACKNOWLEDGEMENT_INVALID, _HOW_TO_ACKNOWLEDGE)


def check_acknowledgement(given: object) -> None:
    """Refuse what stands where an acknowledgement should.

    Raises:
        RegistrationError: ``acknowledgement_required``.
    """
    if not isinstance(given, Acknowledgement):
        raise RegistrationError(
            ReasonCode.ACKNOWLEDGEMENT_REQUIRED,
            f"acknowledgement is a {describe_type(given)}, not an Acknowledgement",
            instead=HOW_TO_SHARE,
            declared_at=caller(),
        )


def _check_text(part: str, text: object) -> None:
    if not isinstance(text, str) or is_blank(text):
        raise _invalid(f"{part} must be a text that is not blank")


def _check_date(day: object) -> None:
    if day is not None and (not isinstance(day, date) or isinstance(day, datetime)):
        raise _invalid("review_by must be a datetime.date")


def _named(risks: object) -> frozenset[Risk]:
    if isinstance(risks, str) or not isinstance(risks, Iterable):
        raise _invalid("risks must be a collection of Risk members")
    named: set[Risk] = set()
    for risk in cast("Iterable[object]", risks):
        if not isinstance(risk, Risk):
            raise _invalid(f"risks holds a {describe_type(risk)}, not a Risk member")
        named.add(risk)
    if not named:
        raise _invalid("risks is empty: an acknowledgement names what it accepts")
    return frozenset(named)


def _invalid(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.ACKNOWLEDGEMENT_INVALID,
        problem,
        instead=_HOW_TO_ACKNOWLEDGE,
        declared_at=caller(),
    )


def check_risks(
    given: Acknowledgement, carried: frozenset[Risk], *, registration: str, declared_at: str
) -> tuple[str, ...]:
    """Refuse an acknowledgement that misses a risk which the registration carries.

    Returns:
        A note on the risks that it names beside those, if any.

    Raises:
        RegistrationError: ``risk_not_acknowledged``, naming what is missing.
    """
    missing = sorted(carried - given.risks)
    if missing:
        names = ", ".join(f"Risk.{risk.name}" for risk in missing)
        raise RegistrationError(
            ReasonCode.RISK_NOT_ACKNOWLEDGED,
            f"sharing this target carries {names}, which the acknowledgement does not name",
            instead=f"add {names} to risks=, or isolate with ScopedFactory",
            registration=registration,
            declared_at=declared_at,
        )
    unneeded = ", ".join(f"Risk.{risk.name}" for risk in sorted(given.risks - carried))
    if not unneeded:
        return ()
    return (f"the acknowledgement names {unneeded}, which is not known to be carried here",)
