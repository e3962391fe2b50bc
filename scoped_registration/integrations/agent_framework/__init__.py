"""agent-framework: AG-UI endpoints that declare who may share their target.

The framework's own endpoint is used as it is; what is added is whose instance serves it.
"""

from scoped_registration.integrations.agent_framework.builder import AGUIEndpointBuilder
from scoped_registration.integrations.agent_framework.per_run import per_run

__all__ = ["AGUIEndpointBuilder", "per_run"]
