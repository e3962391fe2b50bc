"""An application that asks a person, and what can be wrong with the questions."""

from __future__ import annotations

from collections.abc import Callable

import anyio
from fastapi import FastAPI, HTTPException, Response

from scoped_registration.testing import Recorder
from scoped_registration.testing.requests import Request, Say
from scoped_registration.testing.requests import Response as Answered
from tests.testing.apps import User, by_both


class Refunds:
    """Makes `asking_app` ask, and answers it."""

    def open(self, say: Say) -> Request:
        return Request("POST", f"/chat/{say.thread}?text=refund {say.text}")

    def is_open(self, response: Answered) -> bool:
        return response.status == 202

    def answer(self, say: Say, response: Answered) -> Request:
        return Request("POST", f"/chat/{say.thread}/approval")


def asking_app(
    recorder: Recorder,
    *,
    key: Callable[[str, str], object] = by_both,
    asks: bool = True,
    accepts: bool = True,
    one_slot: bool = False,
    waits: bool = False,
    refuses: bool = False,
) -> FastAPI:
    """Return an application that asks about refunds, and remembers nothing else.

    Args:
        recorder: Who is told.
        key: What it keeps open questions by.
        asks: It asks at all.
        accepts: It accepts answers.
        one_slot: What anybody says takes the place of the question that is open.
        refuses: Whoever has a question open may say nothing else.
        waits: While a question is open, whoever else speaks waits for its answer.
    """
    app = FastAPI()
    questions: dict[object, str] = {}

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User, response: Response) -> None:
        if refuses and key(user, thread) in questions:
            raise HTTPException(409, "a question is open")
        await recorder.model_called(text)
        if one_slot:
            questions.clear()
        if questions and waits:
            await anyio.sleep_forever()
        if text.startswith("refund") and asks:
            questions[key(user, thread)] = text
            response.status_code = 202

    @app.post("/chat/{thread}/approval")
    async def approve(thread: str, user: User) -> str:
        if key(user, thread) not in questions or not accepts:
            raise HTTPException(404, "no question is open")
        return questions.pop(key(user, thread))

    return app
