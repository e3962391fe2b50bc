"""Chat clients that record what reaches the model."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatContext,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from typing_extensions import override

from scoped_registration.testing.findings import Place
from scoped_registration.testing.recorders import Recorder

# Any: the framework's type of a chat client's options is a parameter that nothing here binds.

__all__ = ["RecordingChatClient", "RecordingChatMiddleware"]


class RecordingChatClient(
    FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]
):
    """A chat client without a model: it records, and repeats the last message.

    Middleware and tools of an agent work as with any other client.

    Args:
        recorder: Who is told.
        conversations: Keep the conversation as providers with server-side state do: answers
            carry a conversation id, and the framework sends it back instead of the history.

    Example:
        ```python
        recorder = Recorder()
        agent = Agent(client=RecordingChatClient(recorder), name="support")
        ```
    """

    def __init__(self, recorder: Recorder, *, conversations: bool = False) -> None:
        super().__init__()
        self._recorder = recorder
        self._conversations = conversations

    @override
    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        said = messages[-1].text if messages else ""
        answer = Content.from_text(f"you said: {said}")
        # The id holds what was said, so the recorder sees whose conversation comes back.
        conversation = f"conversation {said}" if self._conversations else None

        async def whole() -> ChatResponse[Any]:
            await _record(self._recorder, messages, options)
            return ChatResponse(
                messages=[Message(role="assistant", contents=[answer])],
                conversation_id=conversation,
            )

        async def parts() -> AsyncIterator[ChatResponseUpdate]:
            await _record(self._recorder, messages, options)
            yield ChatResponseUpdate(
                role="assistant",
                contents=[answer],
                message_id=uuid.uuid4().hex,
                conversation_id=conversation,
            )

        return self._build_response_stream(parts()) if stream else whole()


class RecordingChatMiddleware(ChatMiddleware):
    """Records what an agent sends to the chat client that it has.

    Give it to the agent as the last of its middleware, so that it sees what the others made
    of the messages.

    Args:
        recorder: Who is told.

    Example:
        ```python
        recorder = Recorder()
        agent = Agent(client=client, middleware=[RecordingChatMiddleware(recorder)])
        ```
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    @override
    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        await _record(self._recorder, context.messages, context.options or {})
        await call_next()


async def _record(
    recorder: Recorder, messages: Sequence[Message], options: Mapping[str, Any]
) -> None:
    if conversation := options.get("conversation_id"):
        recorder.note(Place.PROVIDER_CONVERSATION, str(conversation))
    # As data and not as text: arguments and results of tools are seen as well.
    texts = [json.dumps(message.to_dict(), default=str) for message in messages]
    await recorder.model_called(*texts, str(options.get("instructions") or ""))
