from typing_extensions import override

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.testing.store_suite import StoreSuite


class TestMemoryStore(StoreSuite):
    @override
    async def make_store(self) -> ThreadStore:
        return MemoryStore()  # in its place: yours
