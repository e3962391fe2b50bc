"""SR109 finds nothing where every part is new, may exist outside, or is not known."""

from __future__ import annotations

import pytest

from tests.audit.support import PARTS, check

_FRESH = {
    "agent in a new executor": (
        "",
        "lambda c: WorkflowBuilder(start_executor=AgentExecutor(helper)).build()",
    ),
    "agent as the start": ("", "lambda c: WorkflowBuilder(start_executor=helper).build()"),
    "agents of an orchestration": (
        "agents = [Agent(client), Agent(client)]",
        "lambda c: SequentialBuilder(participants=agents).build()",
    ),
    "orchestration of agents": (
        "sequence = SequentialBuilder(participants=[helper, Agent(client)])",
        "lambda c: sequence.build()",
    ),
    "everything made inside": (
        "def build(c):\n    one = AgentExecutor(helper)\n    own = AgentSession()\n"
        "    two = AgentExecutor(helper, session=own)\n"
        "    return WorkflowBuilder(start_executor=one).add_edge(one, two).build()",
        "build",
    ),
    "list made inside": (
        "def build(c):\n    made = [AgentExecutor(one) for one in imported]\n"
        "    return SequentialBuilder(participants=made).build()",
        "build",
    ),
    "inner workflow made inside": (
        "",
        "lambda c: WorkflowBuilder(\n"
        "    start_executor=WorkflowExecutor(new_workflow(), id='x')).build()",
    ),
    "new argument of a helper": (
        "def wire(first):\n    return WorkflowBuilder(start_executor=first).build()",
        "lambda c: wire(AgentExecutor(helper))",
    ),
    "new argument of the same name": (
        "def wire(writer):\n    return WorkflowBuilder(start_executor=writer).build()",
        "lambda c: wire(AgentExecutor(helper))",
    ),
    "object that is made on the way": (
        "class Builds:\n    def __init__(self):\n        self.writer = AgentExecutor(helper)\n"
        "    def build(self):\n        return self.inner()\n    def inner(self):\n"
        "        return WorkflowBuilder(start_executor=self.writer).build()",
        "lambda c: Builds().build()",
    ),
    "name of an object that is made on the way": (
        "class Makes:\n    def __init__(self):\n        self.it = new_workflow()\n"
        "    def get(self):\n        return self.it\n"
        "def build(c):\n    makes = Makes()\n    return makes.get()",
        "build",
    ),
    "object of this file": (
        "class Chat:\n    def __init__(self, c):\n        self.prepare()\n"
        "        self.workflow = WorkflowBuilder(start_executor=self.writer).build()\n"
        "    def prepare(self):\n        self.writer = AgentExecutor(helper)",
        "Chat",
    ),
    "agent of an object of this file": (
        "class Chat:\n    KINDS = ['a', 'b']\n    def __init__(self, agent):\n"
        "        self.agent = agent\n        self.session = agent.create_session()",
        "lambda c: Chat(helper)",
    ),
    "alternative constructor": (
        "class Chat:\n    def __init__(self, workflow):\n        self.workflow = workflow\n"
        "    @classmethod\n    def create(cls, c):\n        return cls(new_workflow())",
        "Chat.create",
    ),
    "cached client": (
        "@cache\ndef get():\n    return imported()",
        "lambda c: WorkflowBuilder(start_executor=Agent(get())).build()",
    ),
    "cached agent": (
        "@cache\ndef get():\n    return Agent(client)",
        "lambda c: WorkflowBuilder(start_executor=get()).build()",
    ),
    "copy": (
        "from copy import deepcopy",
        "lambda c: WorkflowBuilder(start_executor=deepcopy(writer)).build()",
    ),
    "name of a part": (
        "",
        "lambda c: WorkflowBuilder(\n"
        "    start_executor=AgentExecutor(helper, id=writer.id), name=workflow.name).build()",
    ),
    "item of a dict that holds agents too": (
        "mixed = {'helper': helper, 'writer': writer}",
        "lambda c: WorkflowBuilder(start_executor=mixed['helper']).build()",
    ),
    "condition that compares": (
        "",
        "lambda c: WorkflowBuilder(start_executor=helper).add_edge(\n"
        "    helper, helper, condition=lambda it: it.source == writer.id).build()",
    ),
    "part, or what is not known": (
        "def build(c):\n    if c.scope:\n        first = writer\n    else:\n"
        "        first = imported\n    return WorkflowBuilder(start_executor=first).build()",
        "build",
    ),
    "functional workflow": (
        "@functional\nasync def chat(text):\n    own = helper.create_session()\n"
        "    return await helper.run(text, session=own)",
        "lambda c: chat.build().as_agent()",
    ),
    "functional workflow made inside": (
        "def build(c):\n    own = AgentSession()\n    @functional\n    async def chat(text):\n"
        "        return await helper.run(text, session=own)\n    return chat.build().as_agent()",
        "build",
    ),
    "class of functions": (
        "kinds = {'a': new_workflow}",
        "lambda c: kinds[c.scope]()",
    ),
    "factories of participants": (
        "def factory_of(make):\n"
        "    return lambda c: WorkflowBuilder(start_executor=make()).build()",
        "factory_of(lambda: AgentExecutor(helper))",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "factory"), _FRESH.values(), ids=_FRESH)
def test_what_may_exist_outside_is_not_found(before: str, factory: str) -> None:
    check(f"{PARTS}\n{before}\nbuild_it = {factory}\nScopedFactory(build_it, scope=user)")
