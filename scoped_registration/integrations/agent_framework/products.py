"""How instances of an endpoint come to be, and what is refused of what a factory returned."""

from __future__ import annotations

from typing import Any

from agent_framework_ag_ui import AgentFrameworkAgent

from scoped_registration.errors import ReasonCode, RegistrationError, describe_type
from scoped_registration.integrations.agent_framework import runners, targets
from scoped_registration.integrations.agent_framework.contract import PERSISTABLE, kind_of
from scoped_registration.integrations.agent_framework.settings import EndpointSettings
from scoped_registration.runtime.comparison import Comparison
from scoped_registration.runtime.life import Made
from scoped_registration.runtime.single_flight import Factory

# Any: every product is made alike, whatever its type.

__all__ = ["check_session", "made", "refusal"]


def made(
    factory: Factory, settings: EndpointSettings, comparison: Comparison | None = None
) -> Made[Any]:
    """Return the life of a factory's instances, of several principals if they are compared."""

    def accept(product: object) -> None:
        targets.check_product(product, several_principals=comparison is not None)
        snapshots = settings.snapshots is not None or settings.persisted is not None
        targets.check_session(product, snapshots=snapshots)
        if settings.persisted is not None:
            _check_persistable(product, settings)
        if settings.checkpoints is not None and runners.is_agent(product):
            raise refusal(
                ReasonCode.CHECKPOINT_NEEDS_WORKFLOW,
                "the factory returned an agent, and agents have no checkpoints",
                "leave .checkpoints(...) out",
                settings,
            )
        if settings.agent.given and (
            not runners.is_agent(product) or isinstance(product, AgentFrameworkAgent)
        ):
            raise refusal(
                ReasonCode.OPTION_UNAVAILABLE,
                f"state_schema, predict_state_config and a2ui are for an agent, and the factory "
                f"returned {describe_type(product)}",
                "give them to the AgentFrameworkAgent, or leave them out",
                settings,
            )
        for option, carried in runners.stores_of(product).items():
            declared = getattr(settings, option)
            if None not in (carried, declared) and carried is not declared:
                raise refusal(
                    ReasonCode.STORE_ALREADY_CONFIGURED,
                    f"the factory returned a runner that carries other {option}",
                    "give the store in one place",
                    settings,
                )

    return Made(
        factory,
        accept=accept,
        manager=runners.manager_of_product,
        core=runners.core_of,
        comparison=comparison,
    )


def _check_persistable(product: object, settings: EndpointSettings) -> None:
    """Refuse what keeps state that no document holds, or stores of its own."""
    if kind_of(product) not in PERSISTABLE:
        raise refusal(
            ReasonCode.OPTION_UNAVAILABLE,
            f"the factory returned {describe_type(product)}, whose state cannot be written",
            "return a Workflow, an AgentFrameworkWorkflow(workflow=...) or a plain agent, "
            "or leave .persisted(...) out",
            settings,
        )
    if runners.checkpoints_of(product) is not None or any(
        store is not None for store in runners.stores_of(product).values()
    ):
        raise refusal(
            ReasonCode.STORE_ALREADY_CONFIGURED,
            "what the factory returned carries a store, and the thread is kept in another",
            "give the store in one place",
            settings,
        )


def check_session(target: object, settings: EndpointSettings) -> None:
    """Refuse a runner that wants a session which it does not get.

    Raises:
        RegistrationError: ``capability_needs_session``.
    """
    try:
        targets.check_session(target, snapshots=settings.snapshots is not None)
    except RegistrationError as error:
        raise error.located(registration=settings.name, declared_at=settings.declared_at) from None


def refusal(
    code: ReasonCode, problem: str, instead: str, settings: EndpointSettings
) -> RegistrationError:
    """Return a refusal of an endpoint, with its name and place."""
    return RegistrationError(
        code,
        problem,
        instead=instead,
        registration=settings.name,
        declared_at=settings.declared_at,
    )
