"""The rules over an application, case by case; nothing of it is started."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import OAuth2PasswordBearer

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    RegistrationBuilder,
    Risk,
    ScopeContext,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.fastapi import attach, leased
from scoped_registration.registration import Registration, ScopedRegistration
from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.stores.sqlite import SQLiteStore
from tests.audit.audit_support import TODAY, audited, rules_of


class Chat: ...


def build(context: ScopeContext[str]) -> Chat:
    raise AssertionError("an audit builds nothing")


def user() -> str:
    raise AssertionError("an audit resolves nobody")


def _scoped(name: str = "chat") -> ScopedRegistration[Chat, str]:
    return RegistrationBuilder(name).isolation(ScopedFactory(build, scope=user)).build()


def _shared(review_by: date | None) -> Registration[Chat]:
    given = Acknowledgement(
        reason="one room", owner="team-sre", risks={Risk.OBJECT_STATE}, review_by=review_by
    )
    mode = PersistentShared(Chat(), acknowledgement=given)
    return RegistrationBuilder("room").isolation(mode).build()


class Codec:
    version = 1

    def dump(self, target: Chat) -> bytes:
        raise AssertionError("an audit reads no state")

    def restore(self, target: Chat, document: bytes, version: int) -> None:
        raise AssertionError("an audit restores no state")


def _persisted(store: ThreadStore) -> ScopedRegistration[Chat, str]:
    stage = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=user))
    return stage.persisted(store, codec=Codec()).build()


def _app(*registrations: Registration[Any]) -> FastAPI:
    app = FastAPI()
    attach(app, *registrations)
    return app


def test_an_application_without_registrations_has_no_findings() -> None:
    assert audited(FastAPI(), workers=9) == []


@pytest.mark.parametrize(
    ("review_by", "rules"),
    [(date(2030, 1, 30), ["SR203"]), (TODAY, []), (date(2030, 2, 1), []), (None, [])],
)
def test_a_review_is_overdue_from_the_day_after(review_by: date | None, rules: list[str]) -> None:
    assert rules_of(audited(_app(_shared(review_by)))) == rules


@pytest.mark.parametrize(
    ("option", "value"), [("max_instances", None), ("max_per_scope", None), ("idle_ttl", None)]
)
def test_an_option_without_a_bound_is_named(option: str, value: None) -> None:
    stage: Any = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=user))
    (finding,) = audited(_app(stage.pool(**{option: value}).build()))
    assert finding.rule == "SR206"
    assert finding.message == f"registration 'chat': no bound: {option}=None"


def test_an_option_that_is_unbounded_by_default_is_no_finding() -> None:
    stage = RegistrationBuilder("desk").isolation(SingleUser.per_thread(build))
    assert audited(_app(stage.build())) == []  # one principal has no share
    (finding,) = audited(_app(stage.pool(max_instances=None).build()))
    assert finding.message.endswith("no bound: max_instances=None")


@pytest.mark.parametrize(
    ("registration", "rules"),
    [
        (_scoped, ["SR207"]),
        (
            RegistrationBuilder("desk").isolation(SingleUser.per_thread(build)).build,
            ["SR207"],
        ),
        (RegistrationBuilder("desk").isolation(SingleUser(Chat())).build, ["SR207"]),
        (lambda: _shared(None), ["SR207"]),
        (lambda: _persisted(MemoryStore()), ["SR207"]),
        (lambda: _persisted(SQLiteStore("threads.sqlite")), []),
    ],
)
def test_workers_matter_where_state_lives_in_one_process(
    registration: Callable[[], Registration[Any]], rules: list[str]
) -> None:
    app = _app(registration())
    assert rules_of(audited(app, workers=2)) == rules
    assert audited(app, workers=1) == []


def test_workers_that_the_application_declares_are_judged_as_start_up_judges_them() -> None:
    app = FastAPI()
    attach(app, _scoped(), workers="many")
    (finding,) = audited(app, workers=4)  # once, although both say it
    assert finding.rule == "SR208"
    assert finding.message.startswith("registration 'chat': [store_per_process] ")
    single = FastAPI()
    attach(single, _scoped(), workers="single")
    assert audited(single) == []
    assert rules_of(audited(single, workers=4)) == ["SR207"]  # the two contradict each other
    stored = FastAPI()
    attach(stored, _persisted(SQLiteStore("threads.sqlite")), workers="many")
    assert audited(stored, workers=4) == []


def _nothing() -> None: ...


def _with_security(app: FastAPI) -> None:
    @app.get("/private", dependencies=[Depends(OAuth2PasswordBearer("token"))])
    def private() -> None: ...


def _in_a_router(app: FastAPI) -> None:
    router = APIRouter(dependencies=[Depends(OAuth2PasswordBearer("token"))])
    router.add_api_route("/private", lambda: None)
    app.include_router(router, prefix="/v1")


def _mounted(app: FastAPI) -> None:
    inner = FastAPI()
    _with_security(inner)
    app.mount("/inner", inner)


@pytest.mark.parametrize(
    ("secure", "path"),
    [(_with_security, "/private"), (_in_a_router, "/v1/private"), (_mounted, "/private")],
)
@pytest.mark.parametrize("per_thread", [False, True])
def test_a_single_user_beside_authentication(
    secure: Callable[[FastAPI], None], path: str, per_thread: bool
) -> None:
    builder = RegistrationBuilder("desk")
    desk: Registration[Chat] = (
        builder.isolation(SingleUser.per_thread(build)).build()
        if per_thread
        else builder.isolation(SingleUser(Chat())).build()
    )
    app = _app(desk)
    assert audited(app) == []
    secure(app)
    (finding,) = audited(app)
    assert finding.rule == "SR204"
    assert f"{path} of the application authenticates" in finding.message


def test_an_owner_and_other_modes_may_stand_beside_authentication() -> None:
    owned = RegistrationBuilder("desk").isolation(SingleUser(Chat(), owner=user)).build()
    app = _app(owned, _scoped(), _shared(None))
    _with_security(app)
    assert audited(app) == []


def test_what_start_up_refuses_is_found_once_and_altogether() -> None:
    desk = RegistrationBuilder("desk").isolation(SingleUser(Chat())).build()
    chat, lost = _scoped(), _scoped("lost")
    app = _app(desk, chat)
    secure = Depends(OAuth2PasswordBearer("token"))
    for path in ("/a", "/b"):
        app.get(path, dependencies=[secure, Depends(leased(desk))])(_nothing)

    def early(it: object) -> None: ...

    early.__annotations__["it"] = Annotated[object, Depends(leased(chat), scope="function")]
    app.get("/c/{thread_id}")(early)

    found = audited(app)
    assert sorted((one.rule, one.message.split("]")[0]) for one in found) == [
        ("SR208", "registration 'chat': [lease_ends_too_early"),
        ("SR208", "registration 'desk': [single_user_behind_authentication"),  # and no SR204
    ]

    alone = FastAPI()
    alone.get("/{thread_id}", dependencies=[Depends(leased(lost))])(_nothing)
    (finding,) = audited(alone)
    assert finding.message.startswith("registration 'lost': [not_attached] ")


def test_a_registration_of_the_module_that_is_attached_nowhere() -> None:
    chat, lost, elsewhere = _scoped(), _scoped("lost"), _scoped("elsewhere")
    other = _app(elsewhere)
    found = audited(_app(chat), chat, lost, lost, elsewhere)
    assert [(one.rule, one.message) for one in found] == [
        ("SR205", "registration 'lost': it is attached nowhere")
    ]
    del other


def test_registrations_of_a_mounted_application_are_looked_at() -> None:
    app, inner = FastAPI(), FastAPI()
    stage: Any = RegistrationBuilder("chat").isolation(ScopedFactory(build, scope=user))
    chat = stage.pool(idle_ttl=None).build()
    attach(inner, chat)
    app.mount("/inner", inner)
    assert sorted(rules_of(audited(app))) == ["SR205", "SR206"]
    (lost, _) = sorted(audited(app), key=lambda it: it.rule)
    assert lost.message == (
        "registration 'chat': it is attached to a mounted application alone, whose lifespan no "
        "server runs"
    )
    attach(app, chat)  # as the documentation says
    assert rules_of(audited(app)) == ["SR206"]


def test_findings_stand_at_the_declaration_in_the_order_of_the_places() -> None:
    stage = RegistrationBuilder("two").isolation(ScopedFactory(build, scope=user))
    found = audited(_app(_scoped("one"), stage.pool(idle_ttl=None).build()), workers=2)
    assert {one.place.path.name for one in found} == {"test_audit_rules.py"}
    assert found == sorted(found)
    assert rules_of(found) == ["SR207", "SR206", "SR207"]
    first = found[0].place
    assert (first.line, first.end_line, first.column) == (first.line, first.line, 5)
    assert first.end_column > first.column
