"""Which target is served under which mode: the whole table, cell by cell (promise P1)."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, ChatOptions, InMemoryCheckpointStorage, RawAgent, WorkflowBuilder
from agent_framework_ag_ui import (
    AgentFrameworkAgent,
    AgentFrameworkWorkflow,
    InMemoryAGUIThreadSnapshotStore,
)
from fastapi import FastAPI
from typing_extensions import override

from scoped_registration import (
    Acknowledgement,
    PersistentShared,
    ReasonCode,
    RegistrationError,
    Risk,
    ScopedFactory,
    SingleUser,
)
from scoped_registration.integrations.agent_framework import AGUIEndpointBuilder, per_run
from scoped_registration.integrations.agent_framework.contract import CONTRACT, Kind, kind_of
from scoped_registration.integrations.application import Application
from tests.integrations.agent_framework.kit import (
    RecordingModel,
    acknowledge,
    client_of,
    current_user,
    declare,
    make_agent,
    make_workflow,
)
from tests.integrations.agent_framework.samples import (
    Delegate,
    OwnRun,
    definition_of,
    functional_agent,
    functional_workflow,
    orchestration_builder,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*is experimental and may change")


def legacy_runner(model: RecordingModel) -> AgentFrameworkAgent:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        return AgentFrameworkAgent(make_agent(model), legacy_session_id_from_thread_id=True)


def continuing(model: RecordingModel) -> Agent:
    options: ChatOptions[None] = {"conversation_id": "one"}
    return Agent(client=model, default_options=options)


TARGETS: dict[str, Callable[[RecordingModel], Any]] = {
    "Workflow": make_workflow,
    "AFW(workflow=)": lambda model: AgentFrameworkWorkflow(workflow=make_workflow(model)),
    "AFW(workflow_factory=)": lambda model: AgentFrameworkWorkflow(
        workflow_factory=lambda thread_id: make_workflow(model)
    ),
    "AFW()": lambda model: AgentFrameworkWorkflow(),
    "AFW with its own run": OwnRun,
    "WorkflowAgent": lambda model: make_workflow(model).as_agent(),
    "AFA(WorkflowAgent)": lambda model: AgentFrameworkAgent(make_workflow(model).as_agent()),
    "Agent": make_agent,
    "RawAgent": lambda model: RawAgent(client=model),
    "Agent(conversation_id)": continuing,
    "AFA(Agent)": lambda model: AgentFrameworkAgent(make_agent(model)),
    "AFA(legacy session id)": legacy_runner,
    "AFA(service session id)": lambda model: AgentFrameworkAgent(
        make_agent(model), use_service_session=True, service_session_id_from_thread_id=True
    ),
    "another agent": Delegate,
    "WorkflowBuilder": lambda model: WorkflowBuilder(start_executor=make_agent(model)),
    "orchestration builder": orchestration_builder,
    "FunctionalWorkflow": functional_workflow,
    "FunctionalWorkflowDefinition": definition_of,
    "FunctionalWorkflowAgent": functional_agent,
    "str": lambda model: "support",
    "None": lambda model: None,
    "object": lambda model: object(),
}


MODES: dict[str, Callable[[Any], Any]] = {
    "SingleUser": SingleUser,
    "per_thread": SingleUser.per_thread,
    "per_thread(factory)": lambda target: SingleUser.per_thread(lambda context: target),
    "ScopedFactory": lambda target: ScopedFactory(target, scope=current_user),
    "ScopedFactory(factory)": lambda target: ScopedFactory(
        lambda context: target, scope=current_user
    ),
    "per_run": lambda target: per_run(target, scope=current_user),
    "PersistentShared": lambda target: PersistentShared(
        target, acknowledgement=acknowledge(), access=current_user
    ),
}


class Cell(Enum):
    OK = "accepted"


OK = Cell.OK
R = ReasonCode
A_FACTORY = R.INSTANCE_IS_NOT_A_FACTORY
BUILDER = R.BUILDER_IS_NOT_A_FACTORY
WRAPS = R.AGENT_WRAPS_STATEFUL_WORKFLOW
NEEDS_STATE = R.SHARED_MODE_NEEDS_A_STATEFUL_TARGET

# In the order of MODES. What a factory returned is refused when it is built, all else before.
TABLE: dict[str, tuple[Cell | ReasonCode, ...]] = {
    # target: SingleUser, per_thread, its factory, ScopedFactory, its factory, per_run, shared
    "Workflow": (OK, A_FACTORY, OK, A_FACTORY, OK, R.STATEFUL_TARGET, OK),
    "AFW(workflow=)": (OK, A_FACTORY, OK, A_FACTORY, OK, R.STATEFUL_TARGET, OK),
    "AFW(workflow_factory=)": (
        *(OK, A_FACTORY, OK, A_FACTORY, OK, R.STATEFUL_TARGET),
        R.FACTORY_WITH_SHARED_MODE,
    ),
    "AFW()": (
        *(R.TARGET_UNSUPPORTED, A_FACTORY, R.FACTORY_RETURNED, A_FACTORY, R.FACTORY_RETURNED),
        *(R.STATEFUL_TARGET, R.TARGET_UNSUPPORTED),
    ),
    "AFW with its own run": (OK, A_FACTORY, OK, A_FACTORY, OK, R.OPAQUE_RUNNER, OK),
    "WorkflowAgent": (OK, A_FACTORY, OK, A_FACTORY, OK, WRAPS, OK),
    "AFA(WorkflowAgent)": (OK, A_FACTORY, OK, A_FACTORY, OK, WRAPS, OK),
    "Agent": (OK, A_FACTORY, OK, A_FACTORY, OK, OK, NEEDS_STATE),
    "RawAgent": (OK, A_FACTORY, OK, A_FACTORY, OK, OK, NEEDS_STATE),
    "Agent(conversation_id)": (
        *(OK, A_FACTORY, OK, A_FACTORY, OK, R.SESSION_KEY_IGNORES_SCOPE, OK),
    ),
    "AFA(Agent)": (OK, A_FACTORY, OK, A_FACTORY, OK, R.UNKNOWN_AGENT_TYPE, NEEDS_STATE),
    "AFA(legacy session id)": (
        *(OK, A_FACTORY, OK, A_FACTORY, R.SESSION_KEY_IGNORES_SCOPE),
        *(R.SESSION_KEY_IGNORES_SCOPE, OK),
    ),
    "AFA(service session id)": (
        *(OK, A_FACTORY, OK, A_FACTORY, R.SESSION_KEY_IGNORES_SCOPE),
        *(R.SESSION_KEY_IGNORES_SCOPE, OK),
    ),
    "another agent": (OK, A_FACTORY, OK, A_FACTORY, OK, R.UNKNOWN_AGENT_TYPE, OK),
    "WorkflowBuilder": (
        *(BUILDER, BUILDER, R.FACTORY_RETURNED, BUILDER, R.FACTORY_RETURNED),
        *(BUILDER, BUILDER),
    ),
    "orchestration builder": (
        *(BUILDER, BUILDER, R.FACTORY_RETURNED, BUILDER, R.FACTORY_RETURNED),
        *(BUILDER, BUILDER),
    ),
    "FunctionalWorkflow": (OK, A_FACTORY, OK, A_FACTORY, OK, WRAPS, OK),
    "FunctionalWorkflowDefinition": (OK, BUILDER, OK, BUILDER, OK, BUILDER, OK),
    "FunctionalWorkflowAgent": (OK, A_FACTORY, OK, A_FACTORY, OK, WRAPS, OK),
    "str": (
        *(R.TARGET_UNSUPPORTED, A_FACTORY, R.FACTORY_RETURNED, A_FACTORY, R.FACTORY_RETURNED),
        *(R.UNKNOWN_AGENT_TYPE, R.TARGET_UNSUPPORTED),
    ),
    "None": (
        *(R.INSTANCE_REQUIRED, A_FACTORY, R.FACTORY_RETURNED, A_FACTORY, R.FACTORY_RETURNED),
        *(R.UNKNOWN_AGENT_TYPE, R.INSTANCE_REQUIRED),
    ),
    "object": (
        *(R.TARGET_UNSUPPORTED, A_FACTORY, R.FACTORY_RETURNED, A_FACTORY, R.FACTORY_RETURNED),
        *(R.UNKNOWN_AGENT_TYPE, R.TARGET_UNSUPPORTED),
    ),
}
WHEN_BUILT = {"per_thread(factory)", "ScopedFactory(factory)"}
CELLS = [
    pytest.param(target, mode, expected, id=f"{target}-{mode}")
    for target, row in TABLE.items()
    for mode, expected in zip(MODES, row, strict=True)
]
SERVED = [cell for cell in CELLS if cell.values[2] is OK]
REFUSED = [cell for cell in CELLS if cell.values[2] is not OK]
REFUSED_AT_ONCE = [cell for cell in REFUSED if cell.values[1] not in WHEN_BUILT]
REFUSED_WHEN_BUILT = [cell for cell in REFUSED if cell.values[1] in WHEN_BUILT]


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(TARGETS)
    assert len(CELLS) == len(TARGETS) * len(MODES) == len(SERVED) + len(REFUSED)


# In the order of MODES.
COLUMNS = ("single_user", "given", "per_thread", "given", "scoped", "per_run", "shared")


@pytest.mark.parametrize("target", TABLE)
def test_the_table_is_the_one_that_the_code_and_the_documentation_use(
    target: str, model: RecordingModel
) -> None:
    made = TARGETS[target](model)
    row = CONTRACT[kind_of(made)]
    # What is missing is no target of any kind: the modes refuse None themselves.
    expected = [None if cell in {OK, R.INSTANCE_REQUIRED} else cell for cell in TABLE[target]]
    found = [getattr(row, column) for column in COLUMNS]
    if made is None:
        found[0] = found[-1] = None
    assert found == expected


def test_each_kind_of_target_has_a_row_and_is_tested(model: RecordingModel) -> None:
    assert set(CONTRACT) == set(Kind)
    assert {kind_of(make(model)) for make in TARGETS.values()} == set(Kind)


@pytest.mark.parametrize(("target", "mode", "expected"), SERVED)
async def test_accepted_and_served(
    target: str, mode: str, expected: object, model: RecordingModel
) -> None:
    app = FastAPI()
    made = TARGETS[target](model)
    registration = declare(MODES[mode](made)).mount(app)
    assert Application.of(app).registrations == (registration,)
    async with client_of(app) as client:
        answer = await client.say("alice", "A", "hello from alice")
        assert answer.status == 200
        assert answer.types[-1] == "RUN_FINISHED", answer.body
        assert model.calls[0].holds("hello from alice")
        assert registration.statistics().leased == 0


@pytest.mark.parametrize(("target", "mode", "expected"), REFUSED_AT_ONCE)
async def test_refused_before_anything_changed(
    target: str, mode: str, expected: ReasonCode, model: RecordingModel
) -> None:
    app = FastAPI()
    routes, schema = list(app.routes), app.openapi()
    made = TARGETS[target](model)
    with pytest.raises(RegistrationError) as refusal:
        declare(MODES[mode](made)).mount(app)
    error = refusal.value
    assert error.code is expected
    assert error.instead
    assert error.declared_at is not None
    assert str(Path(__file__).parent) in error.declared_at
    assert app.routes == routes
    assert app.openapi() == schema
    assert Application.of(app).registrations == ()
    assert model.calls == []


@pytest.mark.parametrize(("target", "mode", "expected"), REFUSED_WHEN_BUILT)
async def test_refused_when_built_and_nothing_is_kept(
    target: str,
    mode: str,
    expected: ReasonCode,
    model: RecordingModel,
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = FastAPI()
    made = TARGETS[target](model)
    registration = declare(MODES[mode](made)).mount(app)
    async with client_of(app) as client:
        with caplog.at_level(logging.ERROR, "scoped_registration"):
            answer = await client.say("alice", "A", "hello")
    assert (answer.status, answer.body) == (500, '{"detail":"Internal Server Error"}')
    assert f"[{expected}]" in caplog.text
    statistics = registration.statistics()
    assert (statistics.live, statistics.leased, statistics.built) == (0, 0, 0)
    assert model.calls == []


@pytest.mark.parametrize(
    "missing", [risk for risk in Risk if risk not in {Risk.OBJECT_STATE, Risk.CHECKPOINT_CONTENTS}]
)
async def test_every_risk_of_a_shared_workflow_is_to_be_named(
    missing: Risk, model: RecordingModel
) -> None:
    app = FastAPI()
    stage = AGUIEndpointBuilder("desk").isolation(
        PersistentShared(make_workflow(model), acknowledgement=acknowledge(without={missing}))
    )
    with pytest.raises(RegistrationError, match=f"Risk.{missing.name}") as refusal:
        stage.mount(app)
    assert refusal.value.code is R.RISK_NOT_ACKNOWLEDGED
    assert Application.of(app).registrations == ()


def agui_risks() -> set[Risk]:
    return set(Risk) - {Risk.OBJECT_STATE, Risk.CHECKPOINT_CONTENTS}


def shared(target: Any, *risks: Risk) -> PersistentShared[Any]:
    given = Acknowledgement(reason="one desk", owner="team", risks=agui_risks() | set(risks))
    return PersistentShared(target, acknowledgement=given)


async def test_checkpoints_of_a_shared_workflow_are_a_risk_of_their_own(
    model: RecordingModel,
) -> None:
    storage = InMemoryCheckpointStorage()
    built_in = WorkflowBuilder(start_executor=make_agent(model), checkpoint_storage=storage).build()
    carrying = AgentFrameworkWorkflow(workflow=make_workflow(model), checkpoint_storage=storage)
    given = AGUIEndpointBuilder("given").isolation(shared(make_workflow(model)))
    app = FastAPI()
    for stage in (
        given.checkpoints(storage),
        AGUIEndpointBuilder("carrying").isolation(shared(carrying)),
        AGUIEndpointBuilder("built-in").isolation(shared(built_in)),
        AGUIEndpointBuilder("as-agent").isolation(shared(built_in.as_agent())),
    ):
        with pytest.raises(RegistrationError) as refusal:
            stage.mount(app)
        assert refusal.value.code is R.CHECKPOINT_OF_SHARED_STATE
    assert Application.of(app).registrations == ()
    accepted = shared(make_workflow(model), Risk.CHECKPOINT_CONTENTS)
    AGUIEndpointBuilder("named").isolation(accepted).checkpoints(storage).mount(app)


@pytest.mark.parametrize("mode", ["SingleUser", "PersistentShared", "per_run"])
def test_agents_have_no_checkpoints(mode: str, model: RecordingModel) -> None:
    target = make_agent(model) if mode == "per_run" else make_workflow(model).as_agent()
    stage = declare(MODES[mode](target))
    with pytest.raises(RegistrationError) as refusal:
        stage.checkpoints(InMemoryCheckpointStorage())
    assert refusal.value.code is R.CHECKPOINT_NEEDS_WORKFLOW


async def test_an_agent_from_a_factory_has_no_checkpoints(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()
    stage = declare(ScopedFactory(lambda context: make_agent(model), scope=current_user))
    registration = stage.checkpoints(InMemoryCheckpointStorage()).mount(app)
    async with client_of(app) as client:
        answer = await client.say("alice", "A", "hello")
    assert answer.status == 500
    assert "[checkpoint_needs_workflow]" in caplog.text
    assert registration.statistics().live == 0


def test_a_store_is_given_in_one_place(model: RecordingModel) -> None:
    carried = InMemoryAGUIThreadSnapshotStore()
    runner = AgentFrameworkWorkflow(workflow=make_workflow(model), snapshot_store=carried)
    stage = AGUIEndpointBuilder("support").isolation(SingleUser(runner))
    with pytest.raises(RegistrationError) as refusal:
        stage.snapshots(InMemoryAGUIThreadSnapshotStore())
    assert refusal.value.code is R.STORE_ALREADY_CONFIGURED
    stage.snapshots(carried).mount(FastAPI())


async def test_a_store_of_a_product_is_given_in_one_place(
    model: RecordingModel, caplog: pytest.LogCaptureFixture
) -> None:
    def build(context: object) -> AgentFrameworkWorkflow:
        store = InMemoryAGUIThreadSnapshotStore()
        return AgentFrameworkWorkflow(workflow=make_workflow(model), snapshot_store=store)

    app = FastAPI()
    mode = ScopedFactory(build, scope=current_user)
    stage = AGUIEndpointBuilder("support").isolation(mode)
    stage.snapshots(InMemoryAGUIThreadSnapshotStore()).mount(app)
    async with client_of(app) as client:
        assert (await client.say("alice", "A", "hello")).status == 500
    assert "[store_already_configured]" in caplog.text


@pytest.mark.parametrize("store", [None, "sqlite://", InMemoryAGUIThreadSnapshotStore, object()])
@pytest.mark.parametrize("option", ["snapshots", "checkpoints"])
def test_what_is_no_store_is_refused(option: str, store: object, model: RecordingModel) -> None:
    stage = declare(SingleUser(make_workflow(model)))
    with pytest.raises(RegistrationError) as refusal:
        getattr(stage, option)(store)
    assert refusal.value.code is R.OPTION_INVALID


def takes_nothing() -> None: ...


def takes_two(thread_id: str, other: str) -> None: ...


@pytest.mark.parametrize("factory", ["not callable", takes_nothing, takes_two])
def test_a_workflow_factory_that_cannot_be_called_is_refused(factory: Any) -> None:
    runner = AgentFrameworkWorkflow(workflow_factory=factory)
    with pytest.raises(RegistrationError) as refusal:
        AGUIEndpointBuilder("support").isolation(SingleUser(runner))
    assert refusal.value.code is R.FACTORY_SIGNATURE


@pytest.mark.parametrize("path", ["support", "", None, 7])
def test_a_path_begins_with_a_slash(path: Any) -> None:
    with pytest.raises(RegistrationError) as refusal:
        AGUIEndpointBuilder("support", path)
    assert refusal.value.code is R.OPTION_INVALID


def test_no_mode_and_two_modes_are_refused(model: RecordingModel) -> None:
    builder: Any = AGUIEndpointBuilder("support")
    with pytest.raises(RegistrationError) as none:
        builder.mount(FastAPI())
    assert none.value.code is R.MODE_REQUIRED
    with pytest.raises(RegistrationError) as bare:
        builder.isolation(make_workflow(model))
    assert bare.value.code is R.MODE_REQUIRED
    stage = builder.isolation(SingleUser(make_workflow(model)))
    for declared in (builder, stage):
        with pytest.raises(RegistrationError) as two:
            declared.isolation(SingleUser(make_workflow(model)))
        assert two.value.code is R.MODE_CONFLICT


class Remembering(Agent):
    """Keeps what it was told on itself."""

    @override
    def run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError  # it is refused before it runs


def remembering(model: RecordingModel) -> Agent:
    return Remembering(client=model)


@pytest.mark.parametrize(
    ("make", "code"),
    [(remembering, R.UNKNOWN_AGENT_TYPE), (continuing, R.SESSION_KEY_IGNORES_SCOPE)],
)
def test_per_run_refuses_an_agent_that_keeps_something(
    make: Callable[[RecordingModel], Agent], code: ReasonCode, model: RecordingModel
) -> None:
    with pytest.raises(RegistrationError) as refused:
        per_run(make(model), scope=current_user)
    assert refused.value.code is code
