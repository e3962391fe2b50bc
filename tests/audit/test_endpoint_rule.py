"""SR101: the framework's own endpoint with one workflow for all."""

from __future__ import annotations

import pytest

from tests.audit.support import check, scanned

_SHARED = {
    "bare": "workflow",
    "called": "new_workflow()",
    "as an agent": "workflow.as_agent()",
    "as a wrapped agent": "AgentFrameworkAgent(workflow.as_agent())",
    "WorkflowAgent": "WorkflowAgent(workflow)",
    "wrapped WorkflowAgent": "AgentFrameworkAgent(agent=WorkflowAgent(workflow))",
    "runner": "AgentFrameworkWorkflow(workflow)",
    "runner by keyword": "AgentFrameworkWorkflow(workflow=workflow)",
    "built in place": "WorkflowBuilder(start_executor=agent).add_edge(1, 2).build()",
    "orchestration": "SequentialBuilder(participants=[agent]).build()",
    "one or the other": "agent if settings else workflow",
    "cast": "cast(Workflow, workflow)",
}
_NOT_SHARED = {
    "an agent": "agent",
    "a plain agent of this file": "Agent(client)",
    "a wrapped agent": "AgentFrameworkAgent(agent)",
    "a factory": "AgentFrameworkWorkflow(workflow_factory=lambda thread_id: new_workflow())",
    "a named factory": "AgentFrameworkWorkflow(workflow_factory=lambda thread_id: imported())",
    "imported": "imported",
    "an attribute of something imported": "settings.workflow",
    "an item": "imported['support']",
}


@pytest.mark.parametrize("target", _SHARED.values(), ids=_SHARED)
@pytest.mark.parametrize("name", ["", "agent="], ids=["by position", "by keyword"])
def test_one_workflow_behind_a_resolver_is_found(target: str, name: str) -> None:
    check(f"""
from typing import cast
add_agent_framework_fastapi_endpoint(
    app,
    {name}{target}, authorization_scope_resolver=user  # SR101
)
""")


@pytest.mark.parametrize("target", _NOT_SHARED.values(), ids=_NOT_SHARED)
def test_other_targets_are_not_found(target: str) -> None:
    check(f"add_agent_framework_fastapi_endpoint(app, {target}, authorization_scope_resolver=user)")


@pytest.mark.parametrize(
    ("mode", "is_found"),
    [
        ("authorization_scope_resolver=user", True),
        ("snapshot_scope_resolver=imported", True),
        ("single_user=False", True),
        ("single_user=True", False),
        ("single_user=settings.single_user", False),
        ("**imported", False),
        ("authorization_scope_resolver=user, **imported", True),
        ("'/', *imported", False),
        ("'/', *[None] * 16, True", False),
        (", ".join(["'/'", *["None"] * 14, "user", "False"]), True),
        (", ".join(["'/'", *["None"] * 15, "True"]), False),
    ],
)
def test_the_mode_decides(mode: str, is_found: bool) -> None:
    mark = "  # SR101" if is_found else ""
    check(f"add_agent_framework_fastapi_endpoint(app, workflow, {mode}){mark}")


@pytest.mark.parametrize(
    "program",
    [
        "from agent_framework.ag_ui import add_agent_framework_fastapi_endpoint as serve",
        "import agent_framework_ag_ui as ui\nserve = ui.add_agent_framework_fastapi_endpoint",
        "import agent_framework.ag_ui\n"
        "serve = agent_framework.ag_ui.add_agent_framework_fastapi_endpoint",
        "from agent_framework_ag_ui._endpoint import add_agent_framework_fastapi_endpoint as serve",
        "one = two = add_agent_framework_fastapi_endpoint\nserve: object = two",
        "try:\n"
        "    from agent_framework.ag_ui import add_agent_framework_fastapi_endpoint as serve\n"
        "except ImportError:\n"
        "    from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint as serve",
    ],
)
def test_the_endpoint_function_is_known_under_other_names(program: str) -> None:
    check(f"{program}\nserve(app, workflow, authorization_scope_resolver=user)  # SR101")


def test_star_imports_and_imports_inside_functions_are_followed() -> None:
    for module, is_found in (("agent_framework.ag_ui", True), ("mine", False)):
        source = f"""
from agent_framework import Workflow
from {module} import *
def serve(app, workflow: Workflow, user) -> None:
    add_agent_framework_fastapi_endpoint(app, workflow, authorization_scope_resolver=user)
"""
        assert [one.rule for one in scanned(source)] == ["SR101"] * is_found
    check("""
def main():
    from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint as serve
    serve(app, workflow, authorization_scope_resolver=user)  # SR101
""")


@pytest.mark.parametrize(
    "program",
    [
        "def add_agent_framework_fastapi_endpoint(*args, **more): ...",
        "from mine import add_agent_framework_fastapi_endpoint",
        "from .ag_ui import add_agent_framework_fastapi_endpoint",
    ],
)
def test_another_function_of_the_same_name_is_not(program: str) -> None:
    check(f"""
def main():
    {program}
    add_agent_framework_fastapi_endpoint(app, workflow, authorization_scope_resolver=user)
""")


def test_a_target_is_followed_through_the_file() -> None:
    check("""
async def build_later() -> Workflow: ...
async def start() -> None:
    later = await build_later()
    serve(app, later, authorization_scope_resolver=user)  # SR101

def register(target: "Workflow") -> None:
    serve(app, target, authorization_scope_resolver=user)  # SR101

class Workflows:
    support = new_workflow()
    def __init__(self) -> None:
        self.review = new_workflow()
        self.unknown = imported()
    def register(self) -> None:
        for target in (self.review, self.unknown):
            serve(app, target, authorization_scope_resolver=user)
        serve(app, self.review, authorization_scope_resolver=user)  # SR101
        serve(app, self.unknown, authorization_scope_resolver=user)

workflows = Workflows()
serve(app, workflows.support, authorization_scope_resolver=user)  # SR101
serve(app, Workflows.support, authorization_scope_resolver=user)  # SR101
serve(app, workflows.unknown, authorization_scope_resolver=user)
""")


def test_a_name_with_several_values_counts_when_each_is_shared() -> None:
    check("""
late: Workflow | None = None
if settings:
    target = new_workflow()
    either = new_workflow()
    late = new_workflow()
else:
    target = workflow.as_agent()
    either = imported
serve(app, target, authorization_scope_resolver=user)  # SR101
serve(app, late, authorization_scope_resolver=user)  # SR101
serve(app, either, authorization_scope_resolver=user)
""")


def test_a_functional_workflow_is_shared_as_an_agent_only() -> None:
    check("""
from agent_framework import workflow as define
@define
async def support(text): ...
@define(name="other")
async def other(text): ...
serve(app, support.build().as_agent(), authorization_scope_resolver=user)  # SR101
serve(app, other.build().as_agent(), authorization_scope_resolver=user)  # SR101
ScopedFactory(lambda context: support.build().as_agent(), scope=user)
""")


def test_a_subclass_of_the_runner_is_read_as_far_as_its_constructor() -> None:
    check("""
class Plain(AgentFrameworkWorkflow): ...
class Own(AgentFrameworkWorkflow):
    def __init__(self) -> None:
        super().__init__(workflow=workflow)
class Fresh(AgentFrameworkWorkflow):
    def __init__(self) -> None:
        super().__init__(workflow_factory=lambda thread_id: new_workflow())
class Unknown(AgentFrameworkWorkflow):
    def __init__(self, given=None) -> None:
        super().__init__(given)
serve(app, Plain(workflow), authorization_scope_resolver=user)  # SR101
serve(app, Own(), authorization_scope_resolver=user)  # SR101
serve(app, Plain(), authorization_scope_resolver=user)
serve(app, Fresh(), authorization_scope_resolver=user)
serve(app, Unknown(workflow), authorization_scope_resolver=user)
""")


@pytest.mark.parametrize(
    ("call", "is_found"),
    [
        ("workflow", True),
        ("imported", True),  # whatever it is, the state keeps the first
        ("new_workflow", True),
        ("lambda: new_workflow()", True),
        ("new_workflow, cache_target=True", True),
        ("target=new_workflow", True),
        ("WorkflowBuilder(start_executor=agent)", True),
        ("WorkflowBuilder(start_executor=agent), cache_target=False", True),
        ("WorkflowBuilder(start_executor=agent).build, cache_target=False", True),
        ("workflow, cache_target=False", True),
        ("new_workflow, cache_target=False", False),
        ("imported, cache_target=False", False),
        ("SequentialBuilder(participants=[agent]), cache_target=False", False),
        ("new_workflow, cache_target=settings.cache", False),
        ("new_workflow, **imported", False),
    ],
)
def test_a_workflow_state_keeps_what_it_caches(call: str, is_found: bool) -> None:
    check(f"WorkflowState({call}){'  # SR105' if is_found else ''}")


def test_the_factory_of_a_workflow_state_without_cache_is_one_of_the_factories() -> None:
    check("""
@cache
def kept() -> Workflow:
    return new_workflow()
WorkflowState(kept, cache_target=False)  # SR103
WorkflowState(lambda: workflow, cache_target=False)  # SR102
""")
    check("""
from agent_framework_declarative import WorkflowState
WorkflowState(workflow)
""")


def test_a_builder_that_is_bound_again_or_made_by_a_function_is_followed() -> None:
    check("""
builder = WorkflowBuilder(start_executor=agent)
for one in imported:
    builder = builder.add_edge(agent, one)
serve(app, builder.build(), authorization_scope_resolver=user)  # SR101
def begin():
    return WorkflowBuilder(start_executor=agent)
serve(app, begin().build(), authorization_scope_resolver=user)  # SR101
""")


@pytest.mark.parametrize(
    "annotation", ["Workflow | None", "None | Workflow", "Optional[Workflow]", "'Workflow | None'"]
)
def test_an_annotation_that_allows_none_is_read(annotation: str) -> None:
    check(f"""
from typing import Optional
def create_app(given: {annotation}, other: Workflow | Agent, broken: "a b"):
    serve(app, given, authorization_scope_resolver=user)  # SR101
    serve(app, other, authorization_scope_resolver=user)
    serve(app, broken, authorization_scope_resolver=user)
""")
