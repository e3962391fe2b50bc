"""What each of several workers serves: endpoints of the real framework over one store.

``uvicorn --factory --workers 4 tests.stores.workers.app:create_app`` starts it. The store is
named by two environment variables, as `tests.stores.processes.Engine` names it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Annotated, Any

import anyio
from agent_framework import (
    Agent,
    AgentExecutor,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    Workflow,
    WorkflowBuilder,
)
from fastapi import FastAPI, Header
from typing_extensions import override

from scoped_registration import ScopeContext, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from tests.integrations.agent_framework.samples import asking_workflow
from tests.stores.processes import Engine

FACTORY, ADDRESS, TTL = "TEST_STORE_FACTORY", "TEST_STORE_ADDRESS", "TEST_STORE_TTL"


class TellingModel(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Answers with what the user has said, and the process that says so."""

    @override
    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        said = [message.text for message in messages if message.role == "user"]
        answer = Content.from_text(f"{','.join(said)}@{os.getpid()}")

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message(role="assistant", contents=[answer])])

        async def parts() -> AsyncIterator[ChatResponseUpdate]:
            if said[-1].startswith("never"):
                yield ChatResponseUpdate(
                    role="assistant", contents=[Content.from_text(f"@{os.getpid()}")]
                )
                await anyio.sleep_forever()
            yield ChatResponseUpdate(role="assistant", contents=[answer])

        return self._build_response_stream(parts()) if stream else whole()


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def make_agent() -> Agent[Any]:
    return Agent(client=TellingModel(), name="support")


def build_workflow(context: ScopeContext[str]) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(make_agent(), id="support")).build()


def build_question(context: ScopeContext[str]) -> Workflow:
    return asking_workflow()


def create_app() -> FastAPI:
    store = Engine(os.environ[FACTORY], os.environ[ADDRESS]).store()
    ttl = float(os.environ[TTL])
    app = FastAPI()

    def endpoint(name: str) -> AGUIEndpointBuilder:
        return AGUIEndpointBuilder(name, f"/{name}")

    scoped = ScopedFactory(build_workflow, scope=current_user)
    endpoint("chat").isolation(scoped).persisted(store, ttl=ttl).mount(app, workers="many")
    scoped = ScopedFactory(build_workflow, scope=current_user)
    evicting = endpoint("evicting").isolation(scoped).pool(idle_ttl=0.001)
    evicting.persisted(store, ttl=ttl).mount(app, workers="many")
    agent = per_run(make_agent(), scope=current_user)
    endpoint("agent").isolation(agent).persisted(store, ttl=ttl).mount(app, workers="many")
    home = SingleUser.per_thread(build_workflow)
    endpoint("home").isolation(home).persisted(store, ttl=ttl).mount(app, workers="many")
    question = ScopedFactory(build_question, scope=current_user)
    endpoint("ask").isolation(question).persisted(store, ttl=ttl).mount(app, workers="many")

    @app.get("/worker")
    async def worker() -> int:
        return os.getpid()

    return app
