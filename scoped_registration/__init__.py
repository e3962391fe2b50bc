"""Declare who may share a stateful target, or it is not served."""

from scoped_registration.acknowledgement import Acknowledgement, Risk
from scoped_registration.builder import RegistrationBuilder
from scoped_registration.errors import ReasonCode, RegistrationError
from scoped_registration.modes import PersistentShared, ScopedFactory, SingleUser
from scoped_registration.registration import Registration
from scoped_registration.scope import ScopeContext

__all__ = [
    "Acknowledgement",
    "PersistentShared",
    "ReasonCode",
    "Registration",
    "RegistrationBuilder",
    "RegistrationError",
    "Risk",
    "ScopeContext",
    "ScopedFactory",
    "SingleUser",
]
