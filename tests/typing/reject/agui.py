"""AG-UI: R1 to R12 on an endpoint, and the targets of each mode."""

# One mistake, or one example, is one line.
# fmt: off

from agent_framework import Workflow

from scoped_registration import PersistentShared, ScopedFactory, SingleUser
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
from tests.typing.given.agui import (
    Shared,
    acknowledgement,
    agent,
    agent_runner,
    any_agent,
    app,
    async_maybe_user,
    build,
    build_agent,
    build_builder,
    build_text,
    checkpoints,
    definition,
    functional,
    maybe_user,
    my_runner,
    no_context,
    of_thread_id,
    orchestration,
    roles,
    runner,
    snapshots,
    user,
    uuid,
    workflow,
    workflow_agent,
    workflow_builder,
)

E("x").mount(app)  # R1 @agui-mount-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").snapshots(snapshots)  # R1 @agui-snapshots-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").pool(max_instances=2)  # R1 @agui-pool-scoped | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser(workflow)).isolation(SingleUser(workflow))  # R1 @agui-single-workflow | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(ScopedFactory(build, scope=user)).isolation(SingleUser(workflow))  # R1 @agui-scoped-function | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser.per_thread(build)).isolation(SingleUser(workflow))  # R1 @agui-thread-function | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser(agent)).isolation(SingleUser(agent))  # R1 @agui-single-agent | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(ScopedFactory(build_agent, scope=user)).isolation(SingleUser(agent))  # R1 @agui-scoped-agent | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser.per_thread(build_agent)).isolation(SingleUser(agent))  # R1 @agui-thread-agent | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser(workflow)).build(app)  # R1 @agui-mount-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation()  # R1 @agui-single-workflow | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(workflow)  # R2 @agui-single-workflow | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(runner)  # R2 @agui-single-runner | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(workflow_agent)  # R2 @agui-single-workflow-agent | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(agent)  # R2 @agui-single-agent | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(agent_runner)  # R2 @agui-single-agent-runner | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(build)  # R2 @agui-single-workflow | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(None)  # R2 @agui-single-workflow | mypy: call-overload | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: call-overload
E("x").isolation(SingleUser.per_thread(workflow))  # R3 @agui-thread-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=maybe_user))  # R5 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=async_maybe_user))  # R5 @agui-scoped-function | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=roles))  # R5 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(lambda context: build(context), scope=maybe_user))  # R5 @agui-scoped-lambda | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=uuid))  # R6 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(of_thread_id, scope=user))  # R7 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(no_context, scope=user))  # R7 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(orchestration.build, scope=user))  # R7 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(workflow_builder.build, scope=user))  # R7 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow, scope=user))  # R8 @agui-owner | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(PersistentShared(workflow))  # R9 @agui-shared-workflow | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
E("x").isolation(PersistentShared(workflow, acknowledgement=True))  # R9 @agui-shared-workflow | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).pool(max_instances=2)  # R10 @agui-pool-thread | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser(agent)).pool()  # R10 @agui-pool-thread-agent | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser.per_thread(build)).pool(max_per_scope=2)  # R10 @agui-pool-thread | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser(agent)).checkpoints(checkpoints)  # R10 @agui-checkpoints-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser(workflow_agent)).checkpoints(checkpoints)  # R10 @agui-checkpoints-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(ScopedFactory(build_agent, scope=user)).checkpoints(checkpoints)  # R10 @agui-checkpoints-scoped | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser.per_thread(build_agent)).checkpoints(checkpoints)  # R10 @agui-checkpoints-thread | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(per_run(agent, scope=user)).checkpoints(checkpoints)  # R10 @agui-checkpoints-scoped | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(PersistentShared(agent, acknowledgement=acknowledgement)).checkpoints(checkpoints)  # R10 @agui-checkpoints-shared | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser(workflow)).snapshots(checkpoints)  # R10 @agui-snapshots-single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).checkpoints(snapshots)  # R10 @agui-checkpoints-single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=user)).snapshots(None)  # R10 @agui-snapshots-scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=user)).checkpoints(None)  # R10 @agui-checkpoints-scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(workflow, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(workflow_agent, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(runner, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(my_runner, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(agent_runner, scope=user))  # R11 @agui-scoped-agent | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(agent, scope=user))  # R11 @agui-scoped-agent | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(workflow_builder, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(orchestration, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(functional, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(definition, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build_builder, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(ScopedFactory(build_text, scope=user))  # R11 @agui-scoped-function | mypy: arg-type | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(ScopedFactory(lambda context: workflow_builder, scope=user))  # R11 @agui-scoped-lambda | mypy: arg-type | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(ScopedFactory(lambda context: None, scope=user))  # R11 @agui-scoped-lambda | mypy: arg-type | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(SingleUser(workflow_builder))  # R11 @agui-single-workflow | mypy: type-var | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(SingleUser(orchestration))  # R11 @agui-single-workflow | mypy: type-var | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(SingleUser(build))  # R11 @agui-single-workflow | mypy: type-var | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(SingleUser(object()))  # R11 @agui-single-workflow | mypy: type-var | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(SingleUser.per_thread(build_builder))  # R11 @agui-thread-function | mypy: arg-type | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(SingleUser.per_thread(build_text))  # R11 @agui-thread-agent | mypy: arg-type | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(PersistentShared(workflow_builder, acknowledgement=acknowledgement))  # R11 @agui-shared-workflow | mypy: type-var | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
E("x").isolation(PersistentShared(build, acknowledgement=acknowledgement))  # R11 @agui-shared-workflow | mypy: type-var | pyright: reportCallIssue | ty: no-matching-overload | pyrefly: no-matching-overload | zuban: type-var
per_run(workflow_agent, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(workflow, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(runner, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(agent_runner, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(any_agent, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(build_agent, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(workflow_builder, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(lambda context: agent, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(agent)  # R12 @per-run | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
per_run(agent, user)  # R12 @per-run | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: unexpected-positional-argument | zuban: call-arg
per_run(agent, scope=None)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(agent, scope=maybe_user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(agent, scope=roles)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(per_run(workflow_agent, scope=user))  # R12 @agui-per-run | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: type-var
E("x").isolation(per_run(workflow, scope=user))  # R12 @agui-per-run | mypy: type-var | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: type-var
E(None)  # R0 @agui | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E()  # R0 @agui | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
E("x", path=1)  # R0 @agui-path | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).mount(None)  # R0 @agui-mount-single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).mount()  # R0 @agui-mount-single | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
list[WorkflowStage[Workflow]]()  # R0 @agui-type-WorkflowStage | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ThreadWorkflowStage[Workflow]]()  # R0 @agui-type-ThreadWorkflowStage | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopedWorkflowStage[Workflow, str]]()  # R0 @agui-type-ScopedWorkflowStage | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[AgentStage[Workflow]]()  # R0 @agui-type-AgentStage | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ThreadAgentStage[Workflow]]()  # R0 @agui-type-ThreadAgentStage | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
list[ScopedAgentStage[Workflow, str]]()  # R0 @agui-type-ScopedAgentStage | mypy: type-var | pyright: reportInvalidTypeArguments | ty: invalid-type-arguments | pyrefly: bad-specialization | zuban: type-var
E("x").isolation(SingleUser(workflow)).snapshots()  # R0 @agui-snapshots-single | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
E("x").isolation(SingleUser(workflow)).checkpoints()  # R0 @agui-checkpoints-single | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
per_run(scope=user)  # R12 @per-run | mypy: call-arg | pyright: reportCallIssue | ty: missing-argument | pyrefly: missing-argument | zuban: call-arg
E("x").isolation(ScopedFactory(build, scope=user)).verify_at_startup(sample_scopes=[1])  # R10 @agui-verify | mypy: list-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: list-item
E("x").isolation(ScopedFactory(build_agent, scope=user)).verify_at_startup(sample_scopes=[1])  # R10 @agui-verify-agent | mypy: list-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: list-item
E("x").isolation(SingleUser(workflow)).verify_at_startup(sample_scopes=["user"])  # R10 @agui-verify | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser.per_thread(build)).verify_at_startup(sample_scopes=["user"])  # R10 @agui-verify | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser.per_thread(build_agent)).verify_at_startup(sample_scopes=["user"])  # R10 @agui-verify-agent | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)).verify_at_startup(sample_scopes=["user"])  # R10 @agui-verify | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser(workflow)).options(state_schema=Shared)  # R10 @agui-options-single | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)).options(state_schema=Shared)  # R10 @agui-options-shared | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser.per_thread(build)).options(state_schema=Shared)  # R10 @agui-options-thread | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(ScopedFactory(build, scope=user)).options(state_schema=Shared)  # R10 @agui-options-scoped | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser(workflow)).options(predict_state_config={"x": {"tool": "y"}})  # R10 @agui-options-single | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser(workflow)).options(a2ui={"inject_a2ui_tool": True})  # R10 @agui-options-single | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser(workflow)).detached(max_runs_per_scope=4)  # R10 @agui-detached-single | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(PersistentShared(workflow, acknowledgement=acknowledgement)).detached(max_runs_per_scope=4)  # R10 @agui-detached-shared | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser.per_thread(build)).detached(max_runs_per_scope=4)  # R10 @agui-detached-thread | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser(agent)).detached(max_runs_per_scope=4)  # R10 @agui-detached-single-agent | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(PersistentShared(agent, acknowledgement=acknowledgement)).detached(max_runs_per_scope=4)  # R10 @agui-detached-shared-agent | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").isolation(SingleUser.per_thread(build_agent)).detached(max_runs_per_scope=4)  # R10 @agui-detached-thread-agent | mypy: call-arg | pyright: reportCallIssue | ty: unknown-argument | pyrefly: unexpected-keyword | zuban: call-arg
E("x").options(tags=["x"])  # R1 @agui-options-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").detached(max_runs=4)  # R1 @agui-detached-single | mypy: attr-defined | pyright: reportAttributeAccessIssue | ty: missing-attribute | pyrefly: missing-attribute | zuban: attr-defined
E("x").isolation(SingleUser.per_thread(functional))  # R3 @agui-thread-functional | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser.per_thread(definition))  # R3 @agui-thread-functional | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(functional, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
per_run(definition, scope=user)  # R12 @per-run | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).options(tags=1)  # R0 @agui-options-single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).options(["x"])  # R0 @agui-options-single | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
E("x").isolation(SingleUser(workflow)).options(default_state=["x"])  # R0 @agui-options-state | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).options(keepalive="15")  # R0 @agui-options-keepalive | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).options(dependencies=[user])  # R0 @agui-options-dependencies | mypy: list-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: list-item
E("x").isolation(SingleUser(agent)).options(tags=1)  # R0 @agui-options-single-agent | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(agent)).options(["x"])  # R0 @agui-options-single-agent | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
E("x").isolation(SingleUser(agent)).options(default_state=["x"])  # R0 @agui-options-agent-state | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(agent)).options(keepalive="15")  # R0 @agui-options-agent-keepalive | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(agent)).options(dependencies=[user])  # R0 @agui-options-agent-dependencies | mypy: list-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: list-item
E("x").isolation(SingleUser(agent)).options(predict_state_config={"x": "y"})  # R0 @agui-options-agent-prediction | mypy: dict-item | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-assignment | zuban: dict-item
E("x").isolation(SingleUser(agent)).options(a2ui=True)  # R0 @agui-options-agent-a2ui | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).detached(max_runs="4")  # R0 @agui-detached-single | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(SingleUser(workflow)).detached(4)  # R0 @agui-detached-single | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
E("x").isolation(SingleUser(workflow)).detached(timeout=None)  # R0 @agui-detached-timeout | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=user)).detached(max_runs=None)  # R0 @agui-detached-scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=user)).detached(4)  # R0 @agui-detached-scoped | mypy: call-arg | pyright: reportCallIssue | ty: too-many-positional-arguments | pyrefly: bad-argument-count | zuban: call-arg
E("x").isolation(ScopedFactory(build, scope=user)).detached(max_runs_per_scope="4")  # R0 @agui-share-scoped | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
E("x").isolation(ScopedFactory(build, scope=user)).detached(timeout=None)  # R0 @agui-detached-scoped-timeout | mypy: arg-type | pyright: reportArgumentType | ty: invalid-argument-type | pyrefly: bad-argument-type | zuban: arg-type
