import logging
from collections.abc import AsyncIterable, Awaitable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypedDict

import httpx
from agent_framework import BaseChatClient, Content, ResponseStream
from agent_framework import ChatResponse as ChatResponse
from agent_framework import ChatResponseUpdate as ChatResponseUpdate
from agent_framework import Message as Message
from agent_framework._middleware import (
    ChatAndFunctionMiddlewareTypes as ChatAndFunctionMiddlewareTypes,
)
from agent_framework._middleware import ChatMiddlewareLayer
from agent_framework._tools import (
    FunctionInvocationConfiguration as FunctionInvocationConfiguration,
)
from agent_framework._tools import FunctionInvocationLayer
from agent_framework.observability import ChatTelemetryLayer
from typing_extensions import TypeVar, override

from ._http_service import AGUIHttpService
from ._types import AGUIChatOptions

logger: logging.Logger
AGUIChatOptionsT = TypeVar(
    "AGUIChatOptionsT",
    bound=TypedDict,  # type: ignore[valid-type]
    default="AGUIChatOptions",
    covariant=True,
)

def _is_state_carrier_message(message: Message) -> bool: ...
def _decode_json_state(content: Content) -> dict[str, Any] | None: ...
def _extract_legacy_json_state(message: Message) -> dict[str, Any] | None: ...

class AGUIChatClient(
    FunctionInvocationLayer[AGUIChatOptionsT],
    ChatMiddlewareLayer[AGUIChatOptionsT],
    ChatTelemetryLayer[AGUIChatOptionsT],
    BaseChatClient[AGUIChatOptionsT],
    Generic[AGUIChatOptionsT],
):
    OTEL_PROVIDER_NAME: ClassVar[str]
    _http_service: AGUIHttpService
    def __init__(
        self,
        *,
        endpoint: str,
        http_client: httpx.AsyncClient | None = None,
        timeout: float = 60.0,
        additional_properties: dict[str, Any] | None = None,
        middleware: Sequence[ChatAndFunctionMiddlewareTypes] | None = None,
        function_invocation_configuration: FunctionInvocationConfiguration | None = None,
    ) -> None: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *args: Any) -> None: ...
    def _extract_state_from_messages(
        self, messages: Sequence[Message], *, allow_legacy_state_carrier: bool = False
    ) -> tuple[list[Message], dict[str, Any] | None]: ...
    def _convert_messages_to_agui_format(self, messages: list[Message]) -> list[dict[str, Any]]: ...
    def _get_thread_id(self, options: Mapping[str, Any]) -> str: ...
    @override
    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool = False,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]: ...
    _last_client_tool_set: set[str]
    def _streaming_impl(
        self, *, messages: Sequence[Message], options: Mapping[str, Any], **kwargs: Any
    ) -> AsyncIterable[ChatResponseUpdate]: ...
