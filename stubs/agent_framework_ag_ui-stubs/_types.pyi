from typing import Annotated, Any, Generic, TypedDict

from ag_ui.core import Interrupt as Interrupt
from ag_ui.core import ResumeEntry as ResumeEntry
from agent_framework import ChatOptions
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field
from typing_extensions import TypeVar

AGUIChatOptionsT = TypeVar(
    "AGUIChatOptionsT",
    bound=TypedDict,  # type: ignore[valid-type]
    default="AGUIChatOptions",
    covariant=True,
)
ResponseModelT = TypeVar("ResponseModelT", bound=BaseModel | None, default=None)

def _coerce_legacy_resume_entry(value: Any) -> Any: ...
def _coerce_legacy_resume(value: Any) -> Any: ...

class PredictStateConfig(TypedDict):
    state_key: str
    tool: str
    tool_argument: str | None

class RunMetadata(TypedDict):
    run_id: str
    thread_id: str
    predict_state: list[PredictStateConfig] | None

class AgentState(TypedDict):
    messages: list[Any] | None

class AGUIRequest(BaseModel):
    messages: list[dict[str, Any]] = Field(...)
    run_id: str | None = Field(None, validation_alias=AliasChoices("run_id", "runId"))
    thread_id: str | None = Field(None, validation_alias=AliasChoices("thread_id", "threadId"))
    state: dict[str, Any] | None = Field(None)
    tools: list[dict[str, Any]] | None = Field(None)
    context: list[dict[str, Any]] | None = Field(None)
    forwarded_props: dict[str, Any] | None = Field(
        None, validation_alias=AliasChoices("forwarded_props", "forwardedProps")
    )
    parent_run_id: str | None = Field(
        None, validation_alias=AliasChoices("parent_run_id", "parentRunId")
    )
    available_interrupts: list[Interrupt] | None = Field(
        None, validation_alias=AliasChoices("availableInterrupts", "available_interrupts")
    )
    resume: Annotated[list[ResumeEntry], BeforeValidator(_coerce_legacy_resume)] | None = Field(
        None
    )

class AGUIChatOptions(ChatOptions[ResponseModelT], Generic[ResponseModelT], total=False):
    forward_props: dict[str, Any]
    context: dict[str, Any]
    allow_legacy_state_carrier: bool
    available_interrupts: list[Interrupt]
    resume: list[ResumeEntry]
    store: None  # type: ignore[misc]

AGUI_OPTION_TRANSLATIONS: dict[str, str]
