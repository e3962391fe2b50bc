"""A plain application with a mistake: one history for everybody."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import FastAPI, Header

Model = Callable[[list[str]], Awaitable[str]]


def create_app(model: Model) -> FastAPI:
    app = FastAPI()
    history: list[str] = []

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, x_user: Annotated[str, Header()]) -> str:
        history.append(text)
        return await model(history)

    return app
