"""SR102, SR103, SR104 and SR108: factories that make nothing new."""

from __future__ import annotations

import pytest

from tests.audit.support import check

# How a factory reaches the object: what comes before, and the factory itself.
_CAPTURING = {
    "lambda": ("", "lambda context: workflow"),
    "lambda in brackets": ("", "(lambda context: (workflow))"),
    "function": ("def build(context):\n    return workflow", "build"),
    "async function": ("async def build(context):\n    return workflow", "build"),
    "local name": ("def build(context):\n    it: Workflow = workflow\n    return it", "build"),
    "walrus": ("def build(context):\n    return (it := workflow)", "build"),
    "one of two returns": (
        "def build(context):\n    if context.scope:\n        return workflow\n"
        "    return new_workflow()",
        "build",
    ),
    "conditional": ("", "lambda context: new_workflow() if context.scope else workflow"),
    "fallback": ("", "lambda context: imported(context) or workflow"),
    "default": ("def build(context, it=workflow):\n    return it", "build"),
    "default that is made once": ("def build(context, it=imported()):\n    return it", "build"),
    "keyword default": ("def build(context, *, it=workflow):\n    return it", "build"),
    "lambda's default": ("", "lambda context, it=workflow: it"),
    "partial": (
        "def build(it, context):\n    return it",
        "partial(build, workflow)",
    ),
    "partial by keyword": (
        "def build(context, it):\n    return it",
        "partial(build, it=workflow)",
    ),
    "context manager": (
        "@asynccontextmanager\nasync def build(context):\n    yield workflow",
        "build",
    ),
    "name of a factory": ("build = lambda context: workflow\nsame = build", "same"),
    "helper": ("def get():\n    return workflow", "lambda context: get()"),
    "maker of factories": (
        "def factory_of(it):\n    def build(context):\n        return it\n    return build",
        "factory_of(workflow)",
    ),
    "method": (
        "class Builders:\n    def __init__(self):\n        self.it = new_workflow()\n"
        "    def build(self, context):\n        return self.it\nbuilders = Builders()",
        "builders.build",
    ),
    "attribute of a class": (
        "class Kept:\n    it = new_workflow()",
        "lambda context: Kept.it",
    ),
    "callable object": (
        "class Build:\n    it = new_workflow()\n"
        "    def __call__(self, context):\n        return self.it",
        "Build()",
    ),
    "new runner around it": ("", "lambda context: AgentFrameworkWorkflow(workflow)"),
    "new agent around it": ("", "lambda context: workflow.as_agent()"),
    "wrapped agent around it": (
        "",
        "lambda context: AgentFrameworkAgent(workflow.as_agent())",
    ),
    "agent": ("shared = Agent(client)", "lambda context: shared"),
    "list": ("kept = []", "lambda context: kept"),
    "something opened": ("with imported() as kept:\n    pass", "lambda context: kept"),
}


@pytest.mark.parametrize(("before", "factory"), _CAPTURING.values(), ids=_CAPTURING)
def test_a_factory_that_returns_what_exists_outside_is_found(before: str, factory: str) -> None:
    check(f"{before}\nScopedFactory({factory}, scope=user)  # SR102")


_FRESH = {
    "lambda": ("", "lambda context: new_workflow()"),
    "function": ("", "new_workflow"),
    "class": ("class Chat: ...", "Chat"),
    "imported": ("", "imported"),
    "imported and captured": ("", "lambda context: imported"),
    "attribute of something imported": ("", "lambda context: settings.workflow"),
    "made inside": ("def build(context):\n    it = new_workflow()\n    return it", "build"),
    "made inside, by a function inside": (
        "def build(context):\n    it = new_workflow()\n    def get():\n        return it\n"
        "    return get()",
        "build",
    ),
    "opened inside": (
        "def build(context):\n    with imported() as it:\n        return it",
        "build",
    ),
    "parameter": ("", "lambda context: context"),
    "default for the context": ("def build(context=workflow):\n    return context", "build"),
    "class captured": ("class Chat: ...", "lambda context: Chat"),
    "function captured": ("", "lambda context: new_workflow"),
    "constant": ("NAME = 'support'", "lambda context: NAME"),
    "agent in a new executor": (
        "shared = Agent(client)",
        "lambda context: WorkflowBuilder(start_executor=AgentExecutor(shared)).build()",
    ),
    "new wrapper of a plain agent": (
        "shared = Agent(client)",
        "lambda context: AgentFrameworkAgent(shared)",
    ),
    "same name inside": (
        "def build(context):\n    workflow = new_workflow()\n    return workflow",
        "build",
    ),
    "global that the factory sets": (
        "kept = None\ndef build(context):\n    global kept\n    kept = new_workflow()\n"
        "    return kept",
        "build",
    ),
    "attribute that the factory sets": (
        "class Builders:\n    def build(self, context):\n        self.it = new_workflow()\n"
        "        return self.it\nbuilders = Builders()",
        "builders.build",
    ),
    "instance made inside": (
        "class Kept:\n    def __init__(self):\n        self.it = new_workflow()",
        "lambda context: Kept().it",
    ),
    "name of the class around a method": (
        "from elsewhere import kept\nclass Builders:\n    kept = new_workflow()\n"
        "    def build(self, context):\n        return kept",
        "Builders().build",
    ),
    "unknown decorator": ("@imported\ndef build(context):\n    return workflow", "build"),
    "one name for two factories": (
        "if settings:\n    def build(context): return workflow\n"
        "else:\n    def build(context): return new_workflow()",
        "build",
    ),
    "item": ("kept = {}", "lambda context: kept[context.scope]"),
    "copy": ("from copy import deepcopy", "lambda context: deepcopy(workflow)"),
    "partial of an imported function": ("", "partial(imported, workflow)"),
    "return of an inner function": (
        "def build(context):\n    def other():\n        return workflow\n    return new_workflow()",
        "build",
    ),
}


@pytest.mark.parametrize(("before", "factory"), _FRESH.values(), ids=_FRESH)
def test_a_factory_that_is_fresh_or_unknown_is_not_found(before: str, factory: str) -> None:
    check(f"{before}\nScopedFactory({factory}, scope=user)")


@pytest.mark.parametrize(
    "call",
    [
        "ScopedFactory(factory=lambda c: workflow, scope=user)",
        "ScopedFactory[Workflow, str](lambda c: workflow, scope=user)",
        "SingleUser.per_thread(lambda c: workflow)",
        "AgentFrameworkWorkflow(workflow_factory=lambda thread_id: workflow)",
        "AGUIEndpointBuilder('a').isolation(ScopedFactory(lambda c: workflow, scope=user))",
    ],
)
def test_every_place_for_a_factory_is_looked_at(call: str) -> None:
    check(f"{call}  # SR102")


def test_a_factory_inside_a_function_is_read_with_the_names_around_it() -> None:
    check("""
def create_app(given, kind: type[Workflow]):
    inner = new_workflow()
    ScopedFactory(lambda c: inner, scope=user)  # SR102
    ScopedFactory(lambda c: given, scope=user)  # SR102
    ScopedFactory(lambda c: kind, scope=user)
    ScopedFactory(lambda c: kind(), scope=user)
    for each in [given]:
        ScopedFactory(lambda c: each, scope=user)  # SR102
    def build(c):
        inner = new_workflow()
        return inner
    ScopedFactory(build, scope=user)
""")


@pytest.mark.parametrize(
    ("before", "factory"),
    [
        ("@cache\ndef build(context):\n    return new_workflow()", "build"),
        ("@lru_cache(maxsize=8)\ndef build(context):\n    return new_workflow()", "build"),
        ("@imported\n@cache\ndef build(context):\n    return new_workflow()", "build"),
        ("import functools\n@functools.cache\ndef build(context): ...", "build"),
        ("from cachetools import cached\n@cached({})\ndef build(context): ...", "build"),
        ("", "cache(new_workflow)"),
        ("", "cache(imported)"),
        ("", "lru_cache(maxsize=None)(imported)"),
        ("build = lru_cache(new_workflow)", "build"),
        ("@cache\ndef make():\n    return new_workflow()", "lambda context: make()"),
        ("@cache\ndef make(name):\n    return new_workflow()", "lambda context: make('x')"),
    ],
)
def test_a_cached_factory_is_found(before: str, factory: str) -> None:
    check(f"{before}\nScopedFactory({factory}, scope=user)  # SR103")


@pytest.mark.parametrize(
    ("before", "factory"),
    [
        ("from mine import cache\n@cache\ndef build(context): ...", "build"),
        ("def cached(f): ...\n@cached\ndef build(context): ...", "build"),
        ("@cache\ndef client_of(): ...", "lambda context: imported(client_of())"),
        (
            "@cache\ndef make(key):\n    return new_workflow()",
            "lambda context: make(context.scope)",
        ),
    ],
)
def test_other_caches_are_not_found(before: str, factory: str) -> None:
    check(f"{before}\nScopedFactory({factory}, scope=user)")


_BUILDERS = "builder = WorkflowBuilder(start_executor=AgentExecutor(agent))\nbuilder.add_edge(1, 2)"


@pytest.mark.parametrize(
    ("call", "is_found"),
    [
        ("ScopedFactory(lambda c: builder.build(), scope=user)", True),
        ("ScopedFactory(builder.build, scope=user)", True),
        ("ScopedFactory(builder, scope=user)", True),
        ("ScopedFactory(lambda c: builder.build().as_agent(), scope=user)", True),
        ("AgentFrameworkWorkflow(workflow_factory=builder.build)", True),
        ("AgentFrameworkWorkflow(workflow_factory=lambda t: builder.build())", True),
        ("SingleUser.per_thread(SequentialBuilder(participants=[agent]).build)", True),
        (
            "ScopedFactory(lambda c: WorkflowBuilder(start_executor=agent).build(), scope=user)",
            False,
        ),
        ("ScopedFactory(lambda c: imported.build(), scope=user)", False),
        ("ScopedFactory(imported.build, scope=user)", False),
    ],
)
def test_a_builder_outside_the_factory_is_found(call: str, is_found: bool) -> None:
    check(f"{_BUILDERS}\n{call}{'  # SR104' if is_found else ''}")


def test_a_builder_is_followed_to_where_it_is_made() -> None:
    check("""
def create_app():
    outside = WorkflowBuilder(start_executor=agent)
    make = outside.build
    ScopedFactory(make, scope=user)  # SR104
    def build(c):
        return outside.build()
    ScopedFactory(build, scope=user)  # SR104
    def fresh(c):
        inside = WorkflowBuilder(start_executor=agent)
        return inside.build()
    ScopedFactory(fresh, scope=user)
    # Upstream, this builder wraps plain agents each time it builds.
    participants = SequentialBuilder(participants=[agent])
    ScopedFactory(lambda c: participants.build(), scope=user)
""")


@pytest.mark.parametrize(
    ("factory", "is_found"),
    [
        ("workflow", True),
        ("new_workflow()", True),
        ("workflow.as_agent()", True),
        ("Agent(client)", True),
        ("Plain()", True),
        ("plain", True),
        ("Called()", False),
        ("Derived()", False),
        ("Plain", False),
        ("imported", False),
        ("imported()", False),
    ],
)
def test_an_instance_in_the_place_of_a_factory_is_found(factory: str, is_found: bool) -> None:
    mark = "  # SR108" if is_found else ""
    check(f"""
class Plain: ...
class Called:
    def __call__(self, context): return Plain()
class Derived(imported): ...
plain = Plain()
ScopedFactory({factory}, scope=user){mark}
""")


def test_sharing_that_is_declared_is_not_found() -> None:
    check("""
SingleUser(workflow)
PersistentShared(workflow, acknowledgement=imported, access=user)
per_run(agent, scope=user)
""")
