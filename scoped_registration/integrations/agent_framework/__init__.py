"""agent-framework: AG-UI endpoints that declare who may share their target.

The framework's own endpoint is used as it is; what is added is whose instance serves it.
"""

from scoped_registration.integrations.agent_framework.versions import check_versions

check_versions()  # before a name is missing

from scoped_registration.integrations.agent_framework.builder import (  # noqa: E402
    AGUIEndpointBuilder,
)
from scoped_registration.integrations.agent_framework.per_run import per_run  # noqa: E402

__all__ = ["AGUIEndpointBuilder", "per_run"]
