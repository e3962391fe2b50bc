import logging
from collections.abc import AsyncIterable, Sequence
from typing import Any

import httpx

logger: logging.Logger

def _json_safe_protocol_value(value: Any) -> Any: ...
def _serialize_available_interrupts(
    available_interrupts: Sequence[Any] | None,
) -> list[dict[str, Any]] | None: ...
def _serialize_resume_entry(entry: Any) -> dict[str, Any]: ...
def _serialize_resume(resume: Any) -> Any: ...

class AGUIHttpService:
    endpoint: str
    _owns_client: bool
    http_client: httpx.AsyncClient
    def __init__(
        self, endpoint: str, http_client: httpx.AsyncClient | None = None, timeout: float = 60.0
    ) -> None: ...
    # An async generator upstream, so no coroutine here.
    def post_run(
        self,
        thread_id: str,
        run_id: str,
        messages: list[dict[str, Any]],
        state: dict[str, Any] | None = None,
        tools: list[dict[str, Any]] | None = None,
        available_interrupts: Sequence[Any] | None = None,
        resume: Any = None,
    ) -> AsyncIterable[dict[str, Any]]: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> AGUIHttpService: ...
    async def __aexit__(self, *args: Any) -> None: ...
