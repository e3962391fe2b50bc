"""An agent that needs no model: it answers with the number of messages that it was sent."""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from typing_extensions import override


class CountingChatClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    @override
    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        answer = Content.from_text(f"messages seen: {len(messages)}")

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message(role="assistant", contents=[answer])])

        async def parts() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=[answer])

        return self._build_response_stream(parts()) if stream else whole()


def make_agent() -> Agent:
    return Agent(client=CountingChatClient(), name="support", instructions="You answer questions.")
