"""AG-UI: the modes and targets that an endpoint takes, and the options of each stage."""

# One mistake, or one example, is one line.
# fmt: off

from typing import Any, assert_type
from uuid import UUID

from agent_framework import (
    Agent,
    FunctionalWorkflow,
    FunctionalWorkflowAgent,
    FunctionalWorkflowDefinition,
    RawAgent,
    SupportsAgentRun,
    Workflow,
    WorkflowAgent,
)
from agent_framework_ag_ui import AgentFrameworkAgent, AgentFrameworkWorkflow
from fastapi import Depends

from scoped_registration import PersistentShared, Registration, ScopedFactory, SingleUser
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder as E
from scoped_registration.integrations.agent_framework import per_run
from scoped_registration.integrations.agent_framework.stages import (
    AgentStage,
    ScopedAgentStage,
    ScopedWorkflowStage,
    ThreadAgentStage,
    ThreadWorkflowStage,
    WorkflowStage,
)
from scoped_registration.registration import (
    PerThreadRegistration,
    ScopedRegistration,
    SharedRegistration,
    SingleUserRegistration,
)
from tests.typing.given.agui import (
    MyRunner,
    MyWorkflow,
    Shared,
    acknowledgement,
    agent,
    agent_runner,
    any_agent,
    app,
    async_build,
    async_build_agent,
    async_user,
    build,
    build_agent,
    build_agent_runner,
    build_any_agent,
    build_mine,
    build_runner,
    build_workflow_agent,
    checkpoints,
    definition,
    functional,
    my_runner,
    my_workflow,
    opened,
    opened_agent,
    raw_agent,
    runner,
    snapshots,
    sync_opened,
    sync_opened_agent,
    user,
    uuid,
    workflow,
    workflow_agent,
)

assert_type(E("x").isolation(SingleUser(workflow)), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-single-workflow
assert_type(E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)), WorkflowStage[SharedRegistration[Workflow]])  # @agui-shared-workflow
assert_type(E("x").isolation(SingleUser(my_workflow)), WorkflowStage[SingleUserRegistration[MyWorkflow]])  # @agui-single-subclass
assert_type(E("x").isolation(PersistentShared(my_workflow, acknowledgement=acknowledgement)), WorkflowStage[SharedRegistration[MyWorkflow]])  # @agui-shared-subclass
assert_type(E("x").isolation(SingleUser(runner)), WorkflowStage[SingleUserRegistration[AgentFrameworkWorkflow]])  # @agui-single-runner
assert_type(E("x").isolation(PersistentShared(runner, acknowledgement=acknowledgement)), WorkflowStage[SharedRegistration[AgentFrameworkWorkflow]])  # @agui-shared-runner
assert_type(E("x").isolation(SingleUser(my_runner)), WorkflowStage[SingleUserRegistration[MyRunner]])  # @agui-single-runner-subclass
assert_type(E("x").isolation(PersistentShared(my_runner, acknowledgement=acknowledgement)), WorkflowStage[SharedRegistration[MyRunner]])  # @agui-shared-runner-subclass
assert_type(E("x").isolation(SingleUser(agent_runner)), AgentStage[SingleUserRegistration[AgentFrameworkAgent]])  # @agui-single-agent-runner
assert_type(E("x").isolation(PersistentShared(agent_runner, acknowledgement=acknowledgement)), AgentStage[SharedRegistration[AgentFrameworkAgent]])  # @agui-shared-agent-runner
assert_type(E("x").isolation(SingleUser(agent)), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-single-agent
assert_type(E("x").isolation(PersistentShared(agent, acknowledgement=acknowledgement)), AgentStage[SharedRegistration[Agent[Any]]])  # @agui-shared-agent
assert_type(E("x").isolation(SingleUser(workflow_agent)), AgentStage[SingleUserRegistration[WorkflowAgent]])  # @agui-single-workflow-agent
assert_type(E("x").isolation(PersistentShared(workflow_agent, acknowledgement=acknowledgement)), AgentStage[SharedRegistration[WorkflowAgent]])  # @agui-shared-workflow-agent
assert_type(E("x").isolation(SingleUser(any_agent)), AgentStage[SingleUserRegistration[SupportsAgentRun]])  # @agui-single-any-agent
assert_type(E("x").isolation(PersistentShared(any_agent, acknowledgement=acknowledgement)), AgentStage[SharedRegistration[SupportsAgentRun]])  # @agui-shared-any-agent
assert_type(E("x").isolation(ScopedFactory(build, scope=user)), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-scoped-function
assert_type(E("x").isolation(SingleUser.per_thread(build)), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-thread-function
assert_type(E("x").isolation(ScopedFactory(async_build, scope=user)), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-scoped-async
assert_type(E("x").isolation(SingleUser.per_thread(async_build)), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-thread-async
assert_type(E("x").isolation(ScopedFactory(opened, scope=user)), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-scoped-async-cm
assert_type(E("x").isolation(SingleUser.per_thread(opened)), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-thread-async-cm
assert_type(E("x").isolation(ScopedFactory(sync_opened, scope=user)), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-scoped-cm
assert_type(E("x").isolation(SingleUser.per_thread(sync_opened)), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-thread-cm
assert_type(E("x").isolation(ScopedFactory(build_mine, scope=user)), ScopedWorkflowStage[ScopedRegistration[MyWorkflow, str], str])  # @agui-scoped-subclass
assert_type(E("x").isolation(SingleUser.per_thread(build_mine)), ThreadWorkflowStage[PerThreadRegistration[MyWorkflow]])  # @agui-thread-subclass
assert_type(E("x").isolation(ScopedFactory(build_runner, scope=user)), ScopedWorkflowStage[ScopedRegistration[AgentFrameworkWorkflow, str], str])  # @agui-scoped-runner
assert_type(E("x").isolation(SingleUser.per_thread(build_runner)), ThreadWorkflowStage[PerThreadRegistration[AgentFrameworkWorkflow]])  # @agui-thread-runner
assert_type(E("x").isolation(ScopedFactory(lambda context: build(context), scope=user)), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-scoped-lambda
assert_type(E("x").isolation(SingleUser.per_thread(lambda context: build(context))), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-thread-lambda
assert_type(E("x").isolation(ScopedFactory(lambda context: async_build(context), scope=user)), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-scoped-lambda-async
assert_type(E("x").isolation(SingleUser.per_thread(lambda context: async_build(context))), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-thread-lambda-async
assert_type(E("x").isolation(ScopedFactory(lambda context: opened(context), scope=user)), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-scoped-lambda-async-cm
assert_type(E("x").isolation(SingleUser.per_thread(lambda context: opened(context))), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-thread-lambda-async-cm
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-scoped-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_agent)), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-thread-agent
assert_type(E("x").isolation(ScopedFactory(async_build_agent, scope=user)), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-scoped-async-agent
assert_type(E("x").isolation(SingleUser.per_thread(async_build_agent)), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-thread-async-agent
assert_type(E("x").isolation(ScopedFactory(opened_agent, scope=user)), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-scoped-async-cm-agent
assert_type(E("x").isolation(SingleUser.per_thread(opened_agent)), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-thread-async-cm-agent
assert_type(E("x").isolation(ScopedFactory(sync_opened_agent, scope=user)), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-scoped-cm-agent
assert_type(E("x").isolation(SingleUser.per_thread(sync_opened_agent)), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-thread-cm-agent
assert_type(E("x").isolation(ScopedFactory(build_agent_runner, scope=user)), ScopedAgentStage[ScopedRegistration[AgentFrameworkAgent, str], str])  # @agui-scoped-agent-runner
assert_type(E("x").isolation(SingleUser.per_thread(build_agent_runner)), ThreadAgentStage[PerThreadRegistration[AgentFrameworkAgent]])  # @agui-thread-agent-runner
assert_type(E("x").isolation(ScopedFactory(build_workflow_agent, scope=user)), ScopedAgentStage[ScopedRegistration[WorkflowAgent, str], str])  # @agui-scoped-workflow-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_workflow_agent)), ThreadAgentStage[PerThreadRegistration[WorkflowAgent]])  # @agui-thread-workflow-agent
assert_type(E("x").isolation(ScopedFactory(build_any_agent, scope=user)), ScopedAgentStage[ScopedRegistration[SupportsAgentRun, str], str])  # @agui-scoped-any-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_any_agent)), ThreadAgentStage[PerThreadRegistration[SupportsAgentRun]])  # @agui-thread-any-agent
assert_type(E("x").isolation(ScopedFactory(lambda context: build_agent(context), scope=user)), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-scoped-lambda-agent
assert_type(E("x").isolation(SingleUser.per_thread(lambda context: build_agent(context))), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-thread-lambda-agent
assert_type(E("x").isolation(ScopedFactory(lambda context: my_workflow, scope=uuid)), ScopedWorkflowStage[ScopedRegistration[MyWorkflow, UUID], UUID])  # @agui-scoped-uuid
assert_type(per_run(agent, scope=user), ScopedFactory[RawAgent[Any], str])  # @per-run
assert_type(per_run(raw_agent, scope=uuid), ScopedFactory[RawAgent[Any], UUID])  # @per-run-raw
assert_type(per_run(agent, scope=async_user), ScopedFactory[RawAgent[Any], str])  # @per-run-async
assert_type(E("x").isolation(per_run(agent, scope=user)), ScopedAgentStage[ScopedRegistration[RawAgent[Any], str], str])  # @agui-per-run
assert_type(E("x", path="/y"), E)  # @agui-path
assert_type(E("x"), E)  # @agui
assert_type(E("x").isolation(SingleUser(workflow)).mount(app), SingleUserRegistration[Workflow])  # @agui-mount-single
assert_type(E("x").isolation(SingleUser(agent)).mount(app), SingleUserRegistration[Agent[Any]])  # @agui-mount-single-agent
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).mount(app), ScopedRegistration[Workflow, str])  # @agui-mount-scoped
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).mount(app), ScopedRegistration[Agent[Any], str])  # @agui-mount-scoped-agent
assert_type(E("x").isolation(SingleUser.per_thread(build)).mount(app), PerThreadRegistration[Workflow])  # @agui-mount-thread
assert_type(E("x").isolation(SingleUser.per_thread(build_agent)).mount(app), PerThreadRegistration[Agent[Any]])  # @agui-mount-thread-agent
assert_type(E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)).mount(app), SharedRegistration[Workflow])  # @agui-mount-shared
assert_type(E("x").isolation(per_run(raw_agent, scope=uuid)).mount(app), ScopedRegistration[RawAgent[Any], UUID])  # @agui-mount-per-run
assert_type(E("x").isolation(SingleUser(workflow, owner=user)), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-owner
assert_type(E("x").isolation(SingleUser(workflow)).concurrency("queue").mount(app), SingleUserRegistration[Workflow])  # @agui-options-mount
assert_type(E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)).checkpoints(checkpoints), WorkflowStage[SharedRegistration[Workflow]])  # @agui-checkpoints-shared
assert_type(E("x").isolation(PersistentShared(agent, acknowledgement=acknowledgement)).snapshots(snapshots), AgentStage[SharedRegistration[Agent[Any]]])  # @agui-snapshots-shared-agent
assert_type(E("x").isolation(SingleUser(workflow)).snapshots(snapshots), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-snapshots-single
assert_type(E("x").isolation(SingleUser(workflow)).checkpoints(checkpoints), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-checkpoints-single
assert_type(E("x").isolation(SingleUser(workflow)).concurrency("queue"), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-concurrency-single
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).snapshots(snapshots), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-snapshots-scoped
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).checkpoints(checkpoints), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-checkpoints-scoped
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).concurrency("queue"), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-concurrency-scoped
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).pool(max_instances=2), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-pool-scoped
assert_type(E("x").isolation(SingleUser.per_thread(build)).snapshots(snapshots), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-snapshots-thread
assert_type(E("x").isolation(SingleUser.per_thread(build)).checkpoints(checkpoints), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-checkpoints-thread
assert_type(E("x").isolation(SingleUser.per_thread(build)).concurrency("queue"), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-concurrency-thread
assert_type(E("x").isolation(SingleUser.per_thread(build)).pool(max_instances=2), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-pool-thread
assert_type(E("x").isolation(SingleUser(agent)).snapshots(snapshots), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-snapshots-single-agent
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).snapshots(snapshots), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-snapshots-scoped-agent
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).pool(), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-pool-scoped-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_agent)).snapshots(snapshots), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-snapshots-thread-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_agent)).pool(), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-pool-thread-agent
assert_type(E("x").isolation(per_run(agent, scope=user)).snapshots(snapshots), ScopedAgentStage[ScopedRegistration[RawAgent[Any], str], str])  # @agui-snapshots-per-run
assert_type(E("x").isolation(per_run(agent, scope=user)).pool(), ScopedAgentStage[ScopedRegistration[RawAgent[Any], str], str])  # @agui-pool-per-run
wide: Registration[Workflow] = E("x").isolation(ScopedFactory(build_mine, scope=user)).mount(app)  # @agui-covariant
list[WorkflowStage[Registration[Workflow]]]()  # @agui-type-WorkflowStage
list[ThreadWorkflowStage[Registration[Workflow]]]()  # @agui-type-ThreadWorkflowStage
list[ScopedWorkflowStage[Registration[Workflow], str]]()  # @agui-type-ScopedWorkflowStage
list[AgentStage[Registration[Workflow]]]()  # @agui-type-AgentStage
list[ThreadAgentStage[Registration[Workflow]]]()  # @agui-type-ThreadAgentStage
list[ScopedAgentStage[Registration[Workflow], str]]()  # @agui-type-ScopedAgentStage
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).verify_at_startup(sample_scopes=["user"]), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-verify
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).verify_at_startup(sample_scopes=["user"]), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-verify-agent
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).verify_at_startup(sample_scopes=["user"]).mount(app), ScopedRegistration[Workflow, str])  # @agui-verify-mount
assert_type(E("x").isolation(SingleUser(workflow)).options(tags=["x"]), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-options-single
assert_type(E("x").isolation(SingleUser(workflow)).detached(max_runs=4), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-detached-single
assert_type(E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)).options(tags=["x"]), WorkflowStage[SharedRegistration[Workflow]])  # @agui-options-shared
assert_type(E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)).detached(max_runs=4), WorkflowStage[SharedRegistration[Workflow]])  # @agui-detached-shared
assert_type(E("x").isolation(SingleUser.per_thread(build)).options(tags=["x"]), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-options-thread
assert_type(E("x").isolation(SingleUser.per_thread(build)).detached(max_runs=4), ThreadWorkflowStage[PerThreadRegistration[Workflow]])  # @agui-detached-thread
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).options(tags=["x"]), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-options-scoped
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).detached(max_runs=4), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-detached-scoped
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).detached(max_runs_per_scope=4), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-share-scoped
assert_type(E("x").isolation(SingleUser(agent)).options(tags=["x"]), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-options-single-agent
assert_type(E("x").isolation(SingleUser(agent)).options(state_schema=Shared), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-schema-single-agent
assert_type(E("x").isolation(SingleUser(agent)).detached(max_runs=4), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-detached-single-agent
assert_type(E("x").isolation(PersistentShared(agent, acknowledgement=acknowledgement)).options(tags=["x"]), AgentStage[SharedRegistration[Agent[Any]]])  # @agui-options-shared-agent
assert_type(E("x").isolation(PersistentShared(agent, acknowledgement=acknowledgement)).options(state_schema=Shared), AgentStage[SharedRegistration[Agent[Any]]])  # @agui-schema-shared-agent
assert_type(E("x").isolation(PersistentShared(agent, acknowledgement=acknowledgement)).detached(max_runs=4), AgentStage[SharedRegistration[Agent[Any]]])  # @agui-detached-shared-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_agent)).options(tags=["x"]), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-options-thread-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_agent)).options(state_schema=Shared), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-schema-thread-agent
assert_type(E("x").isolation(SingleUser.per_thread(build_agent)).detached(max_runs=4), ThreadAgentStage[PerThreadRegistration[Agent[Any]]])  # @agui-detached-thread-agent
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).options(tags=["x"]), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-options-scoped-agent
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).options(state_schema=Shared), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-schema-scoped-agent
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).detached(max_runs=4), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-detached-scoped-agent
assert_type(E("x").isolation(ScopedFactory(build_agent, scope=user)).detached(max_runs_per_scope=4), ScopedAgentStage[ScopedRegistration[Agent[Any], str], str])  # @agui-share-scoped-agent
assert_type(E("x").isolation(per_run(agent, scope=user)).options(tags=["x"]), ScopedAgentStage[ScopedRegistration[RawAgent[Any], str], str])  # @agui-options-per-run
assert_type(E("x").isolation(per_run(agent, scope=user)).options(state_schema=Shared), ScopedAgentStage[ScopedRegistration[RawAgent[Any], str], str])  # @agui-schema-per-run
assert_type(E("x").isolation(per_run(agent, scope=user)).detached(max_runs=4), ScopedAgentStage[ScopedRegistration[RawAgent[Any], str], str])  # @agui-detached-per-run
assert_type(E("x").isolation(per_run(agent, scope=user)).detached(max_runs_per_scope=4), ScopedAgentStage[ScopedRegistration[RawAgent[Any], str], str])  # @agui-share-per-run
assert_type(E("x").isolation(SingleUser(workflow)).options(default_state={"x": 1}), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-options-state
assert_type(E("x").isolation(SingleUser(workflow)).options(keepalive=None), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-options-keepalive
assert_type(E("x").isolation(SingleUser(workflow)).options(dependencies=[Depends(user)]), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-options-dependencies
assert_type(E("x").isolation(SingleUser(workflow)).detached(timeout=60.0), WorkflowStage[SingleUserRegistration[Workflow]])  # @agui-detached-timeout
assert_type(E("x").isolation(SingleUser(agent)).options(default_state={"x": 1}), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-options-agent-state
assert_type(E("x").isolation(SingleUser(agent)).options(keepalive=None), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-options-agent-keepalive
assert_type(E("x").isolation(SingleUser(agent)).options(dependencies=[Depends(user)]), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-options-agent-dependencies
assert_type(E("x").isolation(SingleUser(agent)).options(predict_state_config={"x": {"tool": "y"}}), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-options-agent-prediction
assert_type(E("x").isolation(SingleUser(agent)).options(a2ui={"inject_a2ui_tool": True}), AgentStage[SingleUserRegistration[Agent[Any]]])  # @agui-options-agent-a2ui
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).detached(timeout=60.0), ScopedWorkflowStage[ScopedRegistration[Workflow, str], str])  # @agui-detached-scoped-timeout
assert_type(E("x").isolation(ScopedFactory(build, scope=user)).options(tags=["x"]).detached(max_runs=4).mount(app), ScopedRegistration[Workflow, str])  # @agui-options-mount-scoped
assert_type(E("x").isolation(SingleUser(functional)), AgentStage[SingleUserRegistration[FunctionalWorkflow]])  # @agui-single-functional
assert_type(E("x").isolation(SingleUser(definition)), AgentStage[SingleUserRegistration[FunctionalWorkflowDefinition]])  # @agui-single-definition
assert_type(E("x").isolation(PersistentShared(functional, acknowledgement=acknowledgement)), AgentStage[SharedRegistration[FunctionalWorkflow]])  # @agui-shared-functional
assert_type(E("x").isolation(PersistentShared(definition, acknowledgement=acknowledgement)), AgentStage[SharedRegistration[FunctionalWorkflowDefinition]])  # @agui-shared-definition
assert_type(E("x").isolation(ScopedFactory(lambda context: definition.build().as_agent(), scope=user)), ScopedAgentStage[ScopedRegistration[FunctionalWorkflowAgent, str], str])  # @agui-scoped-functional
assert_type(E("x").isolation(ScopedFactory(lambda context: definition.build(), scope=user)), ScopedAgentStage[ScopedRegistration[FunctionalWorkflow, str], str])  # @agui-scoped-functional-workflow
assert_type(E("x").isolation(SingleUser.per_thread(lambda context: definition.build())), ThreadAgentStage[PerThreadRegistration[FunctionalWorkflow]])  # @agui-thread-functional
