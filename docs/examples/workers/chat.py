import json
from typing import Annotated

from fastapi import Depends, FastAPI, Header

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.stores.sqlite import SQLiteStore


class Chat:
    def __init__(self) -> None:
        self.messages: list[str] = []


class ChatCodec:
    version = 1

    def dump(self, target: Chat) -> bytes:
        return json.dumps(target.messages).encode()

    def restore(self, target: Chat, document: bytes, version: int) -> None:
        target.messages[:] = json.loads(document)


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


def build_chat(context: ScopeContext[str]) -> Chat:
    return Chat()


chat_registration = (
    RegistrationBuilder("chat")
    .isolation(ScopedFactory(build_chat, scope=current_user))
    .persisted(SQLiteStore("threads.db", create_schema=True), codec=ChatCodec())
    .build()
)
app = FastAPI()
attach(app, chat_registration, workers="many")


@app.post("/chat/{thread_id}")
async def say(text: str, chat: Annotated[Chat, Depends(leased(chat_registration))]) -> int:
    chat.messages.append(text)
    return len(chat.messages)
