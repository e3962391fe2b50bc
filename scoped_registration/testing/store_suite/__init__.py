"""Rules that every store must keep, as a class of tests to inherit.

support     runs one rule on a fresh event loop, and says what was expected
leases      who holds a key, and for how long
documents   what is written, by whom, and which version it is
engine      connections, event loops, many callers, and what must not be said
"""

from __future__ import annotations

from scoped_registration.testing.store_suite.contents import ContentRules
from scoped_registration.testing.store_suite.documents import DocumentRules
from scoped_registration.testing.store_suite.engine import EngineRules
from scoped_registration.testing.store_suite.leases import LeaseRules

__all__ = ["StoreSuite"]


class StoreSuite(LeaseRules, DocumentRules, ContentRules, EngineRules):
    """Tests an implementation of `ThreadStore`: inherit it, and say how one is made.

    pytest collects the tests that a class named ``Test...`` inherits. Each runs an event loop
    of its own, so no plugin for asynchronous tests is needed and none is in the way. Each uses
    keys of its own, so they need no empty engine and may run at the same time.

    Attributes:
        ttl: Seconds of a lease that a test lets expire. Not less than the engine can tell.
        patience: Seconds by which a lease may end late.
        limit: Seconds that one test may take.
        at_once: How many callers come at the same time.
        secrets: Texts that no log record and no ``repr`` may hold, as a password.

    Example:
        ```python
        class TestFileStore(StoreSuite):
            @pytest.fixture(autouse=True)
            def _directory(self, tmp_path: Path) -> None:
                self.directory = tmp_path

            async def make_store(self) -> ThreadStore:
                return FileStore(self.directory)
        ```
    """
