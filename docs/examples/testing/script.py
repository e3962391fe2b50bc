import asyncio
import sys
from typing import Annotated

from fastapi import FastAPI, Header

from scoped_registration.testing import JSONRoute, Recorder, Verdict, probe_isolation

recorder = Recorder()
app = FastAPI()
history: list[str] = []  # the mistake: one for everybody


async def model(texts: list[str]) -> str:
    await recorder.model_called(*texts)
    return "an answer"


@app.post("/chat/{thread}")
async def chat(thread: str, text: str, x_user: Annotated[str, Header()]) -> str:
    history.append(text)
    return await model(history)


async def main() -> int:
    report = await probe_isolation(
        app,
        JSONRoute("/chat/{thread}?text={text}"),
        [{"x-user": "alice"}, {"x-user": "bob"}],
        threads=1,
        recorder=recorder,
        overlap=False,
    )
    print(report)
    return 0 if report.verdict is Verdict.ISOLATED else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
