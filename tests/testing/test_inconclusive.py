"""Applications of which nothing can be said: none of them is called isolated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import anyio
import pytest
from fastapi import Body, FastAPI, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from scoped_registration.testing import AGUIRoute, JSONRoute, Recorder, Verdict
from scoped_registration.testing import probe_isolation as probe
from scoped_registration.testing.findings import Control
from tests.testing.apps import CHAT, USERS, User, by_both, chat_app
from tests.testing.reading import failed

SOON: Any = {"request_timeout": 0.5, "overlap_timeout": 0.1}


def answering_app(answer: Callable[[str], Response]) -> FastAPI:
    """Return an application that remembers nothing, and answers what it is told to."""
    app = FastAPI()

    @app.post("/chat/{thread}")
    async def chat(text: str) -> Response:
        return answer(text)

    return app


async def endless(text: str) -> AsyncIterator[str]:
    yield text
    await anyio.sleep_forever()


async def broken(text: str) -> AsyncIterator[str]:
    yield text
    raise ConnectionError("the connection to the model is lost")


async def restless(text: str) -> AsyncIterator[str]:
    while True:
        yield text


ANSWERS: dict[str, tuple[Callable[[str], Response], Control]] = {
    "redirect": (lambda text: RedirectResponse("/login"), Control.ANSWERED),
    "login page": (lambda text: HTMLResponse("<form>Who are you?</form>"), Control.OWN_TEXT),
    "no content": (lambda text: Response(status_code=204), Control.OWN_TEXT),
    "echo": (Response, Control.CONTINUITY),
    "error": (lambda text: Response(text, status_code=503), Control.ANSWERED),
    "cut": (lambda text: Response(text[:12]), Control.OWN_TEXT),
    "reversed": (lambda text: Response(text[::-1]), Control.OWN_TEXT),
    "broken": (lambda text: StreamingResponse(broken(text)), Control.ANSWERED),
    "endless": (lambda text: StreamingResponse(endless(text)), Control.ANSWERED),
    "restless": (lambda text: StreamingResponse(restless(text)), Control.ANSWERED),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_answers_that_show_nothing(name: str) -> None:
    answer, control = ANSWERS[name]
    with anyio.fail_after(60):
        report = await probe(answering_app(answer), CHAT, USERS, **SOON)
    assert report.verdict is Verdict.INCONCLUSIVE, str(report)
    assert control in failed(report)


@pytest.mark.parametrize(
    "stream",
    [
        'data: {"type": "RUN_STARTED"}\n\ndata: {"type": "RUN_ERROR", "code": "Quota"}\n\n',
        'data: {"type": "RUN_STARTED"}\n\n',
        'data: {"type": "RUN_STARTED"}\n\ndata: {"type": "RUN_FINISHED"}\n\ndata: {"type"',
        "",
    ],
    ids=["error", "cut short", "cut in an event", "empty"],
)
async def test_a_stream_of_no_run(stream: str, recorder: Recorder) -> None:
    app = FastAPI()

    @app.post("/")
    async def run(body: Annotated[dict[str, Any], Body()]) -> Response:
        await recorder.model_called(str(body))
        return Response(stream, media_type="text/event-stream")

    report = await probe(app, AGUIRoute(), USERS, recorder=recorder, continuity=False)
    assert report.verdict is Verdict.INCONCLUSIVE, str(report)
    assert failed(report) == {Control.ANSWERED}


async def test_one_whose_model_is_called_for_one_user_alone(recorder: Recorder) -> None:
    app = FastAPI()
    histories: defaultdict[object, list[str]] = defaultdict(list)

    @app.post("/chat/{thread}")
    async def chat(thread: str, text: str, user: User) -> None:
        histories[user, thread].append(text)
        if user == "alice":
            await recorder.model_called(*histories[user, thread])

    report = await probe(app, CHAT, USERS, recorder=recorder)
    assert report.verdict is Verdict.INCONCLUSIVE, str(report)
    arrived = [it for it in report.failures if it.control is Control.OWN_TEXT]
    assert {it.seat.principal for it in arrived if it.seat} == {"p2"}


async def test_one_that_drops_what_has_an_id_that_it_knows(recorder: Recorder) -> None:
    """All share one history, which hides what they say for its ids."""
    app = FastAPI()
    history: dict[str, str] = {}

    @app.post("/chat/{thread}")
    async def chat(
        thread: str, text: str, key: Annotated[str, Body(embed=True)], user: User
    ) -> None:
        history.setdefault(key, text)
        await recorder.model_called(*history.values())

    def route(key: str) -> JSONRoute:
        return JSONRoute("/chat/{thread}?text={text}", json={"key": key})

    distinct = await probe(app, route("{message_id}"), USERS, recorder=recorder)
    assert distinct.verdict is Verdict.LEAK, "control"
    history.clear()
    only_own: Any = {"threads": 1, "foreign": False, "overlap": False}
    report = await probe(app, route("{principal}"), USERS, recorder=recorder, **only_own)
    assert report.verdict is not Verdict.ISOLATED
    assert Control.OWN_TEXT in failed(report)


async def test_a_route_that_does_not_say_the_text() -> None:
    app = chat_app(by_both)
    report = await probe(app, JSONRoute("/chat/{thread}?text=hello"), USERS)
    assert report.verdict is Verdict.INCONCLUSIVE, str(report)
    assert failed(report) == {Control.OWN_TEXT, Control.CONTINUITY}
