"""SR102 and SR103: what a factory, or something that it asks, has kept for the next key."""

from __future__ import annotations

import pytest

from tests.audit.support import check

_KEPT = {
    "global": (
        "kept = None\ndef get():\n    global kept\n    if kept is None:\n"
        "        kept = new_workflow()\n    return kept",
        "lambda c: get()",
    ),
    "global that is returned early": (
        "kept: Workflow | None = None\ndef get(c):\n    global kept\n    if kept is not None:\n"
        "        return kept\n    kept = new_workflow()\n    return kept",
        "get",
    ),
    "global or new": (
        "kept = None\ndef get(c):\n    global kept\n    kept = kept or new_workflow()\n"
        "    return kept",
        "get",
    ),
    "attribute": (
        "class Builds:\n    def __init__(self):\n        self.kept = None\n"
        "    def build(self, c):\n        if not self.kept:\n"
        "            self.kept = new_workflow()\n        return self.kept",
        "Builds().build",
    ),
    "cached property": (
        "from functools import cached_property\nclass Builds:\n    @cached_property\n"
        "    def kept(self):\n        return new_workflow()\n"
        "    def build(self, c):\n        return self.kept",
        "Builds().build",
    ),
    "cached by the thread alone": (
        "@lru_cache\ndef get(thread):\n    return new_workflow()",
        "lambda c: get(c.thread_id)",
    ),
    "dict by the thread alone": (
        "kept = {}\ndef build(c):\n    key = f'w-{c.thread_id}'\n    if key not in kept:\n"
        "        kept[key] = new_workflow()\n    return kept[key]",
        "build",
    ),
    "dict that is asked first": (
        "kept = {}\ndef build(c):\n    it = kept.get(c.thread_id)\n    if it is None:\n"
        "        it = kept[c.thread_id] = new_workflow()\n    return it",
        "build",
    ),
    "helper that is given the thread": (
        "kept = dict()\ndef get(thread):\n    return kept.setdefault(thread, new_workflow())",
        "lambda c: get(c.thread_id)",
    ),
    "helper that is given the context": (
        "kept = {}\ndef get(context):\n"
        "    return kept.setdefault(context.thread_id, new_workflow())",
        "lambda c: get(c)",
    ),
    "attribute by the thread alone": (
        "class Builds:\n    def __init__(self):\n        self.kept = {}\n"
        "    def build(self, c):\n"
        "        return self.kept.setdefault(c.thread_id, new_workflow())",
        "Builds().build",
    ),
}
_NOT_KEPT = {
    "dict by the scope": (
        "kept = {}\ndef build(c):\n    key = (c.scope, c.thread_id)\n    if key not in kept:\n"
        "        kept[key] = new_workflow()\n    return kept[key]",
        "build",
    ),
    "dict by the storage key": (
        "kept = {}",
        "lambda c: kept.setdefault(c.storage_key, new_workflow())",
    ),
    "helper that is given the scope": (
        "kept = {}\ndef get(key):\n    return kept.setdefault(key, new_workflow())",
        "lambda c: get(c.scope)",
    ),
    "dict made inside": (
        "def build(c):\n    made = {}\n    return made.setdefault('x', new_workflow())",
        "build",
    ),
    "global, if it is of the key": (
        "kept = None\ndef build(c):\n    global kept\n"
        "    if kept is None or kept.key != c.storage_key:\n        kept = new_workflow()\n"
        "    return kept",
        "build",
    ),
    "attribute of a new object": (
        "class Chat:\n    def __init__(self):\n        self.kept = None\n    def get(self):\n"
        "        if self.kept is None:\n            self.kept = new_workflow()\n"
        "        return self.kept",
        "lambda c: Chat().get()",
    ),
    "property": (
        "class Builds:\n    @property\n    def it(self):\n        return new_workflow()\n"
        "    def build(self, c):\n        return self.it",
        "Builds().build",
    ),
    "container": ("container = imported()", "lambda c: container.get(Workflow)"),
    "item of a container": ("container = imported()", "lambda c: container[Workflow]"),
    "class of a registry": ("kinds = {'a': Workflow}", "lambda c: kinds['a']()"),
    "setting": (
        "class Chat:\n    def __init__(self, model):\n        self.model = model\n"
        "models = {'small': 'x'}",
        "lambda c: Chat(models.get('small'))",
    ),
}


@pytest.mark.parametrize(("before", "factory"), _KEPT.values(), ids=_KEPT)
def test_what_is_kept_for_the_next_key_is_found(before: str, factory: str) -> None:
    check(f"{before}\nbuild_it = {factory}\nScopedFactory(build_it, scope=user)  # SR103")


@pytest.mark.parametrize(("before", "factory"), _NOT_KEPT.values(), ids=_NOT_KEPT)
def test_what_is_kept_for_one_key_is_not_found(before: str, factory: str) -> None:
    check(f"{before}\nbuild_it = {factory}\nScopedFactory(build_it, scope=user)")


def test_an_item_that_every_key_gets_exists_outside() -> None:
    check("""
kept = {}
def build(c):
    if "chat" not in kept:
        kept["chat"] = new_workflow()
    return kept["chat"]
ScopedFactory(build, scope=user)  # SR102
""")


def test_the_thread_alone_is_a_key_where_one_principal_has_all_threads() -> None:
    check("""
@cache
def get(thread):
    return new_workflow()
kept = {}
SingleUser.per_thread(lambda c: get(c.thread_id))
SingleUser.per_thread(lambda c: kept.setdefault(c.thread_id, new_workflow()))
AgentFrameworkWorkflow(workflow_factory=lambda thread: get(thread))  # SR103
AgentFrameworkWorkflow(workflow_factory=lambda t: kept.setdefault(t, new_workflow()))  # SR103
""")
