"""Busy threads and a full pool: in order, or an answer at once (P6, P7)."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Literal

import anyio
import httpx
import pytest
from anyio.lowlevel import checkpoint
from fastapi import Depends, FastAPI, Header
from starlette.responses import Response, StreamingResponse

from scoped_registration import RegistrationBuilder, ScopedFactory
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import ScopedRegistration
from tests.integrations.fastapi.support import ALICE, BOB, Chat, async_client

MANY = 20


async def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user  # async: requests reach the lease in the order in which they arrive


class Gate:
    """An application whose runs wait for a word; it counts those that are running."""

    def __init__(self, registration: ScopedRegistration[Chat, str]) -> None:
        self.registration = registration
        self.opened = anyio.Event()
        self.running = self.most = 0
        self.app = FastAPI()
        attach(self.app, registration)

        async def body(chat: Chat, number: int) -> AsyncIterator[str]:
            self.running += 1
            self.most = max(self.most, self.running)
            await self.opened.wait()
            for _ in range(3):
                await checkpoint()
                yield f"{number} "
            chat.say(str(number))
            self.running -= 1

        async def stream(
            chat: Annotated[Chat, Depends(leased(registration))], number: int
        ) -> Response:
            return StreamingResponse(body(chat, number))

        async def lines(chat: Annotated[Chat, Depends(leased(registration))]) -> list[str]:
            return chat.lines

        self.app.add_api_route("/stream/{thread_id}", stream)
        self.app.add_api_route("/lines/{thread_id}", lines)

    async def send_many(
        self, client: httpx.AsyncClient, path: Callable[[int], str], arrived: Callable[[], bool]
    ) -> list[httpx.Response]:
        """Send all requests, in order, and open the gate when all have arrived."""
        answers: dict[int, httpx.Response] = {}

        async def send(number: int) -> None:
            answers[number] = await client.get(
                path(number), params={"number": number}, headers=ALICE
            )

        async with anyio.create_task_group() as tasks:
            for number in range(MANY):
                tasks.start_soon(send, number)
            while not (arrived() or len(answers) == MANY):
                await checkpoint()
            self.opened.set()
        return [answers[number] for number in range(MANY)]


def built(
    policy: Literal["queue", "reject"] = "queue",
    max_waiting: int = 16,
    wait_timeout: float = 30.0,
    max_instances: int = 100,
    max_per_scope: int = 100,
) -> ScopedRegistration[Chat, str]:
    return (
        RegistrationBuilder("chat")
        .isolation(ScopedFactory(Chat, scope=current_user))
        .concurrency(policy, max_waiting=max_waiting, wait_timeout=wait_timeout)
        .pool(max_instances=max_instances, max_per_scope=max_per_scope)
        .build()
    )


async def test_p6_twenty_requests_on_one_thread_all_finish_one_at_a_time_under_queue() -> None:
    registration = built(max_waiting=MANY)
    gate = Gate(registration)
    async with async_client(gate.app) as client:
        answers = await gate.send_many(
            client, lambda _: "/stream/t1", lambda: registration.statistics().waiting == MANY - 1
        )
        lines = (await client.get("/lines/t1", headers=ALICE)).json()
    assert [answer.status_code for answer in answers] == [200] * MANY
    assert [answer.text for answer in answers] == [f"{n} " * 3 for n in range(MANY)]
    assert gate.most == 1
    assert lines == [str(number) for number in range(MANY)]
    assert registration.statistics().built == 1


async def test_p6_twenty_requests_on_one_thread_give_one_200_and_nineteen_409_under_reject() -> (
    None
):
    registration = built("reject")
    gate = Gate(registration)
    async with async_client(gate.app) as client:
        answers = await gate.send_many(
            client, lambda _: "/stream/t1", lambda: registration.statistics().rejected == MANY - 1
        )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (MANY - 1)
    for answer in answers[1:]:
        assert answer.json()["detail"]["code"] == "thread_busy"
        assert "alice" not in answer.text
        assert "t1" not in answer.text
    assert gate.most == 1
    assert registration.statistics().leased == 0


async def test_p6_other_threads_never_wait() -> None:
    registration = built("reject")
    gate = Gate(registration)
    async with async_client(gate.app) as client:
        answers = await gate.send_many(
            client, lambda number: f"/stream/t{number}", lambda: gate.running == MANY
        )
    assert [answer.status_code for answer in answers] == [200] * MANY
    assert gate.most == MANY


async def refused_beside_a_run(
    registration: ScopedRegistration[Chat, str], path: str, headers: dict[str, str]
) -> httpx.Response:
    """Return the answer to a request that meets a run of alice's thread t1."""
    gate = Gate(registration)
    answers: list[httpx.Response] = []
    async with async_client(gate.app) as client, anyio.create_task_group() as tasks:

        async def run() -> None:
            answer = await client.get("/stream/t1?number=0", headers=ALICE)
            assert answer.text == "0 0 0 "

        tasks.start_soon(run)
        while not gate.running:
            await checkpoint()
        answers.append(await client.get(path, headers=headers))
        gate.opened.set()
    assert registration.statistics().leased == 0
    assert registration.statistics().waiting == 0
    return answers[0]


FULL = {
    "queue_full": (built(max_waiting=0), "/lines/t1", ALICE),
    "wait_timeout": (built(wait_timeout=0.01), "/lines/t1", ALICE),
    "pool_full": (built(max_instances=1, wait_timeout=0.01), "/lines/t2", BOB),
    "pool_full of a scope": (built(max_per_scope=1, wait_timeout=0.01), "/lines/t2", ALICE),
}


@pytest.mark.parametrize(("code", "case"), FULL.items(), ids=FULL)
async def test_p7_whatever_is_full_is_503_with_retry_after(
    code: str, case: tuple[ScopedRegistration[Chat, str], str, dict[str, str]]
) -> None:
    answer = await refused_beside_a_run(*case)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["detail"]["code"] == code.split(maxsplit=1)[0]
    assert not any(name in answer.text for name in ("alice", "bob", "t1", "t2"))
