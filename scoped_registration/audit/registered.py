"""What an application, and those mounted in it, have registered."""

from __future__ import annotations

from typing import Any

import attrs

from scoped_registration.audit.loading import Loaded
from scoped_registration.integrations.application import Application
from scoped_registration.integrations.operations import applications
from scoped_registration.manifest import Description
from scoped_registration.registration import Registration

# Any: registrations of targets of any type.

__all__ = ["Registered", "registered"]


@attrs.frozen(eq=False)
class Registered:
    """A registration as one application has it.

    Attributes:
        registration: What is registered.
        description: With what the application was told of it.
        is_served: Whether a server runs the lifespan that it is attached to.
    """

    registration: Registration[Any]
    description: Description
    is_served: bool


def registered(loaded: Loaded) -> tuple[Registered, ...]:
    """Return what an application, and those mounted in it, have registered, by name.

    What is attached to several of them is returned once, as the outermost has it.
    """
    found: dict[int, Registered] = {}
    for inner in applications(loaded.app):
        record = Application.of(inner)
        described = {description.name: description for description in record.describe()}
        for registration in record.registrations:
            it = Registered(registration, described[registration.name], inner is loaded.app)
            found.setdefault(id(registration), it)
    return tuple(
        sorted(found.values(), key=lambda it: (it.description.name, it.description.declared_at))
    )
