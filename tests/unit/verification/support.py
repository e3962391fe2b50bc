"""What the tests of shared-state verification share: two products, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scoped_registration.verification.permitted import Permitted
from scoped_registration.verification.shared_state import Shared, compare, survey


class Box:
    """A plain product: it has the attributes that it is given."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


def found(
    make: Callable[[], object],
    *,
    shares: Iterable[object] = (),
    shareable: Callable[[type], bool] | None = None,
    hidden: Iterable[str] = (),
) -> tuple[Shared, ...]:
    """Build two products and compare them."""
    permitted = Permitted(shares, shareable=shareable)
    first, second = survey(make(), permitted), survey(make(), permitted)
    assert first.complete
    assert second.complete
    return compare(first, second, hidden=hidden)


def paths(make: Callable[[], object], *, shares: Iterable[object] = ()) -> list[str]:
    """Return the paths of what two products share, which are equal in both."""
    shared = found(make, shares=shares)
    for each in shared:
        assert each.path_first == each.path_second
    return [each.path_second for each in shared]
