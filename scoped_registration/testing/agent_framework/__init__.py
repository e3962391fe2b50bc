"""What records inside applications of agent-framework. Needs the extra `agent-framework`."""

from scoped_registration.testing.agent_framework.chat import (
    RecordingChatClient,
    RecordingChatMiddleware,
)
from scoped_registration.testing.agent_framework.stores import (
    RecordedCheckpoints,
    RecordedSnapshots,
)

__all__ = [
    "RecordedCheckpoints",
    "RecordedSnapshots",
    "RecordingChatClient",
    "RecordingChatMiddleware",
]
