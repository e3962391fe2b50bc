"""What the stages of an AG-UI builder have collected."""

from __future__ import annotations

import attrs
from agent_framework import CheckpointStorage
from agent_framework_ag_ui import AGUIThreadSnapshotStore
from typing_extensions import override

from scoped_registration.errors import describe_type
from scoped_registration.integrations.agent_framework.options import (
    AgentOptions,
    Detached,
    EndpointOptions,
)
from scoped_registration.integrations.agent_framework.runners import Fittings
from scoped_registration.integrations.agent_framework.thread import Thread
from scoped_registration.manifest import Json
from scoped_registration.persistence.hold import Persistence
from scoped_registration.settings import Settings, persistence_of

__all__ = ["EndpointSettings"]


@attrs.frozen(kw_only=True)
class EndpointSettings(Settings):
    """What the stages of an AG-UI builder have collected."""

    path: str = "/"
    snapshots: AGUIThreadSnapshotStore | None = None
    checkpoints: CheckpointStorage | None = None
    checkpoint_types: frozenset[str] = frozenset()
    detached: Detached | None = None
    endpoint: EndpointOptions = attrs.field(factory=EndpointOptions)
    agent: AgentOptions = attrs.field(factory=AgentOptions)

    @override
    def options(self, *, bounded: bool) -> dict[str, Json]:
        """Return the options in force, with the classes of the stores."""
        stores = {"snapshots": self.snapshots, "checkpoints": self.checkpoints}
        options = super().options(bounded=bounded) | {
            name: describe_type(store) for name, store in stores.items() if store is not None
        }
        return options | (self.detached.describe() if self.detached is not None else {})

    def persistence(self) -> Persistence | None:
        """Return where the state of threads is kept, if it is."""
        if self.persisted is None:
            return None
        return persistence_of(
            self,
            self.persisted,
            lambda target: Thread(target, self.fittings, self.checkpoint_types),
        )

    @property
    def fittings(self) -> Fittings:
        """What the runner of each instance is given."""
        return Fittings(
            registration=self.name,
            snapshots=self.snapshots,
            checkpoints=self.checkpoints,
            agent=self.agent,
        )
