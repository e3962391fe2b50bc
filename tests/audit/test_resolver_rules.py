"""SR106 and SR107: resolvers that do not say who calls."""

from __future__ import annotations

import pytest

from tests.audit.support import check

_CONSTANT = {
    "lambda": ("", 'lambda: "everybody"'),
    "function": ("def who():\n    return 'everybody'", "who"),
    "async": ("async def who(token: Annotated[str, Header()]):\n    return 'everybody'", "who"),
    "name of a constant": ("TENANT = 'acme'\ndef who():\n    return TENANT", "who"),
    "number": ("", "lambda: 1"),
    "twice the same": (
        "def who(x):\n    if x:\n        return 'a'\n    return 'a'",
        "who",
    ),
    "callable object": ("class Who:\n    def __call__(self):\n        return 'a'", "Who()"),
    "method": (
        "class Who:\n    def who(self):\n        return 'a'\nauth = Who()",
        "auth.who",
    ),
    "tuple": ("", "lambda: ('acme', 'eu')"),
    "tuple of names": ("TENANT = 'acme'\ndef who():\n    return (TENANT, 1)", "who"),
    "text that is put together": ("", "lambda: f'tenant-{1}'"),
    "member of an enum": (
        "from enum import Enum\nclass Tenant(Enum):\n    ACME = 'acme'",
        "lambda: Tenant.ACME",
    ),
    "identifier": ("from uuid import UUID", "lambda: UUID('0' * 32)"),
    "frozen object": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Tenant:\n    name: str",
        "lambda: Tenant('acme')",
    ),
    "named tuple": (
        "from typing import NamedTuple\nclass Tenant(NamedTuple):\n    name: str",
        "lambda: Tenant(name='acme')",
    ),
    "static method": (
        "class Who:\n    @staticmethod\n    def who():\n        return 'a'",
        "Who.who",
    ),
}
_READS_BODY = {
    "json": ("async def who(r: Request):\n    return (await r.json())['user']", "who"),
    "json in a variable": (
        "async def who(request: Request) -> str:\n    data = await request.json()\n"
        "    name = data.get('user')\n    return str(name)",
        "who",
    ),
    "form": ("async def who(r: Request):\n    form = await r.form()\n    return form['u']", "who"),
    "parsed": (
        "import json\nasync def who(r: Request):\n    return json.loads(await r.body())['user']",
        "who",
    ),
    "model": (
        "class Message(BaseModel):\n    user: str\n"
        "def who(message: Message):\n    return message.user.strip()",
        "who",
    ),
    "validated": (
        "class Message(BaseModel):\n    user: str\n"
        "async def who(r: Request):\n"
        "    message = Message.model_validate_json(await r.body())\n    return message.user",
        "who",
    ),
    "Body": ("def who(name: str = Body()):\n    return name", "who"),
    "annotated Body": (
        "def who(name: Annotated[str, Body(embed=True)]):\n    return f'user-{name}'",
        "who",
    ),
    "Form": ("def who(*, name: Annotated[str, Form()]):\n    return ('eu', name)", "who"),
    "dependency": (
        "def claimed(name: str = Body()):\n    return name\n"
        "def who(name: Annotated[str, Depends(claimed)]):\n    return 'user-' + name",
        "who",
    ),
    "lambda": ("def read(name: str = Body()): return name", "lambda n=Depends(read): n"),
    "dict": ("def who(body: dict[str, str]):\n    return body['user']", "who"),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Message:\n    user: str\n"
        "def who(message: Message):\n    return message.user",
        "who",
    ),
    "model of a model": (
        "class Base(BaseModel): ...\nclass Message(Base):\n    user: str\n"
        "def who(message: Message):\n    return message.user",
        "who",
    ),
    "model, or none": (
        "class Message(BaseModel):\n    user: str\n"
        "def who(message: Message | None = None):\n    return message.user",
        "who",
    ),
    "json that is taken apart": (
        "async def who(r: Request):\n    tenant, name = (await r.json())['who']\n    return name",
        "who",
    ),
    "object of json": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass User:\n    name: str\n"
        "async def who(r: Request):\n    data = await r.json()\n    return User(data['user'])",
        "who",
    ),
}
_SAYS_WHO = {
    "header": ("", "user"),
    "imported": ("", "imported"),
    "imported constant": ("from elsewhere import TENANT", "lambda: TENANT"),
    "two constants": (
        "def who(r: Request):\n    return 'admin' if r.headers else 'user'",
        "who",
    ),
    "setting": ("", "lambda: settings.tenant"),
    "nothing": ("def who(): return None", "who"),
    "refusal": ("def who(): raise PermissionError", "who"),
    "constant under a decorator": ("@imported\ndef who(): return 'a'", "who"),
    "state": ("def who(r: Request):\n    return r.state.user", "who"),
    "body that is verified": (
        "async def who(r: Request, x_user: Annotated[str, Header()]):\n"
        "    imported(await r.body())\n    return x_user",
        "who",
    ),
    "body that is looked up": (
        "async def who(r: Request):\n    token = (await r.json())['token']\n"
        "    return settings.sessions[token]",
        "who",
    ),
    "token that is decoded": (
        "def who(token: Annotated[str, Form()]):\n    return imported.decode(token)['sub']",
        "who",
    ),
    "token and a part of the body": (
        "def who(x_user: Annotated[str, Header()], room: str = Body()):\n    return (x_user, room)",
        "who",
    ),
    "tuple with a header": (
        "def who(x_user: Annotated[str, Header()]):\n    return ('acme', x_user)",
        "who",
    ),
    "two members of an enum": (
        "from enum import Enum\nclass Kind(Enum):\n    A = 'a'\n    B = 'b'\n"
        "def who(r: Request):\n    return Kind.A if r.headers else Kind.B",
        "who",
    ),
    "object with a key of its own": (
        "class User:\n    def scope_key(self):\n        return imported.get()",
        "lambda: User('acme')",
    ),
    "dict from a dependency": (
        "def who(claims: Annotated[dict[str, str], Depends(imported)]):\n    return claims['sub']",
        "who",
    ),
    "json of something else": ("def who(r: imported):\n    return r.json()['user']", "who"),
    "model from a dependency": (
        "class User(BaseModel):\n    name: str\n"
        "def who(user: Annotated[User, Depends(imported)]):\n    return user.name",
        "who",
    ),
    "model from the query": (
        "from fastapi import Query\nclass User(BaseModel):\n    name: str\n"
        "def who(user: User = Query()):\n    return user.name",
        "who",
    ),
}


@pytest.mark.parametrize(("before", "resolver"), _CONSTANT.values(), ids=_CONSTANT)
def test_a_constant_scope_is_found(before: str, resolver: str) -> None:
    check(f"{before}\nScopedFactory(imported, scope={resolver})  # SR106")


@pytest.mark.parametrize(("before", "resolver"), _READS_BODY.values(), ids=_READS_BODY)
def test_a_scope_from_the_body_is_found(before: str, resolver: str) -> None:
    check(f"{before}\nScopedFactory(imported, scope={resolver})  # SR107")


@pytest.mark.parametrize(("before", "resolver"), _SAYS_WHO.values(), ids=_SAYS_WHO)
def test_other_resolvers_are_not_found(before: str, resolver: str) -> None:
    check(f"{before}\nScopedFactory(imported, scope={resolver})")


@pytest.mark.parametrize(
    "call",
    [
        "SingleUser(workflow, owner={})",
        "SingleUser.per_thread(imported, owner={})",
        "PersistentShared(workflow, acknowledgement=imported, access={})",
        "per_run(agent, scope={})",
        "add_agent_framework_fastapi_endpoint(app, agent, authorization_scope_resolver={})",
    ],
)
def test_every_place_for_a_resolver_is_looked_at(call: str) -> None:
    check(f"""
async def claimed(request: Request):
    return (await request.json())["user"]
{call.format('lambda: "everybody"')}  # SR106
{call.format("claimed")}  # SR107
{call.format("user")}
""")


def test_the_resolvers_of_an_endpoint_may_be_given_by_position() -> None:
    nothing = ", ".join(["None"] * 6)
    before = f"serve(app, agent, '/', None, {nothing}"
    check(f"{before}, lambda request: request.user)  # SR107")
    check(f"{before}, None, {nothing}, lambda: 'everybody')  # SR106")


def test_the_resolver_of_a_snapshot_scope_is_given_the_body() -> None:
    check("""
def claimed(request):
    return request.state["user"]
def of_the_context(request):
    return imported.get()
add_agent_framework_fastapi_endpoint(app, agent, snapshot_scope_resolver=claimed)  # SR107
add_agent_framework_fastapi_endpoint(app, agent, snapshot_scope_resolver=of_the_context)
""")


def test_two_rules_may_meet_in_one_call() -> None:
    check("ScopedFactory(lambda c: workflow, scope=lambda: 'a')  # SR102 SR106")


def test_what_a_resolver_yields_is_what_it_resolves_to() -> None:
    check(
        "def everybody():\n    yield 'everybody'\n\n"
        "ScopedFactory(imported, scope=everybody)  # SR106"
    )
    check(
        "from pydantic import BaseModel\n"
        "class Said(BaseModel):\n    user: str\n"
        "def of_body(said: Said):\n    yield said.user\n\n"
        "ScopedFactory(imported, scope=of_body)  # SR107"
    )
