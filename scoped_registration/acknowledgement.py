"""What it takes to share one instance on purpose: a named set of risks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from enum import StrEnum

import attrs

from scoped_registration.errors import ReasonCode, RegistrationError, caller, describe_type
from scoped_registration.inspection import refuse_bad_calls

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
        for part, text in (("reason", reason), ("owner", owner)):
            if not isinstance(text, str) or not text.strip():
                raise _invalid(f"{part} must be a text that is not blank")
        if isinstance(risks, str) or not isinstance(risks, Iterable):
            raise _invalid("risks must be a collection of Risk members")
        named = list(risks)
        for risk in named:
            if not isinstance(risk, Risk):
                raise _invalid(f"risks holds a {describe_type(risk)}, not a Risk member")
        if not named:
            raise _invalid("risks is empty: an acknowledgement names what it accepts")
        if review_by is not None and (
            not isinstance(review_by, date) or isinstance(review_by, datetime)
        ):
            raise _invalid("review_by must be a datetime.date")
        parts = {"reason": reason, "owner": owner, "risks": frozenset(named), "review_by": review_by}
        for name, value in parts.items():
            object.__setattr__(self, name, value)  # frozen, and not every checker knows attrs

    def overdue(self, today: date) -> bool:
        """Tell whether the day of review has passed."""
        return self.review_by is not None and self.review_by < today


refuse_bad_calls(
    Acknowledgement,
    ReasonCode.ACKNOWLEDGEMENT_INVALID,
    "Acknowledgement(reason=..., owner=..., risks={Risk....})",
)


def _invalid(problem: str) -> RegistrationError:
    return RegistrationError(
        ReasonCode.ACKNOWLEDGEMENT_INVALID,
        problem,
        instead="Acknowledgement(reason=..., owner=..., risks={Risk....})",
        declared_at=caller(),
    )
