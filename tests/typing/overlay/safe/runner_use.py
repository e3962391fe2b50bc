"""What programs do with runners besides registering them."""

from typing import Annotated

from agent_framework import Agent, AgentExecutor, SupportsAgentRun, Workflow, WorkflowBuilder
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow, AGUIChatClient
from fastapi import FastAPI, Header


def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


app = FastAPI()
agent = Agent(client=AGUIChatClient(endpoint="http://localhost:8888/"), name="support")
workflow = WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


def build_workflow(thread_id: str) -> Workflow:
    return WorkflowBuilder(start_executor=AgentExecutor(agent)).build()


async def events(runner: AgentFrameworkWorkflow | AgentFrameworkAgent) -> list[str]:
    if isinstance(runner, AgentFrameworkWorkflow):
        runner.clear_thread_workflow("one")
        runner.clear_workflow_cache()
        runner.snapshot_store = None
        shared: Workflow | None = runner.workflow
        return [] if shared is None else [str(event) async for event in runner.run({})]
    runner.config.snapshot_store = None
    inner: SupportsAgentRun = runner.agent
    return [
        inner.id,
        *[str(event) async for event in runner.run({}, function_invocation_kwargs={})],
    ]


def build_runner(kind: type[AgentFrameworkWorkflow]) -> AgentFrameworkWorkflow:
    return kind(workflow_factory=build_workflow)


runners: dict[str, AgentFrameworkWorkflow] = {}
runners["shared"] = AgentFrameworkWorkflow(workflow)
runners["per thread"] = AgentFrameworkWorkflow(workflow_factory=build_workflow)
runners["chosen"] = build_runner(AgentFrameworkWorkflow)
mixed = [AgentFrameworkWorkflow(workflow), AgentFrameworkAgent(agent)]
