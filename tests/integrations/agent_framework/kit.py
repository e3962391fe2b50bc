"""What the tests of AG-UI endpoints share: a model that records, and a client that reads.

The model is local and deterministic. The client sends a message id of its own with each
message (the framework's history drops repeated ids, which would hide a leak) and reads
every stream to its end.
"""

from __future__ import annotations

import asyncio
import json
import socket
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import attrs
import httpx
import uvicorn
from agent_framework import (
    Agent,
    AgentExecutor,
    AgentMiddleware,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    ContextProvider,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    ResponseStream,
    SessionContext,
    SupportsAgentRun,
    Workflow,
    WorkflowBuilder,
)
from fastapi import FastAPI, Header
from typing_extensions import override

from scoped_registration import Acknowledgement, Risk, ScopeContext
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder

HANG = 20.0
"""Seconds after which a test that waits has failed; nothing is measured by it."""


@attrs.frozen
class Call:
    """What one model call received."""

    texts: tuple[str, ...]
    conversation_id: str | None
    tools: tuple[str, ...] = ()

    def holds(self, marker: str) -> bool:
        return any(marker in text for text in self.texts)


@attrs.define
class Sessions:
    """Which session served which caller, as the agent's context provider saw it."""

    seen: list[AgentSession] = attrs.field(factory=list[AgentSession])

    def provider(self) -> ContextProvider:
        sessions = self

        class Provider(ContextProvider):
            @override
            async def before_run(
                self,
                *,
                agent: SupportsAgentRun,
                session: AgentSession,
                context: SessionContext,
                state: dict[str, Any],
            ) -> None:
                sessions.seen.append(session)

        return Provider("recorder")


class RecordingModel(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Answers "reply N" and keeps what it was sent.

    Args:
        conversations: Return a provider-side conversation id, as a server that stores does.
    """

    def __init__(self, *, conversations: bool = False) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.conversations = conversations
        self.arrived = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self.gated_on = ""
        self.speaks_first = False

    @override
    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        texts = tuple(f"{message.role}: {message.text}" for message in messages)
        tools = tuple(getattr(tool, "name", "") for tool in options.get("tools") or ())
        self.calls.append(Call(texts, options.get("conversation_id"), tools))
        number = len(self.calls)
        last = messages[-1]
        answer = Content.from_text(f"reply {number}")
        wanted = last.text.partition("call:")[2].split()
        if last.role == "user" and wanted:
            answer = Content.from_function_call(uuid.uuid4().hex, wanted[0], arguments="{}")
        conversation = f"conversation-{number}" if self.conversations else None

        async def parts() -> AsyncIterator[ChatResponseUpdate]:
            self.arrived.set()
            if "explode" in last.text:
                raise ConnectionError("the provider is down")
            if self.gated_on in last.text and not self.gate.is_set():
                if self.speaks_first:
                    yield ChatResponseUpdate(
                        role="assistant", contents=[Content.from_text("one moment: ")]
                    )
                await self.gate.wait()
            yield ChatResponseUpdate(
                role="assistant",
                contents=[answer],
                message_id=uuid.uuid4().hex,
                conversation_id=conversation,
            )

        async def whole() -> ChatResponse[Any]:
            self.arrived.set()
            if self.gated_on in last.text:
                await self.gate.wait()
            return ChatResponse(
                messages=[Message(role="assistant", contents=[answer])],
                conversation_id=conversation,
            )

        return self._build_response_stream(parts()) if stream else whole()

    def block(self, on: str = "", *, after_speaking: bool = False) -> None:
        """Let calls whose last message holds a text wait until `gate` is set."""
        self.speaks_first = after_speaking
        self.gate.clear()
        self.arrived.clear()
        self.gated_on = on


def make_agent(
    model: RecordingModel,
    *,
    tools: Sequence[FunctionTool] = (),
    providers: Sequence[ContextProvider] = (),
    middleware: Sequence[AgentMiddleware] = (),
) -> Agent[Any]:
    return Agent(
        client=model,
        name="assistant",
        instructions="You answer.",
        tools=tools,
        context_providers=providers,
        middleware=middleware,
    )


def make_workflow(
    model: RecordingModel,
    *,
    tools: Sequence[FunctionTool] = (),
    providers: Sequence[ContextProvider] = (),
    middleware: Sequence[AgentMiddleware] = (),
) -> Workflow:
    """Return a workflow of one agent, everything in it new."""
    agent = make_agent(model, tools=tools, providers=providers, middleware=middleware)
    return WorkflowBuilder(start_executor=AgentExecutor(agent, id="support")).build()


def factory_of(
    model: RecordingModel, *, providers: Sequence[ContextProvider] = ()
) -> Callable[[ScopeContext[str]], Workflow]:
    def build_workflow(context: ScopeContext[str]) -> Workflow:
        return make_workflow(model, providers=providers)

    return build_workflow


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def declare(mode: Any, name: str = "support", path: str = "/") -> Any:
    """Return the stage of a mode, where no checker is to see which."""
    builder: Any = AGUIEndpointBuilder(name, path)
    return builder.isolation(mode)


def acknowledge(*, without: set[Risk] | None = None) -> Acknowledgement:
    return Acknowledgement(
        reason="one shared desk", owner="team-support", risks=set(Risk) - (without or set())
    )


@attrs.frozen
class Answer:
    """One response, read to its end."""

    status: int
    body: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [
            json.loads(line.removeprefix("data: "))
            for line in self.body.splitlines()
            if line.startswith("data: ")
        ]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def text(self) -> str:
        return "".join(
            event["delta"] for event in self.events if event["type"] == "TEXT_MESSAGE_CONTENT"
        )

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def interrupt(self) -> str:
        """The id of the one question that the run ended with."""
        assert self.last["type"] == "RUN_FINISHED", self.body
        (interrupt,) = self.last["outcome"]["interrupts"]
        return str(interrupt["id"])

    def outcome(self) -> list[dict[str, Any]]:
        """Return the events without what differs between any two runs."""
        varying = {"runId", "threadId", "timestamp"}
        return [
            {key: value for key, value in event.items() if key not in varying}
            for event in self.events
        ]


class Client:
    """Calls the AG-UI endpoints of one application."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def say(
        self, user: str, thread: str | None, text: str, path: str = "/", **more: object
    ) -> Answer:
        """Send one user message with an id of its own."""
        message = {"id": uuid.uuid4().hex, "role": "user", "content": text}
        return await self.send(user, {"thread_id": thread, "messages": [message], **more}, path)

    async def resume(
        self, user: str, thread: str, interrupt: str, payload: object, path: str = "/"
    ) -> Answer:
        """Answer a question that a run ended with."""
        entry = {"interruptId": interrupt, "status": "resolved", "payload": payload}
        return await self.send(user, {"thread_id": thread, "messages": [], "resume": [entry]}, path)

    async def send(self, user: str, body: object, path: str = "/") -> Answer:
        response = await self.http.post(path, headers={"x-user": user}, json=body)
        return Answer(response.status_code, response.text)


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncGenerator[Client, None]:
    """Return a client that calls an application in this process, its lifespan running."""
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test", timeout=HANG) as http,
    ):
        yield Client(http)


@attrs.frozen
class Served:
    """An application under a real server, on a port of its own."""

    port: int
    client: Client

    async def hang_up(
        self, user: str, thread: str, text: str, *, after: Callable[[bytes], Awaitable[bool]]
    ) -> bytes:
        """Post over a connection of its own, and close it once `after` says so."""
        message = {"id": uuid.uuid4().hex, "role": "user", "content": text}
        body = json.dumps({"thread_id": thread, "messages": [message]}).encode()
        head = (
            f"POST / HTTP/1.1\r\nhost: test\r\nx-user: {user}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head.encode() + body)
        await writer.drain()
        received = b""
        async with asyncio.timeout(HANG):
            while not await after(received):
                received += await reader.read(4096)
        writer.close()
        await writer.wait_closed()
        return received


@asynccontextmanager
async def served(app: FastAPI) -> AsyncGenerator[Served, None]:
    """Serve an application with uvicorn on a free loopback port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", loop="none"))
        running = asyncio.create_task(server.serve([listener]))
        try:
            await until(lambda: server.started or running.done())
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=HANG) as http:
                yield Served(port, Client(http))
        finally:
            server.should_exit = True
            await running


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what other tasks are about to do."""
    async with asyncio.timeout(HANG):
        while not condition():  # noqa: ASYNC110  # nothing tells when the server has noticed
            await asyncio.sleep(0.001)
