"""Chat clients that record what reaches the model."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs
from agent_framework import (
    AgentSession,
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
        super().__init__(middleware=[_HandsOnSession()])
        self._recorder = recorder
        self._conversations = conversations

    @override
    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        session: AgentSession | None = None,
        **kwargs: Any,
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        said = messages[-1].text if messages else ""
        answer = Content.from_text(f"you said: {said}")
        conversation = f"conversation-{uuid.uuid4().hex}" if self._conversations else None
        call = _Recorded(self._recorder, messages, options, session)

        async def whole() -> ChatResponse[Any]:
            await call.begin()
            call.answered(conversation)
            return ChatResponse(
                messages=[Message(role="assistant", contents=[answer])],
                conversation_id=conversation,
            )

        async def parts() -> AsyncIterator[ChatResponseUpdate]:
            await call.begin()
            call.answered(conversation)
            yield ChatResponseUpdate(
                role="assistant",
                contents=[answer],
                message_id=uuid.uuid4().hex,
                conversation_id=conversation,
            )

        return self._build_response_stream(parts()) if stream else whole()


class _HandsOnSession(ChatMiddleware):
    """Hands the session on, which the framework shows to middleware and not to clients."""

    @override
    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        context.kwargs["session"] = context.session
        await call_next()


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
        options = context.options or {}
        call = _Recorded(self._recorder, context.messages, options, context.session)

        def update(part: ChatResponseUpdate) -> ChatResponseUpdate:
            call.answered(part.conversation_id)
            return part

        context.stream_transform_hooks.append(update)
        await call.begin()
        await call_next()
        if isinstance(context.result, ChatResponse):
            call.answered(context.result.conversation_id)


@attrs.frozen
class _Recorded:
    """One call of a model, and what there is to tell of it."""

    recorder: Recorder
    messages: Sequence[Message]
    options: Mapping[str, Any]
    session: AgentSession | None

    async def begin(self) -> None:
        """Tell what is sent."""
        await self.recorder.model_called(
            *self._texts(),
            sessions=() if self.session is None else (self.session, self.session.session_id),
            conversation=self._conversation,
            origins=_origins(self.messages),
            said=[message.text for message in self.messages if message.role == "user"],
        )

    def answered(self, conversation: str | None) -> None:
        """Tell under which id the provider keeps it."""
        if conversation:
            self.recorder.kept(conversation, *self._texts(), continues=self._conversation)

    @property
    def _conversation(self) -> str | None:
        conversation = self.options.get("conversation_id")
        return str(conversation) if conversation else None

    def _texts(self) -> list[str]:
        # As data and not as text: arguments and results of tools are seen as well.
        texts = [json.dumps(message.to_dict(), default=str) for message in self.messages]
        others = {k: v for k, v in self.options.items() if k != "conversation_id"}
        return [*texts, json.dumps(others, default=str)]


def _origins(messages: Sequence[Message]) -> Iterator[str]:
    """Yield what messages name as their origin: sessions other than the one that they are in."""
    for message in messages:
        attribution: object = message.additional_properties.get("_attribution")
        if isinstance(attribution, Mapping):
            yield from cast(Mapping[str, Sequence[str]], attribution).get("origin_session_ids", ())
