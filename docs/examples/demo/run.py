"""Two users talk to one endpoint. Who sees what the other one said?

    python docs/examples/demo/run.py

It starts a real server with the real framework, and prints what each model call contained:
(a) the framework's own helper with one workflow, (b) the builder with `ScopedFactory`,
(c) `PersistentShared`, and (d) what mypy and pyright say to the registration that leaks.
"""

import asyncio
import logging
import os
import re
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import httpx
import uvicorn
from agent_framework import (
    Agent,
    AgentExecutor,
    BaseChatClient,
    ChatContext,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    Message,
    ResponseStream,
    SupportsChatGetResponse,
    Workflow,
    WorkflowBuilder,
)
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from fastapi import FastAPI, Header
from typing_extensions import override

from scoped_registration import Acknowledgement, PersistentShared, Risk, ScopeContext, ScopedFactory
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder

HERE = Path(__file__).parent
ALICE = "I am alice, and my PIN is 4711."
BOB = "I am bob. What was said here before?"
SECONDS_TO_PLAY = 120
SECONDS_TO_CHECK = 300


# The model: it records what it receives, whichever client stands behind it.


class Recorder(ChatMiddleware):
    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    @override
    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        self.calls.append([message.text for message in context.messages])
        await call_next()


class LocalClient(ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Answers without a model, always the same."""

    @override
    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        answer = Content.from_text("Noted.")

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message(role="assistant", contents=[answer])])

        async def parts() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=[answer])

        return self._build_response_stream(parts()) if stream else whole()


def choose_client() -> tuple[str, SupportsChatGetResponse]:
    if not os.environ.get("OPENAI_API_KEY"):
        return "a local client, the same answer each time", LocalClient()
    if find_spec("agent_framework_openai") is None:
        return "a local client (for OpenAI: pip install agent-framework-openai)", LocalClient()
    openai: Any = import_module("agent_framework_openai")
    return "OpenAI, since OPENAI_API_KEY is set", openai.OpenAIChatClient()


# The application: three endpoints over the same kind of workflow.


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def make_app(client: SupportsChatGetResponse, recorder: Recorder) -> FastAPI:
    def new_workflow() -> Workflow:
        agent = Agent(client, "Answer briefly.", name="support", middleware=[recorder])
        return WorkflowBuilder(start_executor=AgentExecutor(agent, id="support")).build()

    def build_workflow(context: ScopeContext[str]) -> Workflow:
        return new_workflow()

    app = FastAPI()
    add_agent_framework_fastapi_endpoint(
        app, new_workflow(), "/raw", authorization_scope_resolver=current_user
    )
    AGUIEndpointBuilder("scoped", path="/scoped").isolation(
        ScopedFactory(build_workflow, scope=current_user, shares=[recorder])
    ).mount(app)
    AGUIEndpointBuilder("shared", path="/shared").isolation(
        PersistentShared(
            new_workflow(),
            acknowledgement=Acknowledgement(
                reason="one desk for the whole shift", owner="team-support", risks=set(Risk)
            ),
            access=current_user,
        )
    ).mount(app)
    return app


@asynccontextmanager
async def serve(app: FastAPI) -> AsyncGenerator[httpx.AsyncClient, None]:
    """Run the server on a free loopback port, and stop it by its own handle."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
        serving = asyncio.create_task(server.serve([listener]))
        try:
            while not server.started and not serving.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            async with httpx.AsyncClient(base_url=address, timeout=SECONDS_TO_PLAY) as http:
                yield http
        finally:
            server.should_exit = True
            await serving


# The play: alice, then bob, each in a thread of their own.


async def say(http: httpx.AsyncClient, path: str, user: str, thread: str, text: str) -> None:
    """Send one message with an id of its own, and read the stream to its end."""
    message = {"id": uuid.uuid4().hex, "role": "user", "content": text}
    body = {"thread_id": thread, "messages": [message]}
    async with http.stream("POST", path, headers={"x-user": user}, json=body) as response:
        stream = (await response.aread()).decode()
    if not response.is_success or "RUN_FINISHED" not in stream:
        raise RuntimeError(f"{path} did not answer {user}: {response.status_code} {stream}")


async def play(http: httpx.AsyncClient, recorder: Recorder, path: str) -> tuple[bool, bool]:
    """Return whether each one's own text reached the model, and whether alice's reached bob."""
    recorder.calls.clear()
    await say(http, path, "alice", "thread-A", ALICE)
    await say(http, path, "bob", "thread-B", BOB)
    print(f"    {'caller':<17}what the model received")
    for caller, call in zip(("alice, thread-A", "bob, thread-B"), recorder.calls, strict=True):
        for line, text in enumerate(call):
            mark = "   <-- alice's" if caller.startswith("bob") and text == ALICE else ""
            print(f"    {caller if line == 0 else '':<17}{text}{mark}")
    hers, his = recorder.calls
    return ALICE in hers and BOB in his, ALICE in his


async def play_all() -> list[str]:
    """Play the scenario at the three endpoints; return what went wrong."""
    name, client = choose_client()
    print(f"The model is {name}.")
    recorder = Recorder()
    wrong: list[str] = []

    def require(holds: bool, otherwise: str) -> None:
        if not holds:
            wrong.append(otherwise)

    async with serve(make_app(client, recorder)) as http:
        print("\n(a) the framework's helper with one Workflow")
        control, leaked = await play(http, recorder, "/raw")
        print(f"    => {'LEAK: bob was given what alice said' if leaked else 'no leak'}")
        require(control, "(a) a caller's own text did not reach the model")
        require(leaked, "(a) did not leak, so this demonstration shows nothing")

        print("\n(b) AGUIEndpointBuilder with ScopedFactory")
        control, leaked = await play(http, recorder, "/scoped")
        print(f"    => {'LEAK' if leaked else 'isolated: one workflow per user and thread'}")
        require(control, "(b) a caller's own text did not reach the model")
        require(not leaked, "(b) leaked")

        print("\n(c) AGUIEndpointBuilder with PersistentShared, acknowledged")
        control, leaked = await play(http, recorder, "/shared")
        schema = (await http.get("/openapi.json")).json()
        (said,) = schema["paths"]["/shared"]["post"]["x-scoped-registration"]
        print(
            f"    => {'shared, and said so' if leaked else 'not shared'}, in the OpenAPI document:"
        )
        print(f"       {said['meaning']}")
        print("       owner {owner}, because: {reason}".format(**said["acknowledgement"]))
        require(control, "(c) a caller's own text did not reach the model")
        require(said["mode"] == "PersistentShared", "(c) does not say that it is shared")
    return wrong


# The checkers: the registration that leaks is refused before it runs.

MISTAKE = "ScopedFactory(one_workflow, scope=current_user)"
CORRECTION = "ScopedFactory(build_workflow, scope=current_user)"
CHECKERS = {
    "mypy --strict": ["-m", "mypy", "--strict", "--config-file=", "--no-error-summary"],
    "pyright": ["-m", "pyright", "--pythonpath", sys.executable],
}


def check(arguments: list[str], directory: str) -> list[str]:
    """Return a checker's diagnostics for the two files of a directory."""
    done = subprocess.run(  # noqa: S603  # this interpreter, over two files of our own
        [sys.executable, *arguments, "unsafe.py", "corrected.py"],
        cwd=directory,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_TO_CHECK,
        check=False,
    )
    found = re.findall(r"^.*\.py:\d.*\berror\b.*$", done.stdout, re.MULTILINE)
    if not found:
        print(f"    {done.stdout.strip()} {done.stderr.strip()}")
    return [line.strip().replace(f"{directory}/", "") for line in found]


def check_all() -> list[str]:
    """Run the checkers over unsafe.py and over its correction; return what went wrong."""
    print("\n(d) the registration that leaks, before it runs: unsafe.py")
    wrong: list[str] = []
    source = (HERE / "unsafe.py").read_text()
    if source.count(MISTAKE) != 1:
        return ["(d) unsafe.py does not hold the mistake"]
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "unsafe.py").write_text(source)
        Path(directory, "corrected.py").write_text(source.replace(MISTAKE, CORRECTION))
        for name, arguments in CHECKERS.items():
            diagnostics = check(arguments, directory)
            refused = [line for line in diagnostics if "unsafe.py" in line]
            print(f"    {name}: {'refused' if refused else 'ACCEPTED'}")
            for line in diagnostics:
                print(f"      {line}")
            if not refused:
                wrong.append(f"(d) {name} accepts unsafe.py")
            if len(refused) < len(diagnostics):
                wrong.append(f"(d) {name} refuses the correction")
    print(f"    the correction:\n      - {MISTAKE}\n      + {CORRECTION}")
    return wrong


def main() -> int:
    logging.disable(logging.ERROR)

    async def bounded() -> list[str]:
        async with asyncio.timeout(SECONDS_TO_PLAY):
            return await play_all()

    wrong = asyncio.run(bounded()) + check_all()
    for fault in wrong:
        print(f"\nFAILED: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
