import asyncio
import sys

from scoped_registration.testing import JSONRoute, Recorder, Verdict, probe_isolation
from tests.testing.examples.chat import create_app

recorder = Recorder()


async def model(history: list[str]) -> str:
    await recorder.model_called(*history)
    return "an answer"


async def main() -> int:
    report = await probe_isolation(
        create_app(model),
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
