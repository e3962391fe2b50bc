"""A chat service whose users sign in with OAuth2 and a JWT, as in FastAPI's tutorial."""
# FastAPI calls the routes that create_app() declares; PyJWT's annotations name types of
# cryptography, which HS256 does without.
# pyright: reportUnusedFunction=false, reportUnknownMemberType=false

import hashlib
import hmac
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, cast
from uuid import UUID

import attrs
import jwt
from fastapi import BackgroundTasks, Depends, FastAPI, HTTPException, Request, WebSocket, status
from fastapi.security import OAuth2PasswordBearer, OAuth2PasswordRequestForm
from starlette.requests import HTTPConnection
from starlette.responses import StreamingResponse
from typing_extensions import override

from scoped_registration import RegistrationBuilder, ScopeContext, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import ScopedRegistration

SECRET = "an example keeps its secret in its source; an application must not"
ALGORITHM = "HS256"
LIFETIME = timedelta(minutes=30)


# Users and tokens, as every application has them already.


@attrs.define
class User:
    id: UUID
    name: str
    role: str
    password: bytes


def hashed(password: str) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode(), b"example", 1_000)


users = {
    user.name: user
    for user in (
        User(UUID(int=1), "alice", "editor", hashed("wonderland")),
        User(UUID(int=2), "bob", "reader", hashed("builder")),
    )
}


class Bearer(OAuth2PasswordBearer):
    """The tutorial's scheme, for WebSocket routes too: they have the header and no request."""

    @override
    async def __call__(self, request: HTTPConnection) -> str | None:
        return await super().__call__(cast(Request, request))


bearer = Bearer(tokenUrl="token")


def make_token(user: User, lifetime: timedelta = LIFETIME) -> str:
    now = datetime.now(UTC)
    claims = {"sub": user.name, "role": user.role, "iat": now, "exp": now + lifetime}
    return jwt.encode(claims, SECRET, ALGORITHM)


@attrs.frozen
class Caller:
    """Who calls, as the token says. Two tokens of one user are one principal."""

    id: UUID
    name: str = attrs.field(eq=False)
    role: str = attrs.field(eq=False)


def current_user(token: Annotated[str, Depends(bearer)]) -> Caller:
    try:
        claims = jwt.decode(token, SECRET, [ALGORITHM], options={"require": ["exp", "sub"]})
        user = users[claims["sub"]]
    except (jwt.InvalidTokenError, KeyError):
        raise HTTPException(
            status.HTTP_401_UNAUTHORIZED,
            "could not validate credentials",
            headers={"WWW-Authenticate": "Bearer"},
        ) from None
    return Caller(user.id, user.name, claims["role"])


CurrentUser = Annotated[Caller, Depends(current_user)]


# The target: an object that keeps state, and must not be shared by accident.


class ForbiddenError(Exception):
    pass


class Chat:
    """A conversation. What its caller may do is decided by the token of this very request."""

    def __init__(self, context: ScopeContext[Caller]) -> None:
        self._context = context
        self.lines: list[str] = []

    def reply(self, text: str) -> str:
        caller = self._context.current
        if text.startswith("/clear"):
            if caller.role != "editor":
                raise ForbiddenError
            self.lines.clear()
        self.lines.append(text)
        return f"{caller.name}, you have said {len(self.lines)} things"

    async def stream(self, text: str) -> AsyncIterator[str]:
        for word in self.reply(text).split():
            yield f"{word} "
        self.lines.append("(streamed)")

    def summarize(self) -> None:
        self.lines.append(f"(summary of {len(self.lines)} lines)")


class Draft:
    """A note of one user, the same in all threads."""

    def __init__(self, context: ScopeContext[UUID]) -> None:
        self.text = ""


# The scope is the caller: `Caller` compares by its id alone, and a rotated token is seen
# through `ScopeContext.current`.
def scope(caller: CurrentUser) -> Caller:
    return caller


# Where nothing but the identity is needed, the id is the scope.
def user_id(caller: CurrentUser) -> UUID:
    return caller.id


def register_chats(name: str = "chat") -> ScopedRegistration[Chat, Caller]:
    return RegistrationBuilder(name).isolation(ScopedFactory(Chat, scope=scope)).build()


drafts = RegistrationBuilder("drafts").isolation(ScopedFactory(Draft, scope=user_id)).build()
"""Shared by every application of this process: each user's draft is one object in all of them."""


def create_app(chats: ScopedRegistration[Chat, Caller] | None = None) -> FastAPI:
    """Return an application with conversations of its own."""
    registration = chats or register_chats()
    chat_of_caller = Depends(leased(registration))
    draft_of_caller = Depends(leased(drafts, "draft"))  # one for all threads of a user
    app = FastAPI(title="Chat")
    attach(app, registration, drafts)

    @app.post("/token")
    async def token(form: Annotated[OAuth2PasswordRequestForm, Depends()]) -> dict[str, str]:
        user = users.get(form.username)
        if user is None or not hmac.compare_digest(user.password, hashed(form.password)):
            raise HTTPException(status.HTTP_400_BAD_REQUEST, "incorrect username or password")
        return {"access_token": make_token(user), "token_type": "bearer"}

    @app.post("/chat/{thread_id}")
    async def say(text: str, chat: Annotated[Chat, chat_of_caller]) -> dict[str, object]:
        try:
            return {"reply": chat.reply(text), "lines": chat.lines}
        except ForbiddenError:
            raise HTTPException(status.HTTP_403_FORBIDDEN, "editors only") from None

    @app.get("/chat/{thread_id}")
    def history(chat: Annotated[Chat, chat_of_caller]) -> list[str]:  # runs in a thread
        return chat.lines

    @app.post("/chat/{thread_id}/stream", response_class=StreamingResponse)
    async def stream(text: str, chat: Annotated[Chat, chat_of_caller]) -> StreamingResponse:
        return StreamingResponse(chat.stream(text), media_type="text/plain")

    @app.post("/chat/{thread_id}/summary")
    async def summary(
        chat: Annotated[Chat, chat_of_caller], tasks: BackgroundTasks
    ) -> dict[str, str]:
        tasks.add_task(chat.summarize)  # the instance stays leased until it is done
        return {"summary": "will be written"}

    @app.websocket("/chat/{thread_id}/live")
    async def talk(websocket: WebSocket, chat: Annotated[Chat, chat_of_caller]) -> None:
        await websocket.accept()
        async for text in websocket.iter_text():
            await websocket.send_text(chat.reply(text))

    @app.post("/draft")
    async def draft(text: str, note: Annotated[Draft, draft_of_caller]) -> str:
        note.text += text
        return note.text

    @app.post("/logout")
    async def logout(caller: CurrentUser) -> dict[str, int]:
        ended = registration.invalidate(scope=caller) + drafts.invalidate(scope=caller.id)
        return {"ended": ended}

    return app
