"""SR109: factories that make something new around a part that keeps state."""

from __future__ import annotations

import pytest

from tests.audit.support import PARTS, check

# How a factory reaches the part: what comes before, and the factory itself.
_SHARED = {
    "executor": ("", "lambda c: WorkflowBuilder(start_executor=writer).build()"),
    "executor of an edge": (
        "",
        "lambda c: WorkflowBuilder(start_executor=helper).add_edge(helper, writer).build()",
    ),
    "session": (
        "",
        "lambda c: WorkflowBuilder(\n"
        "    start_executor=AgentExecutor(helper, session=session)).build()",
    ),
    "session that an agent made": (
        "made = helper.create_session()",
        "lambda c: WorkflowBuilder(start_executor=AgentExecutor(helper, session=made)).build()",
    ),
    "inner workflow": (
        "",
        "lambda c: WorkflowBuilder(start_executor=WorkflowExecutor(workflow, id='x')).build()",
    ),
    "workflow executor": (
        "inner = WorkflowExecutor(new_workflow(), id='x')",
        "lambda c: WorkflowBuilder(start_executor=inner).build()",
    ),
    "workflow as an agent": (
        "",
        "lambda c: SequentialBuilder(participants=[helper, workflow.as_agent()]).build()",
    ),
    "workflow as an agent, by a method": (
        "inner = WorkflowAgent(workflow)",
        "lambda c: HandoffBuilder().participants([helper, inner]).build()",
    ),
    "workflow as a tool": (
        "",
        "lambda c: WorkflowBuilder(\n"
        "    start_executor=Agent(client, tools=[workflow.as_agent().as_tool()])).build()",
    ),
    "orchestration of executors": (
        "sequence = SequentialBuilder(participants=[AgentExecutor(helper)])",
        "lambda c: sequence.build()",
    ),
    "list": ("", "lambda c: SequentialBuilder(participants=parts).build()"),
    "starred list": ("", "lambda c: SequentialBuilder(participants=[*parts]).build()"),
    "list that a comprehension made": (
        "made = [AgentExecutor(one) for one in imported]",
        "lambda c: SequentialBuilder(participants=made).build()",
    ),
    "item": ("", "lambda c: WorkflowBuilder(start_executor=by_name['writer']).build()"),
    "one of two": (
        "def build(c):\n    first = writer if c.scope else other\n"
        "    return WorkflowBuilder(start_executor=first).build()",
        "build",
    ),
    "two branches": (
        "def build(c):\n    if c.scope:\n        first = writer\n    else:\n        first = other\n"
        "    return WorkflowBuilder(start_executor=first).build()",
        "build",
    ),
    "switch": (
        "",
        "lambda c: WorkflowBuilder(start_executor=helper).add_switch_case_edge_group(\n"
        "    helper, [Case(condition=imported, target=writer), Default(target=helper)]).build()",
    ),
    "statement": (
        "def build(c):\n    builder = WorkflowBuilder(start_executor=helper)\n"
        "    builder.add_edge(helper, helper).add_edge(helper, writer)\n"
        "    return builder.build()",
        "build",
    ),
    "builder that is bound again": (
        "def build(c):\n    builder = WorkflowBuilder(start_executor=writer)\n"
        "    builder = builder.add_edge(writer, helper)\n    return builder.build()",
        "build",
    ),
    "builder of a helper": (
        "def begin():\n    return WorkflowBuilder(start_executor=writer)",
        "lambda c: begin().build()",
    ),
    "builder of a method": (
        "class Builds:\n    def begin(self):\n"
        "        return WorkflowBuilder(start_executor=writer)\n"
        "    def build(self, c):\n        return self.begin().build()",
        "Builds().build",
    ),
    "argument of a helper": (
        "def wire(first):\n    return WorkflowBuilder(start_executor=first).build()",
        "lambda c: wire(writer)",
    ),
    "product of a helper": (
        "def get():\n    return writer",
        "lambda c: WorkflowBuilder(start_executor=get()).build()",
    ),
    "product of a cached helper": (
        "@cache\ndef get():\n    return AgentExecutor(helper)",
        "lambda c: WorkflowBuilder(start_executor=get()).build()",
    ),
    "product of a helper that fills a global": (
        "made = None\ndef get():\n    global made\n    if made is None:\n"
        "        made = AgentExecutor(helper)\n    return made",
        "lambda c: WorkflowBuilder(start_executor=get()).build()",
    ),
    "default": (
        "def build(c, first=AgentExecutor(helper)):\n"
        "    return WorkflowBuilder(start_executor=first).build()",
        "build",
    ),
    "partial": (
        "def build(first, c):\n    return WorkflowBuilder(start_executor=first).build()",
        "partial(build, writer)",
    ),
    "closure": (
        "def factory_of(first: AgentExecutor):\n    def build(c):\n"
        "        return WorkflowBuilder(start_executor=first).build()\n    return build",
        "factory_of(writer)",
    ),
    "attribute of a class": (
        "class Parts:\n    writer = AgentExecutor(helper)",
        "lambda c: WorkflowBuilder(start_executor=Parts.writer).build()",
    ),
    "attribute of self": (
        "class Builds:\n    def __init__(self):\n        self.writer = AgentExecutor(helper)\n"
        "    def build(self, c):\n"
        "        return WorkflowBuilder(start_executor=self.writer).build()",
        "Builds().build",
    ),
    "context manager": (
        "@asynccontextmanager\nasync def build(c):\n    async with imported():\n"
        "        yield WorkflowBuilder(start_executor=writer).build()",
        "build",
    ),
    "runner": (
        "",
        "lambda c: AgentFrameworkWorkflow(WorkflowBuilder(start_executor=writer).build())",
    ),
    "executor of this file": (
        "one = Counting()",
        "lambda c: WorkflowBuilder(start_executor=one).build()",
    ),
    "new executor of this file, around one": (
        "class Holding(Executor):\n    def __init__(self, session):\n"
        "        super().__init__(id='x')\n        self.session = session",
        "lambda c: WorkflowBuilder(start_executor=Holding(session)).build()",
    ),
    "object of this file": (
        "class Chat:\n    def __init__(self, workflow):\n        self.workflow = workflow",
        "lambda c: Chat(workflow)",
    ),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Chat:\n    session: AgentSession",
        "lambda c: Chat(session=session)",
    ),
    "class as the factory": (
        "class Chat:\n    def __init__(self, c):\n        self.workflow = workflow",
        "Chat",
    ),
    "attribute of the product's class": (
        "class Chat:\n    session = AgentSession()",
        "lambda c: Chat()",
    ),
    "method of the product": (
        "class Chat:\n    async def reply(self, text):\n        return await workflow.run(text)",
        "lambda c: Chat()",
    ),
    "functional workflow": (
        "@functional\nasync def chat(text):\n    return await helper.run(text, session=session)",
        "lambda c: chat.build().as_agent()",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "factory"), _SHARED.values(), ids=_SHARED)
def test_a_part_that_exists_outside_is_found(before: str, factory: str) -> None:
    check(f"{PARTS}\n{before}\nbuild_it = {factory}\nScopedFactory(build_it, scope=user)  # SR109")


@pytest.mark.parametrize("part", ["lower", "upper"])
def test_an_executor_without_attributes_is_found_where_the_pool_would_refuse_it(part: str) -> None:
    check(f"""{PARTS}
upper = Upper(id="upper")
ScopedFactory(lambda c: WorkflowBuilder(start_executor={part}).build(), scope=user)  # SR109
AgentFrameworkWorkflow(
    workflow_factory=lambda t: WorkflowBuilder(start_executor={part}).build()
)
AgentFrameworkWorkflow(
    workflow_factory=lambda t: WorkflowBuilder(start_executor=writer).build()  # SR109
)
WorkflowState(  # what the hosting sample of the framework hopes for, with a function
    lambda: WorkflowBuilder(start_executor=writer).build(), cache_target=False  # SR109
)
""")


@pytest.mark.parametrize(
    ("shares", "is_found"),
    [
        ("[writer]", False),
        ("(AgentExecutor,)", False),
        ("imported", False),
        ("[other]", True),
        ("[]", True),
    ],
)
def test_what_products_share_on_purpose_is_not_found(shares: str, is_found: bool) -> None:
    check(f"""{PARTS}
ScopedFactory(
    lambda c: WorkflowBuilder(start_executor=writer).build(),{"  # SR109" if is_found else ""}
    scope=user,
    shares={shares},
)
""")
