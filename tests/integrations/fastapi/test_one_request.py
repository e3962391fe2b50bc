"""Several leases in one request: what is equal is one lease, and nothing waits for itself."""

from typing import Annotated

import pytest
from fastapi import Depends, FastAPI, Security

from scoped_registration.integrations.fastapi import Thread, attach, leased
from tests.integrations.fastapi.support import (
    ALICE,
    Chat,
    client_of,
    scoped,
    shared,
)


def thread_one() -> str:
    return "t1"


def thread_one_again() -> str:
    return "t1"


@pytest.mark.parametrize("thread", [None, "t1", thread_one])
def test_equal_dependencies_are_one_lease(thread: Thread | None) -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)

    async def needs(chat: Annotated[Chat, Depends(leased(registration, thread))]) -> Chat:
        return chat

    async def endpoint(
        chat: Annotated[Chat, Depends(leased(registration, thread))],
        same: Annotated[Chat, Depends(needs)],
    ) -> dict[str, object]:
        return {"same": chat is same, "leased": registration.statistics().leased}

    app.add_api_route("/{thread_id}", endpoint)
    answer = client_of(app).get("/t1", headers=ALICE)
    assert answer.json() == {"same": True, "leased": 1}
    assert registration.statistics().leased == 0


@pytest.mark.parametrize("path", ["/twice", "/scopes"])
def test_different_dependencies_on_one_key_share_one_lease(path: str) -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)

    async def twice(
        chat: Annotated[Chat, Depends(leased(registration, thread_one))],
        same: Annotated[Chat, Depends(leased(registration, thread_one_again))],
    ) -> dict[str, object]:
        return {"same": chat is same, "leased": registration.statistics().leased}

    async def scopes(
        chat: Annotated[Chat, Security(leased(registration, "t1"), scopes=["read"])],
        same: Annotated[Chat, Security(leased(registration, "t1"), scopes=["write"])],
    ) -> dict[str, object]:
        return {"same": chat is same, "leased": registration.statistics().leased}

    app.add_api_route("/twice", twice)
    app.add_api_route("/scopes", scopes)
    client = client_of(app)
    for _ in range(2):
        assert client.get(path, headers=ALICE).json() == {"same": True, "leased": 1}
    assert registration.statistics().leased == 0


def test_two_threads_of_one_registration_are_two_leases() -> None:
    registration = scoped()
    app = FastAPI()
    attach(app, registration)

    async def endpoint(
        one: Annotated[Chat, Depends(leased(registration, "one"))],
        two: Annotated[Chat, Depends(leased(registration, "two"))],
    ) -> dict[str, object]:
        return {"same": one is two, "leased": registration.statistics().leased}

    app.add_api_route("/", endpoint)
    assert client_of(app).get("/", headers=ALICE).json() == {"same": False, "leased": 2}
    assert registration.statistics().leased == 0


def test_two_registrations_in_one_request_are_two_leases() -> None:
    chats, drafts, room = scoped("chats"), scoped("drafts"), shared()
    app = FastAPI()
    attach(app, chats, drafts, room)

    async def endpoint(
        chat: Annotated[Chat, Depends(leased(chats))],
        draft: Annotated[Chat, Depends(leased(drafts))],
        public: Annotated[Chat, Depends(leased(room))],
    ) -> int:
        return len({id(chat), id(draft), id(public)})

    app.add_api_route("/{thread_id}", endpoint)
    client = client_of(app)
    assert client.get("/t1", headers=ALICE).json() == 3
    for registration in (chats, drafts, room):
        assert registration.statistics().leased == 0
    refused = client.get("/%20", headers=ALICE)
    assert refused.status_code == 422


def test_a_lease_that_is_refused_gives_the_first_one_back() -> None:
    chats, drafts = scoped("chats"), scoped("drafts")
    app = FastAPI()
    attach(app, chats, drafts)

    def no_thread() -> str:
        return ""

    async def endpoint(
        chat: Annotated[Chat, Depends(leased(chats))],
        draft: Annotated[Chat, Depends(leased(drafts, no_thread))],
    ) -> None:
        raise AssertionError("the second lease was granted")

    app.add_api_route("/{thread_id}", endpoint)
    assert client_of(app).get("/t1", headers=ALICE).status_code == 422
    assert chats.statistics().leased == 0


def test_equal_arguments_give_equal_dependencies() -> None:
    chats, drafts = scoped("chats"), scoped("drafts")
    assert leased(chats) == leased(chats)
    assert hash(leased(chats, "t")) == hash(leased(chats, "t"))
    assert leased(chats, thread_one) == leased(chats, thread_one)
    different = [leased(chats), leased(chats, "t"), leased(chats, thread_one), leased(drafts)]
    assert len(set(different)) == len(different)
    assert leased(chats) != "chats"
